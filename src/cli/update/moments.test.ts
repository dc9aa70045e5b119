// What an update shows of each node in special cases: a node's own turn, the surplus at the end,
// old nodes that are not started, an ended update, an update that no controller has started.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  anUpdate,
  aPart,
  blocked,
  held,
  now,
  running,
} from '../../../test/builders/cli-update.ts';
import { timePlus } from '../../../test/builders/core-termination.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { type UpdateFacts, updateView } from '../../core/overview/index.ts';
import { abortVerdict, pauseVerdict } from '../../core/update/index.ts';
import { describeLines } from './document.ts';
import { headerLines, screenLines } from './screen.ts';

const view = (more: Partial<UpdateFacts> = {}) =>
  updateView({ update: anUpdate(), group: aGroup(), disruptions: [], ...more });

const phase = (name: 'ScalingDown' | 'Restoring', at: number) => ({
  ...running,
  phase: name,
  phases: [...(running.phases ?? []), { phase: name, at: timePlus(at) }],
});

describe('since when a node is at work', () => {
  const turn = { markedAt: timePlus(140), heldUntil: timePlus(600), podsRemaining: 3 } as const;
  it.each([
    ['drained from its own turn on', { ...turn }, timePlus(600)],
    ['given another turn before its marks', { ...turn, heldUntil: timePlus(100) }, timePlus(140)],
    [
      'terminated from when it was empty on',
      { ...turn, phase: 'Completing', drainedAt: timePlus(700) },
      timePlus(700),
    ],
  ] as const)('%s', (_what, status, since) => {
    expect(view({ disruptions: [aPart(1, status)] }).nodes[0]?.since).toBe(since);
  });
});

describe('the surplus in ScalingDown', () => {
  const late = { receivedAt: timePlus(610), followUp: 'Terminate' } as const;
  it('is shown with pod, budget and deadline', () => {
    const [{ status }] = [blocked(1)];
    const update = anUpdate({ status: phase('ScalingDown', 600) });
    const lines = screenLines(view({ update, disruptions: [aPart(1, status, late)] }), now, {
      columns: 120,
      rows: 24,
    });
    expect(lines.join('\n')).toMatch(
      /n1 {2}of the surplus; draining for .*, 1 of 8 pods left, gives up in 12m30s\n.*web\/web-1-0.*budget web\/web/,
    );
  });

  it('that EC2 Auto Scaling chose, with force, is shown too, and none that it chose before or after', () => {
    const confirmed = {
      confirmation: { state: 'Confirmed', at: late.receivedAt, reason: 'EC2' },
    } as const;
    const hook = {
      ...late,
      kind: 'LifecycleHook',
      ...confirmed,
      id: 'hook/1',
      followUp: 'Release',
    } as const;
    const chosen = aPart(1, { deadline: timePlus(1500), onDeadline: 'force' }, hook);
    const update = anUpdate({ spec: { force: true }, status: phase('ScalingDown', 600) });
    expect(view({ update, disruptions: [chosen] }).nodes).toMatchObject([
      { state: 'inFlight', what: 'of the surplus; draining', onDeadline: 'force' },
    ]);
    const gone = { ...chosen, status: { ...over, handledCauses: ['hook/1'] } };
    expect(view({ update, disruptions: [gone] }).nodes).toMatchObject([{ state: 'takenBack' }]);
    const early = aPart(1, {}, { ...hook, receivedAt: timePlus(500) });
    expect(view({ update, disruptions: [early] }).nodes).toEqual([]);
    const ended = { ...phase('ScalingDown', 600), status: 'Successful', endedAt: timePlus(605) };
    const done = anUpdate({ status: ended as typeof running });
    expect(view({ update: done, disruptions: [chosen] }).nodes).toEqual([]);
  });

  const over = { episode: 1, phase: 'Ended', outcome: 'Drained' } as const;
});

describe('old nodes that nobody has begun', () => {
  const old = [
    { name: 'n1', instanceId: 'i-1' },
    { name: 'n2', instanceId: 'i-2' },
  ];
  it('are listed while it runs', () => {
    const lines = describeLines(view({ old, disruptions: [blocked(1)] }), now);
    const at = lines.indexOf('not begun:');
    expect(lines.slice(at, at + 2)).toEqual(['not begun:', '  n2  not begun']);
    expect(lines.filter((line) => line.includes('n1  '))).toHaveLength(1);
    const ended = anUpdate({ status: { ...running, status: 'Failed' } });
    expect(view({ update: ended, old }).nodes).toEqual([]);
  });
});

