// What drover explain adds to core's words: history, marks and whose they are, an idle controller.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aManualCause,
  aMarkedNode,
  aNode,
  timePlus,
} from '../../core/termination/testing.ts';
import { explainLines, historyOf, marksDocument } from './explain.ts';

const owned = { excludeLabel: true, unschedulable: false, taint: false, annotation: false };
const draining = aDisruption([aManualCause()], {
  episode: 1,
  phase: 'Draining',
  startedAt: timePlus(1),
  markedAt: timePlus(2),
  node: { name: 'n1', uid: 'uid-n1' },
  ownedMarks: owned,
});

describe('drover explain', () => {
  it('tells when each phase was reached, in order', () => {
    expect(historyOf(draining)).toEqual([
      { what: 'recorded', at: timePlus(0) },
      { what: 'begun', at: timePlus(1) },
      { what: 'marked', at: timePlus(2) },
    ]);
  });

  it('tells our marks from those of others', () => {
    const subject = { node: aMarkedNode(), disruption: draining };
    expect(marksDocument(subject)).toEqual([
      { mark: 'excluded from load balancers', ours: true },
      { mark: 'cordoned', ours: false },
    ]);
    expect(explainLines(subject)).toContain('`kubectl uncordon n1` lifts that cordon');
  });

  it('claims no mark on a node that has come anew under the same name', () => {
    const node = aMarkedNode({ uid: 'uid-other' });
    expect(marksDocument({ node, disruption: draining }).some(({ ours }) => ours)).toBe(false);
  });

  it('says so when nothing is held', () => {
    expect(explainLines({ node: aNode(), disruption: undefined })).toEqual([
      'node n1: drover holds nothing on it',
      'no marks on the node',
    ]);
  });

  it('says so when no controller has acted, and when the node is gone', () => {
    const text = explainLines({ node: undefined, disruption: aDisruption() }).join('\n');
    expect(text).toMatch(/no controller has acted on it yet/);
    expect(text).toMatch(/the node itself is gone/);
    expect(explainLines({ node: aNode(), disruption: draining }).join()).not.toMatch(
      /no controller/,
    );
  });
});
