// A deleted Node object does not mean a terminated instance: the drain continues by instance id,
// and the node is marked again when it registers.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aGroup,
  aHookCause,
  aManualCause,
  aMarkedNode,
  aNode,
  aPod,
  draining,
  Model,
  observe,
  statusIn,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DrainPolicy } from '../../api/drain-policy.ts';
import type { Pod } from '../../api/kube.ts';
import { decideDisruption } from './decide.ts';

const deletedWhileDraining = (): Model => {
  const model = draining([aHookCause()]);
  model.at(20);
  model.change({ node: undefined });
  return model;
};

describe('a Node object that is deleted while its instance runs', () => {
  it('keeps the drain open, and says what it waits for', () => {
    const model = deletedWhileDraining();
    model.settle();
    expect(model.done).not.toContain('CompleteHook');
    expect(model.status).toMatchObject({ phase: 'Draining', podsRemaining: 1 });
    const { waitingOn } = decideDisruption(model.observation);
    const message = 'Node n1 was deleted while the instance runs; marked again when it registers';
    expect(waitingOn).toEqual([{ kind: 'instance', message }]);
    expect(model.status?.waitingOn).toEqual(waitingOn);
  });
  it('is asked about again every 30 s, and writes nothing meanwhile', () => {
    const model = deletedWhileDraining();
    model.settle();
    expect(model.settle()).toEqual([]);
    model.at(51);
    expect(model.settle()).toEqual(['Confirm', 'Confirm', 'Confirm']);
  });
  it('is marked again when the instance registers under a new uid', () => {
    const model = deletedWhileDraining();
    model.settle();
    model.change({ node: aNode({ uid: 'uid-new' }) });
    expect(model.settle().slice(0, 3)).toEqual(['Marking', 'PatchNode', 'PatchNode']);
    expect(model.status).toMatchObject({ phase: 'Draining', node: { uid: 'uid-new' } });
  });
  it('ends the drain when no pod is bound to its name', () => {
    const model = deletedWhileDraining();
    model.change({ pods: [] });
    expect(model.settle()).toContain('CompleteHook');
    const message = 'Node n1 was deleted, and no pod is bound to it';
    expect(model.status).toMatchObject({ outcome: 'NothingToDrain', message });
  });
  it('ends the drain when the instance is gone', () => {
    const model = deletedWhileDraining();
    model.instanceGone = true;
    model.settle();
    expect(model.status).toMatchObject({ phase: 'Ended', outcome: 'InstanceGone' });
  });
  it.each([
    ['force', 'Forced'],
    ['fail', 'Failed'],
  ] as const)('%s: ends as %s at the deadline', (onDeadline, outcome) => {
    const model = draining([aManualCause({ deadline: timePlus(900), onDeadline })]);
    model.change({ node: undefined });
    model.settle();
    model.at(901);
    model.settle();
    const message = 'Node n1 was deleted and did not register again by the deadline';
    expect(model.status).toMatchObject({ phase: 'Ended', outcome, message, podsRemaining: 1 });
  });
  it('is not taken for one that never joined where the cause names it', () => {
    const model = new Model(observe({ node: undefined, pods: [aPod('p1')] }));
    model.settle();
    expect(model.status).toMatchObject({ phase: 'Pending' });
    model.change({ node: aNode({ uid: 'uid-new' }) });
    model.settle();
    expect(model.status).toMatchObject({ phase: 'Draining', node: { uid: 'uid-new' } });
  });
});

const drainedByHand = (): Model => {
  const model = draining([aManualCause()], []);
  model.at(6);
  model.settle();
  if (model.status?.outcome !== 'Drained') throw new Error(`it is ${model.status?.outcome}`);
  return model;
};

