import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aHookCause,
  aManualCause,
  aMarkedNode,
  aNode,
  aPod,
  kubeTimePlus,
  observe,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { NodeDisruptionStatus } from '../../api/disruption.ts';
import { classifyPods } from '../drain/index.ts';
import { demandOf } from './causes.ts';
import { batchBlocker, batchOf, drainOf, type Unmarked, unmarkedOf } from './drains.ts';

const draining: NodeDisruptionStatus = {
  episode: 1,
  phase: 'Draining',
  startedAt: timePlus(0),
  markedAt: timePlus(1),
  deadline: timePlus(900),
  onDeadline: 'force',
  node: { name: 'n1', uid: 'uid-n1' },
};
const other: Unmarked = { node: 'n2', receivedAt: tPlus(0.5) };

const blockerAt = (
  seconds: number,
  unmarked: readonly Unmarked[],
  arrivals: Readonly<Record<string, number>> = {},
) => {
  const disruption = aDisruption([aHookCause()], draining);
  const all = [
    { id: disruption.metadata.name, receivedAt: tPlus(0), unmarked: undefined },
    ...unmarked.map((each) => ({ id: each.node, receivedAt: each.receivedAt, unmarked: each })),
    ...Object.entries(arrivals).map(([id, at]) => ({
      id,
      receivedAt: tPlus(at),
      unmarked: undefined,
    })),
  ];
  const now = tPlus(seconds);
  return batchBlocker(disruption, batchOf(all, now), now);
};

describe('the batch', () => {
  it('is waited for until every node that was asked for before shows its marks', () => {
    expect(blockerAt(2, [other])).toEqual({ kind: 'batch', nodes: ['n2'], until: timePlus(6) });
    expect(blockerAt(2, [])).toBeUndefined();
  });
  it('does not include a node that was asked for after these marks', () => {
    expect(blockerAt(2, [{ ...other, receivedAt: tPlus(1.5) }])).toBeUndefined();
  });
  it('is not waited for longer than five seconds', () => {
    expect(blockerAt(5.999, [other])).toBeDefined();
    expect(blockerAt(6, [other])).toBeUndefined();
  });
  it('is open while further nodes are asked for, until 100 ms of silence', () => {
    const open = { kind: 'batch', nodes: [], until: timePlus(2.05) };
    expect(blockerAt(2, [], { n3: 1.95 })).toEqual(open);
    expect(blockerAt(2.049, [], { n3: 1.95 })).toEqual(open);
    expect(blockerAt(2.05, [], { n3: 1.95 })).toBeUndefined();
    expect(blockerAt(5.95, [], { n3: 5.94 })).toMatchObject({ until: timePlus(6) });
    expect(blockerAt(6, [], { n3: 5.99 })).toBeUndefined();
  });
  it('is not kept open by itself, nor by a clock that is ahead', () => {
    expect(blockerAt(2, [], { 'i-0123456789abcdef0': 1.95 })).toBeUndefined();
    expect(blockerAt(2, [], { n3: 2.01 })).toBeUndefined();
  });
  it('counts nodes that exist and lack a mark', () => {
    const fresh = aDisruption([aManualCause({ receivedAt: timePlus(3) }), aHookCause()]);
    expect(unmarkedOf(fresh, aNode(), 'eks')).toEqual({ node: 'n1', receivedAt: tPlus(0) });
    expect(unmarkedOf(fresh, aMarkedNode(), 'eks')).toBeUndefined();
    expect(unmarkedOf(fresh, aMarkedNode(), 'native')).toBeDefined();
    expect(unmarkedOf(fresh, undefined, 'eks')).toBeUndefined();
    expect(unmarkedOf(aDisruption([aHookCause()], draining), aNode(), 'eks')).toBeUndefined();
  });
});

describe('drainOf', () => {
  interface Case {
    readonly status?: Partial<NodeDisruptionStatus>;
    readonly node?: ReturnType<typeof aNode>;
    readonly pod?: ReturnType<typeof aPod>;
  }
  const drain = ({ status = {}, node = aMarkedNode(), pod = aPod('p1') }: Case = {}) => {
    const disruption = aDisruption([aHookCause()], { ...draining, ...status });
    const now = tPlus(2);
    const classified = classifyPods([pod], { markedAt: tPlus(1) });
    const demand = demandOf(observe({ disruption, node, now }));
    return drainOf({ disruption, node, classified, demand, compat: 'eks' });
  };

  it('may evict once its marks are visible', () => {
    expect(drain()?.mayEvict).toBe(true);
  });
  it('may not evict when a mark was taken away, or the node is another one', () => {
    expect(drain({ node: aMarkedNode({ unschedulable: false }) })?.mayEvict).toBe(false);
    expect(drain({ node: aMarkedNode({ uid: 'uid-new' }) })?.mayEvict).toBe(false);
  });
  it('is none before the phase Draining stands in the status', () => {
    expect(drain({ status: { phase: 'Marking' } })).toBeUndefined();
  });
  it('forces only with the intent in the status, for the deadline that stands there', () => {
    expect(drain()?.forcing).toBe(false);
    expect(drain({ status: { forcingSince: timePlus(860) } })?.forcing).toBe(true);
    const older = { forcingSince: timePlus(860), deadline: timePlus(950) };
    expect(drain({ status: older })?.forcing).toBe(false);
  });
  it('leaves out a pod that came back until that is recorded', () => {
    const pod = aPod('p1', { createdAt: kubeTimePlus(2), tolerations: [{ operator: 'Exists' }] });
    expect(drain({ pod })?.pods).toEqual([]);
    const boomerangs = [{ owner: 'uid-web', podUids: ['uid-p1'] }];
    expect(drain({ pod, status: { boomerangs } })?.pods).toHaveLength(1);
  });
});
