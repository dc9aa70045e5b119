import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aGroup,
  aHook,
  aHookCause,
  aManualCause,
  aMarkedNode,
  aNode,
  aPod,
  confirmedByCloud,
  draining,
  Model,
  marksAnnotation,
  observe,
  stepNames,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { decideDisruption } from './decide.ts';

describe('Completing', () => {
  it('completes every hook of ours before it ends', () => {
    const second = aHookCause({ id: 'second', hook: aHook({ name: 'ours-too' }) });
    const model = draining([aHookCause(), second], []);
    model.at(5);
    expect(model.settle()).toEqual([
      'Confirm',
      'Completing',
      'CompleteHook',
      'CompleteHook',
      'Ended',
    ]);
  });
  it.each([
    ['retain', 'fail', 'ABANDON'],
    ['terminate', 'fail', 'CONTINUE'],
    ['retain', 'force', 'CONTINUE'],
  ] as const)('policy %s, %s at the deadline: %s', (onFailure, onDeadline, expected) => {
    const hook = aHook({ heartbeatTimeoutSeconds: 30, globalTimeoutSeconds: 600 });
    const model = draining([aHookCause({ onDeadline, hook })]);
    model.change({ group: aGroup({ onFailure }), blockers: [] });
    model.at(560);
    for (let i = 0; i < 4 && model.status?.phase !== 'Completing'; i++) {
      for (const step of decideDisruption(model.observation).steps) model.apply(step);
      if (model.status?.phase === 'Draining') model.at(595);
    }
    const { steps } = decideDisruption(model.observation);
    expect(steps.flatMap((s) => (s.kind === 'CompleteHook' ? [s.result] : []))).toEqual([expected]);
    model.settle();
    expect(model.status?.hooks?.[0]?.result).toBe(expected);
  });
  it('waits out a failed call and says what it waits for', () => {
    const model = draining([aHookCause()], []);
    model.at(5);
    for (let i = 0; i < 2; i++) {
      for (const step of decideDisruption(model.observation).steps) model.apply(step);
    }
    const seen = { failures: 3, lastAttemptAt: tPlus(5), message: 'no answer' };
    const hooks = new Map([['asg-1/Terminate-LC-Hook', seen]]);
    model.change({ memory: { ...model.observation.memory, hooks } });
    const plan = decideDisruption(model.observation);
    expect(plan.steps).toEqual([]);
    expect(plan.waitingOn).toMatchObject([{ kind: 'hook', message: 'no answer' }]);
    expect(plan.nextCheckAt).toBe(tPlus(9));
  });
  it('terminates an instance that nobody else takes', () => {
    const cause = (kind: DisruptionCause['kind'], followUp: DisruptionCause['followUp']) => {
      const model = draining([aManualCause({ kind, followUp, ...confirmedByCloud })], []);
      model.at(5);
      return model.settle().filter((step) => step === 'TerminateInstance').length;
    };
    expect(cause('Update', 'Replace')).toBe(1);
    expect(cause('Repair', 'Terminate')).toBe(1);
    expect(cause('Manual', 'Release')).toBe(0);
    expect(cause('SpotInterruption', 'Terminate')).toBe(0);
  });
  it('reboots an instance once, and keeps its marks until its cause is withdrawn', () => {
    const cause = aManualCause({ kind: 'Repair', followUp: 'Reboot' });
    const model = draining([cause], []);
    model.at(5);
    const done = model.settle();
    expect(done.filter((step) => step === 'RebootInstance').length).toBe(1);
    expect(done).not.toContain('TerminateInstance');
    expect(model.status).toMatchObject({ phase: 'Ended', reboot: { askedAt: timePlus(5) } });
    expect(model.observation.node?.spec.unschedulable).toBe(true);
    model.causes([{ ...cause, cancelledAt: timePlus(600) }]);
    model.at(600);
    model.settle();
    expect(model.observation.node?.spec.unschedulable ?? false).toBe(false);
  });
  it('asks for no second reboot after a restart before the first one shows', () => {
    const model = draining([aManualCause({ kind: 'Repair', followUp: 'Reboot' })], []);
    model.at(5);
    for (let i = 0; i < 20 && model.status?.reboot === undefined; i++) {
      for (const step of decideDisruption(model.observation).steps) model.apply(step);
    }
    model.change({ memory: { hooks: new Map(), firstLookAt: tPlus(10) } });
    model.at(10);
    expect(model.settle()).not.toContain('RebootInstance');
    model.at(126);
    expect(model.settle()).toContain('RebootInstance');
  });
});

