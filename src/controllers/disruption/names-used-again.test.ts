// Pods with reused names, after another process began the drain. An eviction that finds a newer pod
// of the same name would use up a token of the budget, so a dry run comes first.
import { describe, expect, it } from 'vitest';
import { anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import type { NodeDisruptionStatus } from '../../api/disruption.ts';
import { resourceTypes } from '../../api/kube.ts';
import { KubeError } from '../../ports/index.ts';
import { createDisruptionController } from './index.ts';

const name = anInstance(1);
const at = '2026-01-01T00:00:00.000Z';
const cause = {
  kind: 'Manual',
  id: 'm',
  receivedAt: at,
  onDeadline: 'fail',
  followUp: 'Release',
} as const;

interface Case {
  readonly owner?: 'StatefulSet' | 'ReplicaSet';
  readonly resumed?: boolean;
  readonly dryRun?: KubeError;
  readonly epoch?: number;
  /** Its application moves it, and its budget is 0. */
  readonly movesItself?: boolean;
}

/**
 * The evictions sent for one pod under a budget of one, in order: dry runs (`dry`) and real ones
 * (`real`).
 */
const sent = async ({
  owner = 'StatefulSet',
  resumed = true,
  dryRun,
  epoch,
  movesItself = false,
}: Case) => {
  const base = setUpControllers();
  const { kube, clock } = base;
  const calls: string[] = [];
  kube.evict = async (_pod?: unknown, options: { readonly dryRun?: boolean } = {}) => {
    const term = base.disruption(name)?.status?.leaderEpoch;
    calls.push(
      `${options.dryRun === true ? 'dry' : 'real'}${term === undefined ? '' : ` ${term}`}`,
    );
    if (options.dryRun === true && dryRun !== undefined) throw dryRun;
    return { kind: 'evicted' };
  };
  const node = base.putNode('n1', { instanceId: name });
  const controller = {
    apiVersion: 'apps/v1',
    kind: owner,
    name: 'web',
    uid: 'o',
    controller: true,
  };
  await kube.create(
    resourceTypes.pods,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web-0',
        labels: { app: 'web', ...(movesItself ? { 'strimzi.io/kind': 'Kafka' } : {}) },
        ownerReferences: [controller],
      },
      spec: { nodeName: 'n1' },
    },
    { namespace: 'demo' },
  );
  kube.put(resourceTypes.poddisruptionbudgets, {
    namespace: 'demo',
    name: 'web',
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: {
      observedGeneration: 1,
      disruptionsAllowed: movesItself ? 0 : 1,
      currentHealthy: 1,
      desiredHealthy: 2,
    },
  });
  const status: NodeDisruptionStatus = {
    episode: 1,
    phase: 'Draining',
    startedAt: at,
    markedAt: at,
    node: { name: 'n1', uid: node.metadata.uid },
  };
  if (resumed) {
    const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' };
    const spec = { providerID: `aws:///eu-west-1a/${name}`, unschedulable: true };
    kube.put(resourceTypes.nodes, { name: 'n1', labels, spec, status: {} });
  }
  kube.put(resourceTypes.nodedisruptions, {
    name,
    spec: { instanceId: name, nodeName: 'n1', causes: [cause] },
    ...(resumed ? { status } : {}),
  });
  const patch = kube.patch.bind(kube);
  kube.patch = async (...args) => {
    await clock.sleep(50 as never);
    return patch(...args) as never;
  };
  const term = epoch === undefined ? {} : { epoch };
  void createDisruptionController({ ...base, compat: 'eks', ...term }).run(base.stop.signal);
  await base.startInformers();
  await clock.advance(2_000);
  return calls;
};

describe('a pod whose name is used again', () => {
  it('is evicted after a dry run by a process that found the drain begun', async () => {
    expect(await sent({})).toEqual(['dry', 'real']);
  });
  it('is left alone when the dry run finds another under its name', async () => {
    const dryRun = new KubeError('PreconditionFailed', 'the UID in the precondition');
    expect(await sent({ dryRun })).toEqual(['dry']);
  });
  it('is evicted at once by the process that began the drain', async () => {
    expect(await sent({ resumed: false })).toEqual(['real']);
  });
  it('is evicted by a new leader only once its term stands in the record', async () => {
    expect(await sent({ epoch: 7 })).toEqual(['dry 7', 'real 7']);
  });
  it('is asked without a dry run where its application moves it: that would be the answer', async () => {
    expect(await sent({ movesItself: true })).toEqual(['real']);
  });
  it('is no pod of a ReplicaSet', async () => {
    expect(await sent({ owner: 'ReplicaSet' })).toEqual(['real']);
  });
});
