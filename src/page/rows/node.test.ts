// The row of a node: its state letter, and its blocker with start and end.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aManualCause,
  aMarkedNode,
  aNode,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { NodeDisruptionStatus, WaitingOn } from '../../api/disruption.ts';
import type { Condition, Node } from '../../api/kube.ts';
import type { PageWait, PhaseLetter } from '../../api/page.ts';
import { healthIn } from '../../core/overview/index.ts';
import { nodeRowOf } from './index.ts';

const noPods = { cpu: 0, memory: 0, pods: 0 };

/** The row two minutes into the test; `status` is that of the node's drain. */
const rowOf = (node: Node, status?: NodeDisruptionStatus) => {
  const disruptions = status === undefined ? [] : [aDisruption([aManualCause()], status)];
  const [one] = healthIn({ nodes: [node], groups: [], disruptions, repairs: [] }, tPlus(120));
  if (one === undefined) throw new Error('a node has a health');
  return nodeRowOf(one, { usage: noPods, update: undefined });
};

const aStatus = (more: Partial<NodeDisruptionStatus> = {}): NodeDisruptionStatus => ({
  episode: 1,
  phase: 'Draining',
  startedAt: timePlus(1),
  markedAt: timePlus(2),
  podsTotal: 3,
  podsRemaining: 3,
  ...more,
});

const withConditions = (...conditions: readonly Condition[]): Node => {
  const node = aNode();
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: timePlus(-3600) } as const;
  return { ...node, status: { conditions: [ready, ...conditions] } };
};
const joining = (): Node => {
  const node = aNode({ ready: false });
  return { ...node, metadata: { ...node.metadata, creationTimestamp: timePlus(60) } };
};
const deleted = (): Node => {
  const node = aNode();
  return { ...node, metadata: { ...node.metadata, deletionTimestamp: timePlus(0) } };
};
const short: Condition = {
  type: 'MemoryPressure',
  status: 'True',
  lastTransitionTime: timePlus(30),
};
const broken: Condition = {
  type: 'StorageReady',
  status: 'False',
  reason: 'ReadonlyFilesystem',
  lastTransitionTime: timePlus(30),
};
const cooldown: WaitingOn = { kind: 'cooldown', until: timePlus(200) };
const hold: WaitingOn = { kind: 'hold', by: 'update u1' };

describe('the letter of a node', () => {
  const rows: readonly [string, Node, NodeDisruptionStatus | undefined, PhaseLetter][] = [
    ['Ready', aNode(), undefined, ''],
    ['young and not Ready', joining(), undefined, 'J'],
    ['old and not Ready', aNode({ ready: false }), undefined, 'X'],
    ['short of memory', withConditions(short), undefined, 'P'],
    ['with a read-only disk, and short of memory', withConditions(broken, short), undefined, 'X'],
    ['cordoned by hand', aNode({ unschedulable: true }), undefined, 'C'],
    ['being deleted', deleted(), undefined, 'T'],
    ['in a drain that has not marked it', aNode(), aStatus({ phase: 'Pending' }), 'C'],
    ['draining', aMarkedNode(), aStatus(), 'D'],
    ['draining, and unhealthy', aMarkedNode({ ready: false }), aStatus(), 'D'],
    ['held before its first eviction', aMarkedNode(), aStatus({ waitingOn: [hold] }), 'H'],
    ['drained to its last pod', aMarkedNode(), aStatus({ podsRemaining: 0 }), 'E'],
    [
      'empty, while load balancers remove it',
      aMarkedNode(),
      aStatus({ phase: 'Completing', waitingOn: [cooldown] }),
      'E',
    ],
    ['drained, its hook being completed', aMarkedNode(), aStatus({ phase: 'Completing' }), 'T'],
    [
      'drained, its instance on its way out',
      aMarkedNode(),
      aStatus({ phase: 'Ended', outcome: 'Drained', followUp: 'Terminate' }),
      'T',
    ],
    [
      'left cordoned by a drain that was to release it',
      aMarkedNode(),
      aStatus({ phase: 'Ended', outcome: 'Drained', followUp: 'Release' }),
      'C',
    ],
    [
      'cordoned after a drain that failed',
      aMarkedNode(),
      aStatus({ phase: 'Ended', outcome: 'Failed', followUp: 'Terminate' }),
      'C',
    ],
  ];
  for (const [state, node, status, letter] of rows) {
    it(`of one ${state} is ${letter === '' ? 'none' : letter}`, () => {
      expect(rowOf(node, status).letter).toBe(letter);
    });
  }
});

const pdb: WaitingOn = {
  kind: 'pdb',
  pod: 'demo/p1',
  budgets: ['demo/web'],
  message: 'full',
  neverAllows: false,
  since: timePlus(5),
};
const grace: WaitingOn = {
  kind: 'termination',
  pod: 'demo/p2',
  since: timePlus(6),
  graceEndsAt: timePlus(36),
  why: 'grace',
};

describe('the wait of a node', () => {
  const deadline = { deadline: timePlus(900), onDeadline: 'force' } as const;
  const rows: readonly [string, NodeDisruptionStatus, Partial<PageWait>][] = [
    [
      'names the budget, since its own start until the deadline of the drain',
      aStatus({ waitingOn: [pdb], ...deadline }),
      { cause: 'budget demo/web', since: timePlus(5), until: timePlus(900), atEnd: 'force' },
    ],
    [
      'prefers the pod’s own time to be forced',
      aStatus({ waitingOn: [{ ...pdb, forceAt: timePlus(600) }], ...deadline }),
      { until: timePlus(600), atEnd: 'force' },
    ],
    [
      'has no end where nothing ends it',
      aStatus({ waitingOn: [pdb] }),
      { until: null, atEnd: null },
    ],
    [
      'passes over what ends by itself, and counts the rest',
      aStatus({ waitingOn: [grace, pdb], waitingOnTotal: 7 }),
      { cause: 'budget demo/web', more: 6 },
    ],
    [
      'is progress while pods only stop',
      aStatus({ waitingOn: [grace] }),
      { cause: 'progress', until: timePlus(36), atEnd: null },
    ],
    [
      'begins with the drain where it has no start of its own',
      aStatus({ phase: 'Completing', waitingOn: [cooldown], ...deadline }),
      { cause: 'load balancers', since: timePlus(1), until: timePlus(200), atEnd: null },
    ],
    [
      'names the update that holds it',
      aStatus({ waitingOn: [hold] }),
      { cause: 'update u1', since: timePlus(1) },
    ],
  ];
  for (const [what, status, wait] of rows) {
    it(what, () => expect(rowOf(aMarkedNode(), status).wait).toMatchObject(wait));
  }

  it('is none of a Ready node, and none of a drain that has failed', () => {
    expect(rowOf(aNode()).wait).toBeNull();
    expect(rowOf(aNode(), aStatus({ phase: 'Ended', outcome: 'Failed' })).wait).toBeNull();
  });

  it('of a node that joins ends with the time that it has for it', () => {
    const { wait } = rowOf(joining());
    expect(wait).toMatchObject({ cause: 'nodes that join', since: timePlus(60) });
    expect(Date.parse(wait?.until ?? '')).toBeGreaterThan(tPlus(120));
  });
});