describe('a cause that comes during Completing', () => {
  const late = aHookCause({ receivedAt: timePlus(60) });
  it('is not completed with it: it opens the next episode', () => {
    const model = draining([aManualCause({ deadline: timePlus(60) })]);
    model.at(60);
    for (const step of decideDisruption(model.observation).steps) model.apply(step);
    expect(model.status).toMatchObject({ phase: 'Completing', outcome: 'Failed' });
    model.causes([aManualCause({ deadline: timePlus(60) }), late]);
    const done = model.settle();
    expect(done).not.toContain('CompleteHook');
    expect(model.status).toMatchObject({
      phase: 'Draining',
      episode: 2,
      handledCauses: [aManualCause().id],
      hooks: [{ state: 'Open' }],
    });
    model.change({ pods: [] });
    model.at(66);
    expect(model.settle()).toEqual(['Confirm', 'Completing', 'CompleteHook', 'Ended']);
  });
  it('may be the notice of the termination that was about to be asked for', () => {
    const update = aManualCause({ kind: 'Update', followUp: 'Replace' });
    const model = draining([update], []);
    model.at(5);
    for (const name of ['Confirm', 'Completing']) {
      const { steps } = decideDisruption(model.observation);
      expect(stepNames({ subject: name, steps, waitingOn: [] })).toEqual([name]);
      for (const step of steps) model.apply(step);
    }
    model.causes([update, late]);
    expect(model.settle()).not.toContain('TerminateInstance');
  });
  it('is none when only the message of a polled hook brings its token', () => {
    const { token: _token, ...polled } = aHook();
    const id = 'hook/asg-1/Terminate-LC-Hook/polled';
    const model = draining([aHookCause({ id, hook: polled })], []);
    model.at(5);
    model.settle();
    const before = model.status;
    model.causes([aHookCause()]);
    expect(model.settle()).toEqual([]);
    expect(model.status).toEqual(before);
  });
});

