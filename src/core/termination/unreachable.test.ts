// A node with a dead kubelet: terminating pods on it do not block a drain after which the instance
// is terminated.
import { describe, expect, it } from 'vitest';
import {
  aHookCause,
  aManualCause,
  aPod,
  draining,
  kubeTimePlus,
  type Model,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import { decideDisruption } from './decide.ts';

const anUpdate = (more: Partial<DisruptionCause> = {}): DisruptionCause => ({
  kind: 'Update',
  id: 'update/u-1',
  receivedAt: timePlus(0),
  deadline: timePlus(900),
  onDeadline: 'fail',
  followUp: 'Replace',
  ...more,
});

/** Deleted at 40 s, with an hour of grace. */
const stopping = aPod('p1', {
  graceSeconds: 3600,
  deletionTimestamp: kubeTimePlus(3640),
  deletionGracePeriodSeconds: 3600,
});

const withReady = (model: Model, status: string): void => {
  const { node } = model.observation;
  if (node === undefined) throw new Error('the model has no node');
  const conditions = [{ type: 'Ready', status }];
  model.change({ node: { ...node, status: { ...node.status, conditions } } as Node });
};

const begin = (causes: readonly DisruptionCause[], ready = 'Unknown', pods = [stopping]): Model => {
  const model = draining(causes, pods);
  withReady(model, ready);
  model.at(41);
  model.settle();
  return model;
};

const phaseAt = (model: Model, seconds: number) => {
  model.at(seconds);
  model.settle();
  return model.status?.phase;
};

describe('a pod that was told to stop on a node whose kubelet is dead', () => {
  it.each([
    ['an update', anUpdate()],
    ['an update that keeps the instance for now', anUpdate({ followUp: 'Release' })],
    ['a termination hook', aHookCause()],
    ['a drain by hand that ends the instance', aManualCause({ followUp: 'Terminate' })],
  ])('holds up %s for 30 s', (_, cause) => {
    const model = begin([cause]);
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(70));
    expect(phaseAt(model, 69)).toBe('Draining');
    expect(phaseAt(model, 70)).not.toBe('Draining');
    expect(model.status).toMatchObject({
      outcome: 'Drained',
      message: expect.stringContaining('the kubelet is unreachable: 1 pod goes with the instance'),
    });
  });

  it.each([
    ['where the instance stays', [aManualCause()], 'Unknown', stopping],
    [
      'where it stays, held by an update',
      [aManualCause(), anUpdate({ hold: true })],
      'Unknown',
      stopping,
    ],
    ['where a living kubelet says that it is not Ready', [anUpdate()], 'False', stopping],
    ['where the kubelet is well', [anUpdate()], 'True', stopping],
    ['that was not told to stop', [anUpdate()], 'Unknown', aPod('p1')],
  ])('holds it up %s', (_, causes, ready, pod) => {
    expect(phaseAt(begin(causes, ready, [pod]), 800)).toBe('Draining');
  });

  it('holds it up again once the kubelet is back', () => {
    const model = begin([anUpdate()]);
    withReady(model, 'True');
    expect(phaseAt(model, 80)).toBe('Draining');
  });
});
