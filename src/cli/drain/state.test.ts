// What a NodeDisruption means for a command that waits for it.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aHookCause,
  aManualCause,
  timePlus,
} from '../../../test/builders/core-termination.ts';
import type {
  DisruptionCause,
  NodeDisruption,
  NodeDisruptionStatus,
} from '../../api/disruption.ts';
import { drainState, exitCodeOf, undrainDecision, undrainState, worstOf } from './state.ts';

type Status = Partial<NodeDisruptionStatus> & Pick<NodeDisruptionStatus, 'phase'>;
const some = (
  status: Status | undefined,
  causes: readonly DisruptionCause[] = [aManualCause()],
): NodeDisruption =>
  aDisruption(causes, status === undefined ? undefined : { episode: 1, ...status });
const handled = ['manual/1'];
const ended = (more: Partial<NodeDisruptionStatus>): Status => ({
  phase: 'Ended',
  handledCauses: handled,
  endedAt: timePlus(100),
  ...more,
});
const gone = aManualCause({ cancelledAt: timePlus(5) });
const owned = { excludeLabel: true, unschedulable: true, taint: false, annotation: false };
const none = { excludeLabel: false, unschedulable: false, taint: false, annotation: false };

describe('drainState and its exit code', () => {
  it.each<[string, NodeDisruption | undefined, string, number]>([
    ['nobody has acted', some(undefined), 'unclaimed', 4],
    ['an earlier drain has ended', some({ phase: 'Ended', outcome: 'Drained' }), 'unclaimed', 4],
    ['it goes on', some({ phase: 'Draining' }), 'working', 4],
    ['it is empty', some(ended({ outcome: 'Drained' })), 'ended', 0],
    ['it went by force', some(ended({ outcome: 'Forced' })), 'ended', 0],
    ['there was nothing', some(ended({ outcome: 'NothingToDrain' })), 'ended', 0],
    ['its instance went', some(ended({ outcome: 'InstanceGone' })), 'ended', 0],
    ['it failed early', some(ended({ outcome: 'Failed' })), 'ended', 1],
    [
      'it failed before its deadline',
      some(ended({ outcome: 'Failed', deadline: timePlus(500) })),
      'ended',
      1,
    ],
    ['its deadline came', some(ended({ outcome: 'Failed', deadline: timePlus(100) })), 'ended', 4],
    ['it was withdrawn', some(ended({ outcome: 'Cancelled' }), [gone]), 'ended', 1],
    [
      'it was withdrawn before it began',
      some({ phase: 'Ended', outcome: 'Cancelled' }, [gone]),
      'ended',
      1,
    ],
    [
      'an update opened the next episode after it',
      some({
        phase: 'Draining',
        handledCauses: handled,
        previous: { episode: 1, outcome: 'Drained', endedAt: timePlus(100) },
      }),
      'ended',
      0,
    ],
    ['its record was deleted', undefined, 'gone', 1],
  ])('%s', (_, disruption, kind, code) => {
    const state = drainState(disruption, 'manual/1');
    expect(state.kind).toBe(kind);
    expect(exitCodeOf(state)).toBe(code);
  });

  it('of several, a failure weighs more than a time that has run out', () => {
    expect([worstOf([0, 4, 1]), worstOf([0, 4]), worstOf([0]), worstOf([])]).toEqual([1, 4, 0, 0]);
  });
});

describe('undrainDecision', () => {
  const rebalance = aManualCause({ kind: 'RebalanceRecommendation', id: 'rebalance/1' });
  const spot = aHookCause({ kind: 'SpotInterruption', id: 'spot/1' });
  it.each<[string, NodeDisruption | undefined, string]>([
    ['nothing recorded', undefined, 'nothing'],
    ['a drain that nobody has begun', some(undefined), 'withdraw'],
    ['a drain under way', some({ phase: 'Draining' }), 'withdraw'],
    ['a hook beside it', some({ phase: 'Draining' }, [aManualCause(), aHookCause()]), 'refused'],
    ['a hook alone', some({ phase: 'Marking' }, [aHookCause()]), 'refused'],
    ['a spot notice', some(undefined, [spot]), 'refused'],
    ['a rebalance recommendation', some({ phase: 'Draining' }, [rebalance]), 'withdraw'],
    [
      'a rebalance recommendation that nothing followed',
      some(ended({ ownedMarks: owned, handledCauses: ['rebalance/1'] }), [rebalance]),
      'withdraw',
    ],
    ['a hook beside a recommendation', some(undefined, [rebalance, aHookCause()]), 'refused'],
    ['ended, cordoned by us', some(ended({ ownedMarks: owned })), 'withdraw'],
    ['ended, nothing of ours left', some(ended({ ownedMarks: none })), 'nothing'],
    [
      'ended for a hook too',
      some(ended({ ownedMarks: owned, handledCauses: ['manual/1', aHookCause().id] }), [
        aManualCause(),
        aHookCause(),
      ]),
      'refused',
    ],
    ['being uncordoned', some({ phase: 'Undoing' }, [gone]), 'withdraw'],
  ])('%s', (_, disruption, kind) => {
    expect(undrainDecision(disruption).kind).toBe(kind);
  });
});

describe('undrainState', () => {
  it.each<[string, NodeDisruption | undefined, string]>([
    ['no record', undefined, 'undone'],
    ['never begun', some(undefined, [gone]), 'undone'],
    ['not seen yet', some({ phase: 'Draining' }, [gone]), 'unclaimed'],
    ['ended, marks still there', some(ended({ ownedMarks: owned }), [gone]), 'unclaimed'],
    ['under way', some({ phase: 'Undoing' }, [gone]), 'working'],
    ['marks gone', some(ended({ ownedMarks: none }), [gone]), 'undone'],
    ['ended before any mark', some(ended({}), [gone]), 'undone'],
  ])('%s', (_, disruption, kind) => {
    expect(undrainState(disruption).kind).toBe(kind);
  });
});
