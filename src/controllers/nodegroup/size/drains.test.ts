// Which instances a scale-in drains and terminates: it terminates only those drained at the time of
// the call.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../../../test/builders/controllers.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import { resourceTypes } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  missingDrains,
  recordsOf,
  scaleInSteps,
  viewScaleIn,
} from '../../../core/group-plan/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { nodeNamesOf } from '../nodes/names.ts';
import { candidatesOf } from './candidates.ts';
import { recordStep, setSizesStep, terminateSteps } from './drains.ts';

/** Decides the steps of a scale-in and runs them, as a pass does. */
const runScaleIn = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  scaleIn: { readonly id: string; readonly target: number },
  signal: AbortSignal,
): Promise<void> => {
  const records = recordsOf(deps.disruptions.list());
  const drainRecords = { records, nodeNames: nodeNamesOf(deps, scaling), now: deps.clock.now() };
  const { open, missing } = missingDrains(scaling, viewScaleIn(drainRecords, scaling, scaleIn));
  const candidates = missing > 0 ? await candidatesOf(deps, open, missing, signal) : [];
  const steps = scaleInSteps(drainRecords, { group, scaling, scaleIn, candidates });
  const terminates = steps.filter((step) => step.kind === 'TerminateMember');
  await terminateSteps(deps, group, terminates, signal);
  for (const step of steps) {
    if (step.kind === 'SetSizes') await setSizesStep(deps, step, signal);
    if (step.kind === 'RecordCause') await recordStep(deps, group, step, signal);
  }
};

const i1 = anInstance(1);
const cause = {
  kind: 'ScaleIn',
  id: 'scale-in/ng/t',
  receivedAt: '2026-01-01T00:00:00Z',
  onDeadline: 'fail',
  followUp: 'Release',
};
const ended = { episode: 1, phase: 'Ended', outcome: 'NothingToDrain', handledCauses: [cause.id] };

describe('a scale-in whose drain ended because the node was gone', () => {
  it.each([
    ['ends the instance', false, 1],
    ['lets it be where the node comes back while the cloud is asked', true, 0],
  ])('%s', async (_, comesBack, terminated) => {
    const it = setUpControllers();
    const { kube, cloud, clock, stop } = it;
    const status = { autoScalingGroupName: 'asg-1' };
    kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec(), status });
    const spec = { instanceId: i1, nodeName: 'n1', nodeGroup: 'ng', causes: [cause] };
    kube.put(resourceTypes.nodedisruptions, { name: i1, spec, status: ended });
    cloud.putGroup('asg-1', { desiredCapacity: 1, instances: [{ instanceId: i1 }] });
    await it.startInformers();
    const [scaling] = await cloud.describeGroups(['asg-1']);
    const describeGroups = cloud.describeGroups.bind(cloud);
    cloud.describeGroups = async (names) => {
      if (comesBack) it.putNode('n1', { instanceId: i1 });
      await clock.settle();
      return describeGroups(names);
    };
    const group = it.nodeGroups.get('ng');
    if (group === undefined || scaling === undefined) throw new Error('not set up');
    const deps = { ...it, compat: 'eks' as const };
    const scaleIn = { id: cause.id, target: 0 };
    await runScaleIn(deps, group, scaling, scaleIn, stop.signal);
    expect(cloud.count('terminateInGroup')).toBe(terminated);
    stop.abort();
  });
});

describe('a scale-in among nodes of which one is empty', () => {
  it.each([
    ['asks the empty one, and says so', true, 'nothing runs on it that would have to move'],
    ['takes nodes for occupied whose pods cannot be read', false, 'any node will do'],
  ])('%s', async (_, canRead, why) => {
    const it = setUpControllers();
    const { kube, cloud, stop } = it;
    const status = { autoScalingGroupName: 'asg-1' };
    kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec(), status });
    const i2 = anInstance(2);
    cloud.putGroup('asg-1', { instances: [{ instanceId: i1 }, { instanceId: i2 }] });
    it.putNode('n1', { instanceId: i1 });
    it.putNode('n2', { instanceId: i2 });
    await it.startInformers();
    if (canRead) {
      const own = {
        kind: 'ReplicaSet',
        apiVersion: 'apps/v1',
        name: 'r',
        uid: 'r',
        controller: true,
      };
      const daemon = { ...own, kind: 'DaemonSet' };
      const pod = (node: string, owner: object) => ({
        metadata: { name: node, uid: node, ownerReferences: [owner] },
        spec: { nodeName: node },
        status: { phase: 'Running' },
      });
      const pods = { n1: [pod('n1', own), pod('n1', daemon)], n2: [pod('n2', daemon)] };
      kube.list = async (_type: unknown, { fieldSelector = '' } = {}) => ({
        items: pods[fieldSelector.slice('spec.nodeName='.length) as 'n1'] as never[],
        resourceVersion: '1',
      });
    } else kube.fail('list', 'Forbidden', { times: Number.POSITIVE_INFINITY });
    const [scaling] = await cloud.describeGroups(['asg-1']);
    const group = it.nodeGroups.get('ng');
    if (group === undefined || scaling === undefined) throw new Error('not set up');
    const deps = { ...it, compat: 'eks' as const };
    await runScaleIn(deps, group, scaling, { id: cause.id, target: 1 }, stop.signal);
    const asked = it.disruption(canRead ? i2 : i1);
    expect(asked?.spec.causes[0]?.reason).toContain(why);
    stop.abort();
  });
});

describe('a scale-in of places that no instance fills', () => {
  it.each([
    ['lowers the size to what is there', false, 2],
    ['lets it be where an instance has come since: Auto Scaling would end one for it', true, 3],
  ])('%s', async (_, comes, desired) => {
    const it = setUpControllers();
    const { kube, cloud, stop } = it;
    const status = { autoScalingGroupName: 'asg-1' };
    kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec(), status });
    const instances = [{ instanceId: i1 }, { instanceId: anInstance(2) }];
    cloud.putGroup('asg-1', { desiredCapacity: 3, instances });
    await it.startInformers();
    const [scaling] = await cloud.describeGroups(['asg-1']);
    const come = [...instances, { instanceId: anInstance(3), lifecycleState: 'Pending' }];
    if (comes) cloud.putGroup('asg-1', { desiredCapacity: 3, instances: come });
    const group = it.nodeGroups.get('ng');
    if (group === undefined || scaling === undefined) throw new Error('not set up');
    const deps = { ...it, compat: 'eks' as const };
    await runScaleIn(deps, group, scaling, { id: cause.id, target: 1 }, stop.signal);
    const [after] = await cloud.describeGroups(['asg-1']);
    expect(after?.desiredCapacity).toBe(desired);
    stop.abort();
  });
});
