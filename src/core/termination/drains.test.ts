import { describe, expect, it } from 'vitest';
import type { NodeDisruptionStatus } from '../../api/disruption.ts';
import { classifyPods } from '../drain/index.ts';
import { demandOf } from './causes.ts';
import { batchBlocker, drainOf, type Unmarked, unmarkedOf } from './drains.ts';
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
} from './testing.ts';

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

describe('the batch', () => {
  it('is waited for until every node that was asked for before shows its marks', () => {
    expect(batchBlocker(draining, [other], tPlus(2))).toEqual({
      kind: 'batch',
      nodes: ['n2'],
      until: timePlus(6),
    });
    expect(batchBlocker(draining, [], tPlus(2))).toBeUndefined();
  });
  it('does not include a node that was asked for after these marks', () => {
    expect(
      batchBlocker(draining, [{ ...other, receivedAt: tPlus(1.5) }], tPlus(2)),
    ).toBeUndefined();
  });
  it('is not waited for longer than five seconds', () => {
    expect(batchBlocker(draining, [other], tPlus(5.999))).toBeDefined();
    expect(batchBlocker(draining, [other], tPlus(6))).toBeUndefined();
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
    readonly unmarked?: readonly Unmarked[];
    readonly pod?: ReturnType<typeof aPod>;
    readonly at?: number;
  }
  const drain = ({ status = {}, node = aMarkedNode(), unmarked = [], ...more }: Case = {}) => {
    const disruption = aDisruption([aHookCause()], { ...draining, ...status });
    const now = tPlus(more.at ?? 2);
    const classified = classifyPods([more.pod ?? aPod('p1')], { markedAt: tPlus(1) });
    const demand = demandOf(observe({ disruption, node, now }));
    return drainOf({ disruption, node, classified, demand, unmarked, compat: 'eks', now });
  };

  it('may evict once its marks and those of its batch are visible', () => {
    expect(drain()?.mayEvict).toBe(true);
    expect(drain({ unmarked: [other] })?.mayEvict).toBe(false);
    expect(drain({ unmarked: [other], at: 6 })?.mayEvict).toBe(true);
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
