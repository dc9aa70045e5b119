// A node whose causes have a hold: marked, not drained, then drained at once when the hold ends.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aHookCause,
  aManualCause,
  aMarkedNode,
  aNode,
  anId,
  aPod,
  blocked,
  Model,
  observe,
  stepNames,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause, NodeDisruption } from '../../api/disruption.ts';
import { classifyPods } from '../drain/index.ts';
import { liftWrite } from './cause-writes.ts';
import { demandOf } from './causes.ts';
import { decideDisruption } from './decide.ts';
import { drainOf } from './drains.ts';

const held = aManualCause({
  kind: 'Update',
  id: 'update/u-1',
  followUp: 'Replace',
  hold: true,
});
const lifted = (seconds: number): DisruptionCause => ({
  ...held,
  hold: false,
  deadline: timePlus(seconds + 900),
});
const byUpdate = [{ kind: 'hold', by: 'update u-1' }];

/** A held node that shows its marks, two seconds after the request. */
const aHeldNode = (causes: readonly DisruptionCause[] = [held]): Model => {
  const model = new Model(observe({ disruption: aDisruption(causes), pods: [aPod('p1')] }));
  model.settle();
  model.at(2);
  model.settle();
  return model;
};
const mayDrain = ({ observation }: Model): boolean => {
  const { disruption, node, options } = observation;
  const classified = classifyPods(observation.pods ?? []);
  const { compat } = options;
  const demand = demandOf(observation);
  return drainOf({ disruption, node, classified, demand, compat })?.mayEvict ?? false;
};

describe('a held node', () => {
  it('is marked, says whose turn it waits for, and nothing else happens, however long', () => {
    const model = aHeldNode();
    expect(model.done).toEqual(['Marking', 'PatchNode', 'PatchNode', 'Draining']);
    expect(model.status).toMatchObject({ phase: 'Draining', waitingOn: byUpdate });
    expect(model.status?.deadline).toBeUndefined();
    expect(mayDrain(model)).toBe(false);
    model.at(100_000);
    const plan = decideDisruption(model.observation);
    expect(plan).toEqual({ subject: anId, steps: [], waitingOn: byUpdate });
  });
  it('keeps its instance when it is empty', () => {
    const model = aHeldNode();
    model.change({ pods: [] });
    model.at(60);
    expect(model.settle()).toEqual([]);
  });
  it('gets its marks again when somebody takes them away, and waits on', () => {
    const model = aHeldNode();
    model.change({ node: aNode({ labels: model.observation.node?.metadata.labels ?? {} }) });
    expect(model.settle()).toEqual(['Marking', 'PatchNode', 'Draining']);
    expect(model.status?.waitingOn).toEqual(byUpdate);
  });
  it('is given back when its cause is withdrawn', () => {
    const model = aHeldNode();
    model.causes([{ ...held, cancelledAt: timePlus(3) }]);
    expect(model.settle()).toEqual(['Undoing', 'PatchNode', 'Ended']);
    expect(model.observation.node?.spec.unschedulable).toBeUndefined();
    expect(model.status?.outcome).toBe('Cancelled');
  });
  it('is not waited for by the batch of others once it is marked', () => {
    expect(aHeldNode().observation.disruption.status?.phase).toBe('Draining');
    const fresh = decideDisruption(observe({ disruption: aDisruption([held]) }));
    expect(stepNames(fresh)).toEqual(['Marking', 'PatchNode', 'PatchNode']);
  });
  it('that is gone from the cluster waits on, and ends once its instance is gone', () => {
    const model = aHeldNode();
    model.change({ node: undefined });
    expect(model.settle()).toEqual(['Confirm']);
    expect(model.status?.phase).toBe('Draining');
    model.instanceGone = true;
    model.at(40);
    expect(model.settle()).toEqual(['Confirm', 'Confirm', 'Completing', 'Ended']);
    expect(model.status?.outcome).toBe('InstanceGone');
  });
  it('that is not Ready is looked for in the cloud as any other', () => {
    const model = aHeldNode();
    model.change({ node: aMarkedNode({ ready: false }) });
    expect(model.settle()).toEqual(['Confirm']);
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(32));
  });
});