it('nothing waits for its turn in an update that is over', () => {
  const failed = anUpdate({ status: { ...running, status: 'Failed' } });
  expect(view({ disruptions: [held(1)] }).nodes).toHaveLength(1);
  expect(view({ update: failed, disruptions: [held(1)] }).nodes).toEqual([]);
});

it('one that does not say yet what it began with began with what the group is', () => {
  const { status, ...group } = aGroup();
  const releaseVersion = '1.32.9-20260905';
  const known = { ...group, status: { ...status, releaseVersion } } as NodeGroup;
  const update = anUpdate({ status: undefined });
  expect(headerLines(view({ update, group: known }), now)[0]).toBe(
    'ng in c: 1.32.9-20260905 -> 1.32.9-20260919  (VersionUpdate u1)',
  );
});

describe('a pause', () => {
  it.each([
    [{}, 'has replaced all nodes and only sets back'],
    [{ ending: 'Failed' }, 'is being set back already, and ends as Failed'],
  ] as const)('is refused in Restoring with %o, which nothing holds', (more, words) => {
    const update = anUpdate({ status: { ...phase('Restoring', 600), ...more } });
    expect(pauseVerdict(update, true)).toEqual({
      kind: 'refused',
      text: expect.stringContaining(words),
    });
    const earlier = anUpdate({ status: phase('ScalingDown', 600) });
    expect(pauseVerdict(earlier, true)).toMatchObject({ patch: { spec: { paused: true } } });
  });
});

describe('what an abort says', () => {
  const text = (status: Partial<typeof running> | undefined, rollback = false) =>
    abortVerdict(anUpdate({ status: status && { ...running, ...status } }), rollback).text;
  const green = { strategy: 'BLUE_GREEN' } as const;
  const none = { total: 5, done: 0, draining: 0, failed: 0 };
  it.each([
    [undefined, 'it had not begun'],
    [{ phase: 'Pending' }, 'it had not begun'],
    [{ ...green, phase: 'Soaking' }, 'goes back to its old nodes, all of them'],
    [
      { ...phase('ScalingDown', 600), ...green },
      'all new nodes are there; old nodes that were asked to go still go',
    ],
    [{ ...phase('Restoring', 600), ending: 'Failed' }, 'set back already, and ends as Failed'],
    [phase('ScalingDown', 600), 'all new nodes are there; the surplus still goes'],
    [{ phase: 'ScalingUp', progress: none }, 'no node was replaced'],
    [{}, 'the group keeps nodes of both revisions'],
  ] as const)('of %o: %s', (status, words) => {
    expect(text(status as Partial<typeof running> | undefined)).toContain(words);
  });
  it.each([
    [{}, 'running drains finish; nodes already updated are replaced again'],
    [
      { phase: 'ScalingUp', progress: none },
      'no node was replaced, and the group keeps its old ones; what was made for it goes; then a rollback sets back what the group asks for',
    ],
    [{ ...green, phase: 'Soaking' }, 'goes back to its old nodes'],
    [phase('ScalingDown', 600), 'the surplus still goes; then a rollback replaces the new ones'],
    [
      { ...phase('ScalingDown', 600), ...green },
      'old nodes that were asked to go still go; then a rollback replaces the new ones',
    ],
    [phase('Restoring', 600), 'ends as Successful; then a rollback replaces them again'],
    [
      { ...phase('Restoring', 600), ending: 'Failed' },
      'ends as Failed; then a rollback takes back what it has done',
    ],
  ] as const)('with a rollback, of %o: %s', (status, words) => {
    expect(text(status as Partial<typeof running>, true)).toContain(words);
  });
  it('is refused where nothing is left to stop, and names what goes back', () => {
    const update = anUpdate({ status: { ...running, ...phase('Restoring', 600) } });
    expect(abortVerdict(update, false)).toEqual({
      kind: 'refused',
      text: expect.stringMatching(
        /nothing is left to stop. `drover rollback nodegroup ng` goes back/,
      ),
    });
  });
});
