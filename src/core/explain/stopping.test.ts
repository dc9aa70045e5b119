import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aManualCause,
  aPod,
  blocked,
  kubeTimePlus,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { NodeDisruptionStatus, WaitingOn } from '../../api/disruption.ts';
import { explainDisruption } from './explain.ts';
import { withStopping } from './stopping.ts';

const draining = (waitingOn: readonly WaitingOn[], more: Partial<NodeDisruptionStatus> = {}) =>
  aDisruption([aManualCause()], {
    episode: 1,
    phase: 'Draining',
    startedAt: timePlus(0),
    waitingOn,
    ...more,
  });
const stopping = (name: string, ends: number) =>
  aPod(name, { deletionTimestamp: kubeTimePlus(ends) });
const waits = (...given: Parameters<typeof withStopping>): readonly string[] =>
  explainDisruption(withStopping(...given)).filter((line) => line.startsWith('waits: '));

describe('the explanation of a drain', () => {
  it('names the pods that are stopping, since when and until when', () => {
    expect(waits(draining([]), [stopping('p1', 30), aPod('p2')], tPlus(3))).toEqual([
      expect.stringMatching(/^waits: pod demo\/p1 is stopping, since .*; grace ends at .*:30/),
    ]);
  });

  it('says of a pod that is stopping nothing that the status still says', () => {
    const lines = waits(draining(blocked), [stopping('p1', 30)], tPlus(3));
    expect(lines).toEqual([expect.stringContaining('pod demo/p1 is stopping')]);
  });

  it('drops what has stopped since the status was written, and keeps what else it says', () => {
    const gone: WaitingOn = {
      kind: 'termination',
      pod: 'demo/p9',
      why: 'grace',
      since: timePlus(0),
      graceEndsAt: timePlus(30),
    };
    const lines = waits(draining([gone, ...blocked]), [aPod('p1')], tPlus(3));
    expect(lines).toEqual([expect.stringContaining('waits for budget demo/web')]);
  });

  it('names twenty pods and counts the others', () => {
    const pods = Array.from({ length: 23 }, (_, i) => stopping(`p${i}`, 30));
    expect(waits(draining([]), pods, tPlus(3)).at(-1)).toBe('waits: and 3 more');
  });

  it.each([
    ['only counts', 'p', 10],
    ['names', 'b', 20],
  ])('counts once a pod that is stopping and that the status %s', (_, prefix, count) => {
    const named: readonly WaitingOn[] = Array.from({ length: 20 }, (_, i) => ({
      kind: 'pdb',
      pod: `demo/b${i}`,
      budgets: ['demo/web'],
      message: 'needs 3 healthy pods and has 3',
      neverAllows: false,
    }));
    const pods = Array.from({ length: count }, (_, i) => stopping(`${prefix}${i}`, 30));
    const shown = withStopping(draining(named, { waitingOnTotal: 30 }), pods, tPlus(3));
    expect(shown.status?.waitingOnTotal).toBe(30);
  });

  it('leaves a drain that is over, and pods of DaemonSets, as they are', () => {
    const over = draining([], { phase: 'Ended' });
    expect(waits(over, [stopping('p1', 30)], tPlus(3))).toEqual([]);
    const daemon = aPod('d', { owner: 'DaemonSet/x', deletionTimestamp: kubeTimePlus(30) });
    expect(waits(draining([]), [daemon], tPlus(3))).toEqual([]);
  });
});