describe('the end of a hold', () => {
  it('is in the journal, with its deadline, before the first eviction', () => {
    const model = aHeldNode();
    model.at(3600);
    model.causes([lifted(3600)]);
    expect(mayDrain(model)).toBe(false);
    model.settle();
    expect(model.status).toMatchObject({
      phase: 'Draining',
      heldUntil: timePlus(3600),
      deadline: timePlus(4500),
      onDeadline: 'fail',
    });
    expect(model.status?.waitingOn).toBeUndefined();
    expect(mayDrain(model)).toBe(true);
  });
  it('begins the default time of a cause that names no deadline', () => {
    const model = aHeldNode();
    model.at(3600);
    model.causes([{ ...held, hold: false }]);
    model.settle();
    expect(model.status?.deadline).toBe(timePlus(4500));
    model.forget();
    model.at(4000);
    expect(model.settle()).toEqual([]);
    expect(model.status?.deadline).toBe(timePlus(4500));
  });
  it('lets an empty node end', () => {
    const model = aHeldNode();
    model.change({ pods: [] });
    model.at(60);
    model.causes([lifted(60)]);
    model.settle();
    expect(model.done.slice(-5)).toEqual([
      'Draining',
      'Confirm',
      'Completing',
      'TerminateInstance',
      'Ended',
    ]);
  });
  it('makes half of the time since then the budgets’, however long it was held', () => {
    const model = aHeldNode();
    model.change({ pods: [aPod('p1', { graceSeconds: 600 })], blockers: blocked });
    model.at(3600);
    model.causes([{ ...lifted(3600), onDeadline: 'force' }]);
    model.settle();
    model.at(3600 + 439);
    model.settle();
    expect(model.status?.forcingSince).toBeUndefined();
    model.at(3600 + 440);
    model.settle();
    expect(model.status?.forcingSince).toBe(timePlus(4040));
  });
  it('names its blockers two seconds later, not before', () => {
    const model = aHeldNode();
    model.at(3600);
    model.causes([lifted(3600)]);
    model.settle();
    model.change({ blockers: blocked });
    expect(model.settle()).toEqual([]);
    model.at(3602);
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status?.waitingOn).toMatchObject([{ kind: 'pdb' }]);
  });
  it('is what one write of the update does', () => {
    const model = aHeldNode();
    const times = { deadline: timePlus(1802), onDeadline: 'fail' as const };
    const write = liftWrite(model.observation.disruption, held.id, times);
    if (write.kind !== 'patch') throw new Error(write.kind);
    model.causes((write.body.spec as unknown as NodeDisruption['spec']).causes);
    model.settle();
    expect(mayDrain(model)).toBe(true);
  });
});

describe('another cause on a held node', () => {
  it('drains it at once, by its own deadline', () => {
    const model = aHeldNode();
    model.causes([held, aHookCause({ receivedAt: timePlus(2), deadline: timePlus(902) })]);
    model.settle();
    expect(model.status).toMatchObject({ deadline: timePlus(902), onDeadline: 'force' });
    expect(mayDrain(model)).toBe(true);
  });
  it('that takes the instance leaves nothing for the cause that held', () => {
    const model = aHeldNode();
    model.causes([held, aHookCause()]);
    model.change({ pods: [] });
    model.at(60);
    model.settle();
    expect(model.done).toContain('CompleteHook');
    expect(model.done).not.toContain('TerminateInstance');
    expect(model.status).toMatchObject({
      phase: 'Ended',
      handledCauses: [held.id, aHookCause().id],
    });
  });
  it('that leaves the instance where it is leaves it to its turn', () => {
    const model = aHeldNode();
    model.causes([held, aManualCause()]);
    model.change({ pods: [] });
    model.at(60);
    model.settle();
    expect(model.done).not.toContain('TerminateInstance');
    expect(model.status).toMatchObject({ episode: 2, phase: 'Draining', waitingOn: byUpdate });
    expect(model.status?.previous?.outcome).toBe('Drained');
  });
  it('that is withdrawn leaves it held as before', () => {
    const model = aHeldNode();
    model.causes([held, aManualCause({ deadline: timePlus(100), onDeadline: 'force' })]);
    model.settle();
    model.at(70);
    model.settle();
    expect(model.status?.forcingSince).toBe(timePlus(70));
    model.causes([held, aManualCause({ cancelledAt: timePlus(71) })]);
    model.settle();
    expect(mayDrain(model)).toBe(false);
    expect(model.status?.waitingOn).toEqual(byUpdate);
    expect(model.status?.forcingSince).toBeUndefined();
    expect(model.status?.deadline).toBeUndefined();
  });
});
