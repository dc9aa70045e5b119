// For tests only: a managed group with its informers over the fakes, ready for a controller.
// Builders take overrides.
import type { NodeDisruption } from '../../src/api/disruption.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import type { NodeGroupSpec } from '../../src/api/nodegroup.ts';
import {
  createDisruptionInformer,
  createNodeGroupInformer,
  createNodeGroupUpdateInformer,
  createNodeInformer,
  createRepairInformer,
} from '../../src/controllers/informers.ts';
import { FakeCloud } from './controllers-cloud.ts';
import { CollectingJournal, CollectingLog, TestRandom, VirtualClock } from './runtime.ts';
import { FakeKube } from './runtime-kube.ts';

export const aGroupSpec = (more: Partial<NodeGroupSpec> = {}): NodeGroupSpec => ({
  clusterName: 'c',
  autoScalingGroupName: 'asg-1',
  amiType: 'AL2023_x86_64_STANDARD',
  capacityType: 'ON_DEMAND',
  instanceTypes: ['m5.large'],
  version: '1.33',
  releaseVersion: '1.33.1-20260101',
  nodeRole: 'role',
  subnets: ['subnet-1'],
  scaling: { minSize: 0, maxSize: 10 },
  ...more,
});

/** Valid ids: 1 gives i-0000000000000000a1 and so on. */
export const anInstance = (n: number): string => `i-${n.toString(16).padStart(17, '0')}`;

export const setUpControllers = () => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const cloud = new FakeCloud(clock);
  const log = new CollectingLog();
  const journal = new CollectingJournal();
  const base = { kube, clock, random: new TestRandom(), log };
  const nodeGroups = createNodeGroupInformer(base);
  const nodes = createNodeInformer(base);
  const disruptions = createDisruptionInformer(base);
  const updates = createNodeGroupUpdateInformer(base);
  const repairs = createRepairInformer(base);
  const stop = new AbortController();
  const startInformers = async () => {
    for (const informer of [nodeGroups, nodes, disruptions, updates, repairs])
      void informer.run(stop.signal);
    await clock.settle();
  };
  const putNode = (
    name: string,
    more: { readonly instanceId?: string; readonly ready?: boolean } = {},
  ) =>
    kube.put(resourceTypes.nodes, {
      name,
      spec: more.instanceId ? { providerID: `aws:///eu-west-1a/${more.instanceId}` } : {},
      status: { conditions: [{ type: 'Ready', status: more.ready === false ? 'False' : 'True' }] },
    });
  const disruption = (name: string) =>
    kube.peek(resourceTypes.nodedisruptions, name) as NodeDisruption | undefined;
  return {
    ...base,
    kube,
    clock,
    cloud,
    log,
    journal,
    nodeGroups,
    nodes,
    disruptions,
    updates,
    repairs,
    stop,
    startInformers,
    putNode,
    disruption,
  };
};