describe('a drained instance that registers another Node object', () => {
  it('is marked and drained again while its cause stands', () => {
    const model = drainedByHand();
    model.at(60);
    model.change({ node: aNode({ uid: 'uid-new' }), pods: [aPod('p9')] });
    model.settle();
    expect(model.status).toMatchObject({
      phase: 'Draining',
      episode: 2,
      node: { uid: 'uid-new' },
      ownedMarks: { excludeLabel: true, unschedulable: true },
    });
  });
  it('is not asked twice to end its hook', () => {
    const model = draining([aHookCause()], []);
    model.at(6);
    model.settle();
    const before = model.done.filter((step) => step === 'CompleteHook').length;
    model.change({ node: aNode({ uid: 'uid-new' }) });
    model.at(12);
    model.forget();
    model.settle();
    expect(model.done.filter((step) => step === 'CompleteHook').length).toBe(before);
    expect(model.status).toMatchObject({ episode: 2, hooks: [{ state: 'Completed' }] });
  });
  it.each([
    ['the node is the same', (model: Model) => model.change({ node: aMarkedNode() })],
    [
      'the cause was withdrawn',
      (model: Model) => {
        model.causes([aManualCause({ cancelledAt: timePlus(20) })]);
        model.change({ node: aNode({ uid: 'uid-new' }) });
      },
    ],
  ])('stays as it is where %s', (_why, change) => {
    const model = drainedByHand();
    change(model);
    model.settle();
    expect(model.status?.episode).toBe(1);
  });
});

describe('a node that was deleted before the cause was recorded', () => {
  const unnamed = (pods: readonly Pod[]): Model => {
    const { nodeName: _name, ...spec } = aDisruption().spec;
    const disruption = { ...aDisruption(), spec };
    const model = new Model(observe({ disruption, node: undefined, pods }));
    const instance = { at: tPlus(0), gone: false, nodeName: 'n1' };
    model.change({ memory: { ...model.observation.memory, instance } });
    model.settle();
    return model;
  };
  it('is found by the pods on the name of its instance', () => {
    expect(unnamed([aPod('p1')]).status).toMatchObject({ phase: 'Pending', podsRemaining: 1 });
  });
  it('never joined where no pod has that name', () => {
    const message = 'the instance never became a node';
    expect(unnamed([]).status).toMatchObject({ outcome: 'NothingToDrain', message });
  });
});

describe('an episode of one that never joined', () => {
  it('ends at once, as it has no node to wait for', () => {
    const { nodeName: _name, ...spec } = aDisruption().spec;
    const model = new Model(
      observe({ disruption: { ...aDisruption(), spec }, node: undefined, pods: [] }),
    );
    model.settle();
    expect(model.status).toMatchObject({ message: 'the instance never became a node' });
    expect(statusIn(decideDisruption(model.observation))).toBeUndefined();
  });
});

describe('an instance that joins after its hook was completed for want of a node', () => {
  const late = (seconds: number, drain: DrainPolicy = {}): Model => {
    const { nodeName: _name, ...spec } = aDisruption().spec;
    const disruption = { ...aDisruption([aHookCause()]), spec };
    const model = new Model(observe({ disruption, node: undefined, pods: [] }));
    model.settle();
    if (model.status?.outcome !== 'NothingToDrain') throw new Error(`${model.status?.outcome}`);
    model.at(seconds);
    model.change({ node: aNode(), pods: [aPod('p1')], group: aGroup(drain) });
    model.settle();
    return model;
  };
  it('is marked at once and drained, and its hook is not completed again', () => {
    const model = late(60);
    expect(model.status).toMatchObject({ phase: 'Draining', hooks: [{ state: 'Completed' }] });
    expect(model.observation.node?.spec.unschedulable).toBe(true);
    expect(model.done.filter((step) => step === 'CompleteHook')).toHaveLength(1);
  });
  it.each([
    ['half an hour later', 1_801, {}],
    ['where the policy does not ask for it', 60, { lateNodes: { withinSeconds: 0 } }],
  ] as const)('is left alone %s', (_when, seconds, drain) => {
    expect(late(seconds, drain).status).toMatchObject({ phase: 'Ended', episode: 1 });
  });
});