describe('withdrawing', () => {
  const withdrawn = aManualCause({ cancelledAt: timePlus(1) });
  it('takes our marks away, in the middle of a drain', () => {
    const model = draining([aManualCause()]);
    model.causes([withdrawn]);
    expect(model.settle()).toEqual(['Undoing', 'PatchNode', 'Ended']);
    expect(model.status?.outcome).toBe('Cancelled');
    expect(model.observation.node?.spec.unschedulable).toBeUndefined();
    expect(model.observation.node?.metadata.labels).toEqual({});
  });
  it.each(['eks', 'native'] as const)(
    'leaves a cordon (%s) that somebody sets after a crash of ours just before the end',
    (compat) => {
      const options = { ...observe().options, compat };
      const model = new Model(observe({ disruption: aDisruption([aManualCause()]), options }));
      model.change({ pods: [aPod('p1')] });
      model.settle();
      model.causes([withdrawn]);
      for (const kind of ['WriteStatus', 'PatchNode']) {
        const [step] = decideDisruption(model.observation).steps;
        expect(step?.kind).toBe(kind);
        if (step !== undefined) model.apply(step);
      }
      const { node = aNode() } = model.observation;
      model.change({ node: { ...node, spec: { ...node.spec, unschedulable: true } } });
      model.forget();
      expect(model.settle()).toEqual(['Ended']);
      expect(model.observation.node?.spec.unschedulable).toBe(true);
    },
  );
  it.each([
    ['leaves', 'native', true],
    // Its two patches do not show who set the cordon.
    ['takes', 'eks', undefined],
  ] as const)(
    '%s a cordon (%s) that somebody sets where our marks never landed after a crash',
    (_what, compat, stays) => {
      const options = { ...observe().options, compat };
      const model = new Model(observe({ disruption: aDisruption([aManualCause()]), options }));
      model.change({ pods: [aPod('p1')] });
      const intent = decideDisruption(model.observation).steps.find(
        ({ kind }) => kind === 'WriteStatus',
      );
      if (intent !== undefined) model.apply(intent);
      expect(model.status?.phase).toBe('Marking');
      const { node = aNode() } = model.observation;
      model.change({ node: { ...node, spec: { ...node.spec, unschedulable: true } } });
      model.forget();
      model.causes([withdrawn]);
      model.settle();
      expect(model.status).toMatchObject({ phase: 'Ended', outcome: 'Cancelled' });
      expect(model.observation.node?.spec.unschedulable).toBe(stays);
    },
  );
  it('takes our cordon away although somebody took the label before', () => {
    const model = draining([aManualCause()], []);
    model.at(5);
    model.settle();
    const { node = aNode() } = model.observation;
    model.change({ node: { ...node, metadata: { ...node.metadata, labels: {} } } });
    model.causes([withdrawn]);
    expect(model.settle()).toEqual(['Undoing', 'PatchNode', 'Ended']);
    expect(model.observation.node?.spec.unschedulable).toBeUndefined();
  });
  it('gives a drained node back, and leaves a cordon that was there before', () => {
    const model = new Model(
      observe({
        disruption: aDisruption([aManualCause()]),
        node: aNode({ unschedulable: true }),
      }),
    );
    model.settle();
    model.at(5);
    expect(model.settle()).toContain('Ended');
    expect(model.status?.outcome).toBe('Drained');
    model.causes([withdrawn]);
    expect(model.settle()).toEqual(['Undoing', 'PatchNode', 'Ended']);
    expect(model.observation.node?.spec.unschedulable).toBe(true);
    expect(model.observation.node?.metadata.labels).toEqual({});
  });
  it('gives no node back whose instance we have had terminated, and one whose drain failed', () => {
    const retired = (more: Partial<DisruptionCause> = {}) =>
      aManualCause({
        kind: 'Maintenance',
        ...confirmedByCloud,
        followUp: 'Replace',
        deadline: timePlus(60),
        ...more,
      });
    const isOver = retired({ cancelledAt: timePlus(61) });
    const taken = draining([retired()], []);
    taken.at(5);
    expect(taken.settle()).toContain('TerminateInstance');
    taken.causes([isOver]);
    expect(taken.settle()).toEqual([]);
    expect(taken.observation.node?.spec.unschedulable).toBe(true);
    const kept = draining([retired()]);
    kept.at(60);
    kept.settle();
    expect(kept.status).toMatchObject({ phase: 'Ended', outcome: 'Failed' });
    kept.causes([isOver]);
    expect(kept.settle()).toEqual(['Undoing', 'PatchNode', 'Ended']);
  });
  describe('when the end of the instance is being asked for', () => {
    const retired = (more: Partial<DisruptionCause> = {}): DisruptionCause =>
      aManualCause({ kind: 'Maintenance', ...confirmedByCloud, followUp: 'Replace', ...more });
    const completing = (cause = retired()): Model => {
      const model = draining([cause], []);
      model.at(5);
      for (const name of ['Confirm', 'Completing']) {
        for (const step of decideDisruption(model.observation).steps) model.apply(step);
        expect(model.done.at(-1)).toBe(name);
      }
      return model;
    };
    const withdraw = (model: Model, cause = retired()): readonly string[] => {
      model.causes([{ ...cause, cancelledAt: timePlus(6) }]);
      return model.settle();
    };
    const isCordoned = ({ observation }: Model) => observation.node?.spec.unschedulable === true;
    it('comes too late after the call: the node keeps its marks', () => {
      const model = completing();
      for (const step of decideDisruption(model.observation).steps) model.apply(step);
      expect(model.done.at(-1)).toBe('TerminateInstance');
      expect(withdraw(model)).toEqual(['Ended']);
      expect(model.status).toMatchObject({ outcome: 'Drained', followUp: 'Replace' });
      expect(isCordoned(model)).toBe(true);
    });
    it.each([
      ['a crash', undefined],
      ['a lost answer', { at: tPlus(5), done: false, failures: 1 }],
    ])('asks after %s whether the call had come through', (_name, terminate) => {
      const memory = { hooks: new Map(), ...defined({ terminate }) };
      const taken = completing();
      taken.change({ memory });
      taken.instanceLeaving = true;
      expect(withdraw(taken)).toEqual(['Confirm', 'Ended']);
      expect(isCordoned(taken)).toBe(true);
      const kept = completing();
      kept.change({ memory });
      expect(withdraw(kept)).toEqual(['Confirm', 'Ended', 'Undoing', 'PatchNode', 'Ended']);
      expect(isCordoned(kept)).toBe(false);
    });
    it('believes no answer from before the last call, and none for long', () => {
      const leaving = { at: tPlus(4), found: false };
      const terminate = { at: tPlus(5), done: false, failures: 1 };
      const model = completing();
      model.change({ memory: { hooks: new Map(), leaving, terminate } });
      model.instanceLeaving = true;
      expect(withdraw(model)).toEqual(['Confirm', 'Ended']);
      const later = completing();
      later.change({ memory: { hooks: new Map(), leaving } });
      later.at(60);
      later.instanceLeaving = true;
      expect(withdraw(later)).toEqual(['Confirm', 'Ended']);
    });
    it('asks nobody where the instance was still kept', () => {
      for (const kept of [{ holdTermination: true }, { cooldownSeconds: 600 }]) {
        const cause = retired(kept);
        const undone = withdraw(completing(cause), cause);
        expect(undone).toEqual(['Ended', 'Undoing', 'PatchNode', 'Ended']);
      }
      const cools = retired({ cooldownSeconds: 100 });
      expect(withdraw(completing(cools), cools)).toContain('Confirm');
    });
  });
  it('leaves the marks to the cause of an earlier episode that nobody withdrew', () => {
    const spot = aHookCause();
    for (const begun of ['Pending', 'Draining'] as const) {
      const model = draining([spot], []);
      model.at(5);
      expect(model.settle()).toContain('Ended');
      const before = model.status;
      model.causes([spot, aManualCause()]);
      const next = decideDisruption(model.observation).steps[0];
      if (next === undefined) throw new Error('no next episode');
      model.apply(next);
      if (begun === 'Draining') model.settle();
      model.causes([spot, withdrawn]);
      expect(model.settle()).not.toContain('PatchNode');
      expect(model.status).toMatchObject({ phase: 'Ended', outcome: 'Cancelled', episode: 2 });
      expect(model.status?.ownedMarks).toEqual(before?.ownedMarks);
      expect(model.observation.node?.spec.unschedulable).toBe(true);
    }
  });
  it('takes marks of an earlier episode away before it ends a new one that was only asked for', () => {
    const model = draining([aManualCause()], []);
    model.at(5);
    expect(model.settle()).toContain('Ended');
    model.causes([aManualCause(), aManualCause({ id: 'manual/2' })]);
    const next = decideDisruption(model.observation).steps[0];
    if (next === undefined) throw new Error('no next episode');
    model.apply(next);
    model.causes([withdrawn, aManualCause({ id: 'manual/2', cancelledAt: timePlus(6) })]);
    expect(model.settle()).toEqual(['Undoing', 'PatchNode', 'Ended']);
    expect(model.observation.node?.spec.unschedulable).toBeUndefined();
  });
  it('takes marks away that land after the end, where the node tells that they are ours', () => {
    const options = { ...observe().options, compat: 'native' as const };
    const model = new Model(observe({ disruption: aDisruption([aManualCause()]), options }));
    const [intent, late] = decideDisruption(model.observation).steps;
    if (intent === undefined || late === undefined) throw new Error('no step');
    model.apply(intent);
    model.causes([withdrawn]);
    expect(model.settle()).toEqual(['Undoing', 'Ended']);
    model.apply(late);
    expect(model.observation.node?.spec.unschedulable).toBe(true);
    expect(model.settle()).toEqual(['Undoing', 'PatchNode', 'Ended']);
    expect(model.observation.node?.spec).not.toHaveProperty('unschedulable', true);
    // The annotation of another disruption is not ours to act on.
    const record = JSON.stringify({ disruption: 'i-2', owned: { unschedulable: true } });
    const annotations = { [marksAnnotation]: record };
    model.change({ node: aMarkedNode({ annotations }) });
    expect(model.settle()).toEqual([]);
  });
  it('does not stop a drain that another cause still wants', () => {
    const model = draining([aManualCause(), aHookCause()]);
    model.causes([withdrawn, aHookCause()]);
    expect(model.settle()).toEqual([]);
  });
  it('opens the next episode for a cause that came while the marks were taken away', () => {
    const model = draining([aManualCause()]);
    model.causes([withdrawn]);
    const [undo] = decideDisruption(model.observation).steps;
    if (undo === undefined) throw new Error('no step');
    model.apply(undo);
    model.causes([withdrawn, aHookCause()]);
    expect(model.settle()).toEqual([
      'PatchNode',
      'Ended',
      'Pending',
      'Marking',
      'PatchNode',
      'PatchNode',
      'Draining',
    ]);
    expect(model.status?.episode).toBe(2);
  });
});

