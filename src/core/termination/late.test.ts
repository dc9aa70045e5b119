// Late events and changes in the middle: a deadline that no process was running for, a hook during
// Completing, a changed mode while the node is being marked, a second drain.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aHook,
  aHookCause,
  aManualCause,
  aNode,
  aPod,
  draining,
  exclude,
  Model,
  observe,
  stepNames,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import { decideDisruption } from './decide.ts';

const forced = { deadline: timePlus(60), onDeadline: 'force' as const };

describe('heartbeats', () => {
  it('begin at once where another process sent the last, by whatever clock', () => {
    const model = draining([aHookCause()]);
    model.at(700);
    expect(model.settle()).toEqual(['HeartbeatHook']);
    model.at(701);
    model.settle();
    model.forget();
    expect(model.settle()).toContain('HeartbeatHook');
    expect(model.settle()).not.toContain('HeartbeatHook');
  });
});

describe('a deadline that passed while no process was there', () => {
  it('forces what is left at once, and ends when that is gone', () => {
    const model = draining([aManualCause(forced)]);
    model.forget();
    model.at(100);
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status).toMatchObject({ forcingSince: timePlus(100), podsRemaining: 1 });
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(110));
    model.change({ pods: [] });
    model.at(102);
    expect(model.settle()).toEqual(['Confirm', 'Completing', 'Ended']);
    expect(model.status?.outcome).toBe('Forced');
  });
  it('asks for the pods first where they are not known, for a while from the first look', () => {
    const model = draining([aManualCause(forced)]);
    model.change({ pods: undefined, memory: { hooks: new Map(), firstLookAt: tPlus(100) } });
    model.at(100);
    expect(stepNames(decideDisruption(model.observation))).toEqual(['Confirm']);
    model.at(115);
    expect(stepNames(decideDisruption(model.observation))).toEqual(['Completing']);
    model.change({ pods: [aPod('p1')] });
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status?.forcingSince).toBe(timePlus(115));
  });
  it('waits for a pod that does not go no longer than the safety time', () => {
    const model = draining([aManualCause(forced)]);
    model.at(100);
    model.settle();
    model.at(109.999);
    expect(model.settle()).toEqual([]);
    model.at(110);
    expect(model.settle()).toEqual(['Completing', 'Ended']);
    expect(model.status).toMatchObject({ outcome: 'Forced', podsRemaining: 1 });
  });
  it('never holds up a hook past the last moment to complete it', () => {
    const hook = aHook({ heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 100 });
    const model = draining([aHookCause({ ...forced, hook })]);
    model.at(85);
    model.settle();
    expect(model.status?.phase).toBe('Draining');
    model.at(90);
    expect(model.settle()).toEqual(['Completing', 'CompleteHook', 'Ended']);
  });
  it('forces nothing where the drain is to fail', () => {
    const model = draining([aManualCause({ deadline: timePlus(60) })]);
    model.at(100);
    expect(model.settle()).toEqual(['Completing', 'Ended']);
    expect(model.status?.outcome).toBe('Failed');
    expect(model.status).not.toHaveProperty('forcingSince');
  });
});

describe('a hook that comes while others are being ended', () => {
  const late = aHookCause({
    id: 'hook/asg-1/late/token-1',
    receivedAt: timePlus(70),
    hook: aHook({ name: 'late', startedAt: timePlus(70), heartbeatTimeoutSeconds: 30 }),
  });
  const isLate = (step: object): boolean => 'hookName' in step && step.hookName === 'late';

  it('is kept waiting during Completing, and completed by the next episode only', () => {
    const update = aManualCause({ kind: 'Update', followUp: 'Replace' });
    const model = draining([update, aHookCause()], []);
    model.at(5);
    for (let i = 0; i < 2; i++) {
      for (const step of decideDisruption(model.observation).steps) model.apply(step);
    }
    expect(model.status?.phase).toBe('Completing');
    // The cloud refuses the completion repeatedly.
    const refused = { failures: 9, lastAttemptAt: tPlus(79), message: 'throttled' };
    const hooks = new Map([['asg-1/Terminate-LC-Hook', refused]]);
    model.change({ memory: { ...model.observation.memory, hooks } });
    model.causes([update, aHookCause(), late]);
    model.at(79);
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(80));
    model.at(80);
    const { steps } = decideDisruption(model.observation);
    expect(steps).toMatchObject([{ kind: 'HeartbeatHook', hookName: 'late' }]);
    for (const step of steps) model.apply(step);
    expect(decideDisruption(model.observation).steps.filter(isLate)).toEqual([]);
  });
  it('is kept waiting while marks are taken away', () => {
    const model = draining([aManualCause()]);
    model.causes([aManualCause({ cancelledAt: timePlus(1) })]);
    const [undo] = decideDisruption(model.observation).steps;
    if (undo === undefined) throw new Error('no step');
    model.apply(undo);
    model.causes([aManualCause({ cancelledAt: timePlus(1) }), late]);
    model.at(80);
    expect(decideDisruption(model.observation).steps.filter(isLate)).toHaveLength(1);
  });
});

