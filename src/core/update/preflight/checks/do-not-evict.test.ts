// Tests of the check do-not-evict: each case is a snapshot and the findings that the check reports.
import { describe, expect, it } from 'vitest';
import { aPod, briefOf, findingsOf } from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { doNotEvict } from './do-not-evict.ts';

const annotated = (key: string, value: string, started = 600) =>
  aPod('p1', { annotations: { [key]: value }, started });
const karpenter = 'karpenter.sh/do-not-disrupt';
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ["Karpenter's", { pods: [annotated(karpenter, 'true')] }, ['blocker StatefulSet demo/web']],
  ["Karpenter's, false", { pods: [annotated(karpenter, 'false')] }, []],
  [
    "Karpenter's for an hour from the start",
    { pods: [annotated(karpenter, '1h')] },
    ['blocker StatefulSet demo/web'],
  ],
  ['a time that is over', { pods: [annotated(karpenter, '5m')] }, []],
  [
    "a time that ends before the node's turn",
    { pods: [annotated(karpenter, '12m')] },
    ['warning StatefulSet demo/web'],
  ],
  [
    "the autoscaler's",
    { pods: [annotated('cluster-autoscaler.kubernetes.io/safe-to-evict', 'false')] },
    ['blocker StatefulSet demo/web'],
  ],
  [
    "the autoscaler's, true",
    { pods: [annotated('cluster-autoscaler.kubernetes.io/safe-to-evict', 'true')] },
    [],
  ],
  [
    'our own',
    { pods: [annotated('drover.dev/do-not-evict', 'true')] },
    ['blocker StatefulSet demo/web'],
  ],
];

describe('do-not-evict', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(doNotEvict, more))).toEqual(expected);
  });
});