describe('Ended', () => {
  const ended = (): Model => {
    const model = draining([aManualCause()], []);
    model.at(5);
    model.settle();
    return model;
  };
  it('opens another episode for a new cause and still owns its marks', () => {
    const model = ended();
    model.causes([aManualCause(), aHookCause()]);
    expect(model.settle()).toEqual(['Pending', 'Draining']);
    expect(model.status).toMatchObject({
      episode: 2,
      ownedMarks: { excludeLabel: true, unschedulable: true },
    });
    expect(model.status).not.toHaveProperty('outcome');
    model.at(10);
    expect(model.settle()).toContain('CompleteHook');
  });
  it.each([
    ['of the same node', 'uid-n1', true],
    ['but not of one that registered anew', 'uid-new', false],
  ])('inherits the marks %s', (_name, uid, unschedulable) => {
    const model = ended();
    // On the new node an administrator set the cordon.
    model.change({ node: aMarkedNode({ uid }) });
    model.causes([aManualCause(), aHookCause()]);
    model.settle();
    expect(model.status).toMatchObject({
      episode: 2,
      node: { uid },
      ownedMarks: { unschedulable },
    });
  });
  it('stays as long as our marks stand, and goes a day after its end', () => {
    const model = ended();
    model.at(90_000);
    expect(model.settle()).toEqual([]);
    model.change({ node: undefined });
    model.at(86_404);
    expect(model.settle()).toEqual([]);
    model.at(86_405);
    expect(stepNames(decideDisruption(model.observation))).toEqual(['DeleteDisruption']);
  });
});