describe('another mode in the middle of marking', () => {
  const native = { ...observe().options, compat: 'native' as const };
  const begun = (options = observe().options) => {
    const model = new Model(observe({ disruption: aDisruption([aManualCause()]), options }));
    const [intent, first] = decideDisruption(model.observation).steps;
    if (intent === undefined || first === undefined) throw new Error('no step');
    model.apply(intent);
    return { model, first };
  };
  const undo = (model: Model): void => {
    model.causes([aManualCause({ cancelledAt: timePlus(2) })]);
    model.settle();
    expect(model.status?.outcome).toBe('Cancelled');
  };

  it('still owns the label that the first of two patches had set', () => {
    const { model, first } = begun();
    model.apply(first);
    expect(model.observation.node?.metadata.labels).toEqual({ [exclude]: 'true' });
    model.change({ options: native });
    expect(model.settle()).toEqual(['Marking', 'PatchNode', 'Draining']);
    expect(model.status?.ownedMarks).toMatchObject({ excludeLabel: true, taint: true });
    undo(model);
    expect(model.observation.node?.metadata.labels).toEqual({});
    expect(model.observation.node?.spec.taints ?? []).toEqual([]);
  });
  it('still owns the taint that the one patch had set', () => {
    const { model, first } = begun(native);
    model.apply(first);
    const { node } = model.observation;
    if (node === undefined) throw new Error('no node');
    // An administrator removes the label, so that a mark is missing.
    const unlabelled = { ...node, metadata: { ...node.metadata, labels: {} } };
    model.change({ node: unlabelled, options: observe().options });
    expect(model.settle()).toEqual(['PatchNode', 'Draining']);
    expect(model.status).toMatchObject({ phase: 'Draining', ownedMarks: { taint: true } });
    undo(model);
    expect(model.observation.node?.spec.taints ?? []).toEqual([]);
  });
  it('says first what it will own of a mark that somebody took away meanwhile', () => {
    const model = new Model(
      observe({ disruption: aDisruption([aManualCause()]), node: aNode({ unschedulable: true }) }),
    );
    const [intent] = decideDisruption(model.observation).steps;
    if (intent === undefined) throw new Error('no step');
    model.apply(intent);
    model.change({ node: aNode() });
    expect(model.settle()).toEqual(['Marking', 'PatchNode', 'PatchNode', 'Draining']);
    expect(model.status?.ownedMarks?.unschedulable).toBe(true);
  });
});

describe('a leader that took over', () => {
  const inTerm = (epoch: number) => ({ ...observe().options, epoch });
  const begun = (epoch: number): Model => {
    const disruption = aDisruption([aManualCause()]);
    const model = new Model(observe({ disruption, pods: [aPod('p1')], options: inTerm(epoch) }));
    model.settle();
    return model;
  };
  it('signs what it writes, and writes nothing more than without a term', () => {
    const model = begun(3);
    expect(model.done).toEqual(['Marking', 'PatchNode', 'PatchNode', 'Draining']);
    expect(model.status?.leaderEpoch).toBe(3);
  });
  it('enters its term before it does anything, in every phase that goes on', () => {
    const model = begun(3);
    model.causes([aManualCause({ cancelledAt: timePlus(1) })]);
    model.change({ options: inTerm(4) });
    expect(model.settle()).toEqual(['Draining', 'Undoing', 'PatchNode', 'Ended']);
    model.change({ options: inTerm(5) });
    expect(model.settle()).toEqual([]);
  });
  it.each([
    ['that drains', [aManualCause()]],
    ['whose hook needs a heartbeat', [aManualCause(), aHookCause()]],
    ['to be undone', [aManualCause({ cancelledAt: timePlus(1) })]],
  ])('leaves nothing to the one before it: a record %s', (_, causes) => {
    const model = begun(4);
    model.causes(causes);
    model.at(700);
    model.change({ options: inTerm(3) });
    expect(model.settle()).toEqual([]);
    expect(model.status?.leaderEpoch).toBe(4);
    model.change({ options: inTerm(5) });
    expect(model.settle()).not.toEqual([]);
  });
  it('keeps hooks alive with the same plan', () => {
    const model = begun(3);
    model.causes([aManualCause(), aHookCause()]);
    model.change({ options: inTerm(4) });
    model.at(700);
    expect(model.settle()).toEqual(['HeartbeatHook', 'Draining', 'Draining']);
  });
});

describe('what an episode leaves behind', () => {
  it('is the deadline that was acted on, although the hook that set it is completed', () => {
    const hook = aHook({ heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 600 });
    const model = draining([aHookCause({ onDeadline: 'fail', hook }), aManualCause()]);
    model.at(540);
    model.settle();
    expect(model.status).toMatchObject({
      phase: 'Ended',
      outcome: 'Failed',
      deadline: timePlus(540),
    });
  });
  it('is told in one line by the next one', () => {
    const model = draining([aManualCause({ deadline: timePlus(60) })]);
    model.at(60);
    model.settle();
    const second = aManualCause({ id: 'manual/2', receivedAt: timePlus(100) });
    model.causes([aManualCause({ deadline: timePlus(60) }), second]);
    model.change({ pods: [aPod('p1')] });
    model.at(100);
    model.settle();
    expect(model.status).toMatchObject({
      episode: 2,
      previous: {
        episode: 1,
        outcome: 'Failed',
        deadline: timePlus(60),
        endedAt: timePlus(60),
      },
    });
  });
});
