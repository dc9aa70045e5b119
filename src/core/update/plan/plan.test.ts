// The plan as a whole: the same snapshot gives the same plan; verdict, waivers, totals, staleness.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aGroup,
  aNode,
  aPod,
  aSnapshot,
  timeAgo,
} from '../../../../test/builders/core-update-preflight.ts';
import type { NodeGroupUpdateSpec } from '../../../api/nodegroup-update.ts';
import { policiesOf } from '../policy.ts';
import type { Snapshot } from '../preflight/index.ts';
import { planUpdate, snapshotBasis } from './index.ts';

const zones = ['a', 'b', 'c'];
const nodes = (count: number) =>
  Array.from({ length: count }, (_, i) => aNode(`n${i + 1}`, { zone: zones[i % 3] ?? 'a' }));
const web = (count: number) =>
  Array.from({ length: 2 * count }, (_, i) =>
    aPod(`web-${i}`, { node: `n${(i % count) + 1}`, owner: 'ReplicaSet/web' }),
  );
const subnets = zones.map((zone) => ({ id: `subnet-${zone}`, zone, freeAddresses: 200 }));
const five = (more: Partial<Snapshot> = {}): Snapshot =>
  aSnapshot({
    nodes: nodes(5),
    pods: web(5),
    budgets: [aBudget('web', 10)],
    subnets,
    group: aGroup({
      sizes: { minSize: 1, maxSize: 10, desired: 5 },
      subnets: subnets.map(({ id }) => id),
    }),
    ...more,
  });
const surge = aGroup({
  strategy: 'SURGE',
  sizes: { minSize: 1, maxSize: 10, desired: 5 },
  subnets: subnets.map(({ id }) => id),
});

describe('a plan', () => {
  it('is the same for the same snapshot', () => {
    expect(planUpdate(five())).toEqual(planUpdate(five()));
  });

  it('is surer of its minutes where the cloud is known to be no slower in one run than in another', () => {
    const width = (commonSpread?: number): number => {
      const known = commonSpread === undefined ? {} : { commonSpread };
      const { p50, p90 } = planUpdate(five(), { times: known }).minutes;
      return p90 - p50;
    };
    expect(width(0)).toBeLessThan(width());
    expect(width(0.5)).toBeGreaterThan(width());
  });

  it('says which instance types a zone may get, where Drover’s own strategy has several', () => {
    const instanceTypes = ['m5.large', 'c5.large', 'm5.xlarge'];
    const spec = { containers: [{ name: 'a', resources: { requests: { memory: '5Gi' } } }] };
    const pods = [aPod('large', { node: 'n1', owner: 'ReplicaSet/large', spec })];
    const plan = planUpdate(five({ pods, group: { ...surge, instanceTypes } }));
    expect(plan.instanceTypes).toEqual({
      order: ['m5.large', 'm5.xlarge'],
      skipped: [{ type: 'c5.large', message: expect.stringContaining('5Gi of memory') }],
    });
    const ofEks = five({ pods, group: { ...five().group, instanceTypes } });
    expect(planUpdate(ofEks).instanceTypes).toBeUndefined();
  });

  it('of blue/green counts all new nodes first, the soak, and the node-hours that it costs', () => {
    const blueGreen = { ...surge, strategy: 'BLUE_GREEN', maxUnavailable: 1 } as const;
    const of = (soakSeconds: number, batchSoakSeconds = 0) =>
      planUpdate(five({ group: { ...blueGreen, soakSeconds, batchSoakSeconds } }));
    const plan = of(3600);
    expect(plan).toMatchObject({ verdict: 'ready', surge: 5, launches: 5, evictions: 10 });
    expect(plan.order).toBe('byZone');
    expect(plan.minutes.p50).toBeGreaterThan(60);
    expect(plan.minutes.p50 - of(0).minutes.p50).toBeCloseTo(60, 0);
    // Four batch soaks between five batches of one node; budgets recover during the soaks.
    const longer = of(0, 600).minutes.p50 - of(0).minutes.p50;
    expect(longer).toBeGreaterThan(37);
    expect(longer).toBeLessThanOrEqual(40.5);
    expect(plan.lowerBound.minutes).toBeLessThanOrEqual(plan.minutes.p50);
    expect(plan.extraNodeHours).toBeGreaterThan(5);
    expect(plan.extraNodeHours).toBeLessThan((5 * plan.minutes.p50) / 60);
    expect(plan.hash).not.toBe(of(60).hash);
    expect(planUpdate(five({ group: surge })).extraNodeHours).toBeLessThan(2);
  });

  it("counts launches and evictions: EKS' surplus and what lands on it come on top", () => {
    const plan = planUpdate(five());
    expect(plan).toMatchObject({
      verdict: 'ready',
      nodes: 5,
      pods: 10,
      surge: 6,
      launches: 11,
      order: 'random',
    });
    expect(plan.evictions).toBeGreaterThan(10);
    expect(plan.minutes.p90).toBeGreaterThan(plan.minutes.p50);
    expect(plan.minutes.p50).toBeGreaterThan(plan.lowerBound.minutes);
  });

  it("of Drover's strategy launches as many as there are nodes and evicts each pod once", () => {
    const plan = planUpdate(five({ group: surge }));
    expect(plan).toMatchObject({ launches: 5, evictions: 10, order: 'byZone' });
    expect(plan.batches.flatMap((batch) => batch.nodes)).toHaveLength(5);
  });

  it('has batches of maxUnavailable nodes, in order, with their times', () => {
    const plan = planUpdate(five({ group: { ...surge, maxUnavailable: 2 } }));
    expect(plan.batches.map((batch) => batch.nodes.length)).toEqual([2, 2, 1]);
    const starts = plan.batches.map(({ startMinute }) => startMinute);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  });

  it('counts what waves rest', () => {
    const plain = planUpdate(five({ group: surge })).minutes;
    const waves = [{ percent: 100, soakSeconds: 600 }];
    const rested = planUpdate(five({ group: surge, outlook: { holds: [], waves } }));
    expect(rested.minutes.p50).toBeCloseTo(plain.p50 + 10, 0);
    expect(rested.minutes.p90).toBeCloseTo(plain.p90 + 10, 0);
  });

  it('of nodes that are all of the target has nothing to do', () => {
    const all = nodes(5).map((node) => ({ ...node, isOld: false }));
    expect(planUpdate(five({ nodes: all }))).toMatchObject({
      verdict: 'upToDate',
      launches: 0,
      minutes: { p50: 0, p90: 0 },
      batches: [],
    });
  });

  it('measures boots and replacements where the cluster tells them', () => {
    const ready = { type: 'Ready', status: 'True' as const, lastTransitionTime: timeAgo(0) };
    const measured = nodes(5).map((one) => ({
      ...one,
      launchTime: timeAgo(33),
      node: { ...one.node, status: { ...one.node.status, conditions: [ready] } },
    }));
    const plan = planUpdate(five({ nodes: measured }));
    expect(plan.assumptions).toContainEqual({
      what: 'launch until Ready',
      p50Seconds: 33,
      p90Seconds: 43,
      source: 'measured on 5 nodes',
    });
  });

  it('says that nothing was measured, and takes what the embedded world usually takes', () => {
    const of = (more: Partial<Snapshot>) =>
      planUpdate(five(more))
        .assumptions.slice(0, 4)
        .map(({ source }) => source);
    expect(of({})).toEqual(['default', 'default', 'default', 'default']);
    const usual = 'usual in the embedded world';
    const times = { activities: [], setups: [], isEmbedded: true } as const;
    expect(of({ times })).toEqual([usual, usual, 'default', usual]);
  });
});

describe('the verdict', () => {
  const blocked = five({ budgets: [aBudget('web', 10, { spec: { maxUnavailable: 0 } })] });

  it('is blocked by a blocker, which names node, pod and minute', () => {
    const plan = planUpdate(blocked);
    expect(plan.verdict).toBe('blocked');
    const [first] = plan.findings;
    expect(first).toMatchObject({ check: 'budget-never-allows', object: { name: 'demo/web' } });
    expect(first?.consequence.node).toMatch(/^n[1-5]$/);
    expect(first?.consequence.pod).toMatch(/^demo\/web-/);
    // The first drain begins when the surge has joined, shortly after a boot; it fails 15 minutes
    // later.
    expect(first?.consequence.minute).toBeGreaterThanOrEqual(16);
    expect(first?.consequence.minute).toBeLessThanOrEqual(20);
  });

  it('is ready when the blocker was waived by name, and says so', () => {
    const waivers = [{ check: 'budget-never-allows', reason: 'known' }];
    const plan = planUpdate(blocked, { waivers });
    expect(plan.verdict).toBe('ready');
    expect(plan.findings[0]?.waived).toEqual({ reason: 'known' });
    expect(plan.waivers).toEqual(waivers);
  });
});

describe('a rule that the update itself enforces', () => {
  it.each([
    ['version-skew', { target: { version: '1.40' }, controlPlaneVersion: '1.32' }],
    ['target-configuration', { target: { problem: 'no image of release 9.9' } }],
    ['other-actor', { group: aGroup({ activeUpdate: 'u1', state: 'UPDATING' }) }],
  ] as const)('of %s cannot be waived', (check, more) => {
    const plan = planUpdate(five(more), { waivers: [{ check, reason: 'ok' }] });
    expect(plan.verdict).toBe('blocked');
    const found = plan.findings.find((one) => one.check === check);
    expect(found).toMatchObject({ severity: 'blocker', isRefused: true });
    expect(found?.waived).toBeUndefined();
  });
});

const configured = (updateConfig: NonNullable<Snapshot['group']['updateConfig']>) => ({
  ...five().group,
  updateConfig,
});
const hookJob = { namespace: 'ops', cronJob: 'save' };

const snapshotHash = (snapshot: Snapshot): string => snapshotBasis(snapshot).hash;
const policiesWith = (policies: NonNullable<NodeGroupUpdateSpec['policies']>) => ({
  ...five().group,
  ...surge,
  policies: policiesOf({}, { policies }, 'SURGE'),
});

describe('the hash', () => {
  const before = snapshotHash(five());
  const restarted = web(5).map((pod) => ({
    ...pod,
    metadata: { ...pod.metadata, name: `${pod.metadata.name}-x`, uid: `${pod.metadata.uid}-x` },
  }));
  const same: readonly (readonly [string, Partial<Snapshot>])[] = [
    ['other pods of the same owners', { pods: restarted }],
    ['nodes in another order', { nodes: nodes(5).toReversed() }],
    [
      'another status of a budget',
      { budgets: [aBudget('web', 10, { status: { currentHealthy: 9 } })] },
    ],
  ];
  const other: readonly (readonly [string, Partial<Snapshot>])[] = [
    ['a node less', { nodes: nodes(4) }],
    ['another target', { target: { imageId: 'ami-newer' } }],
    ['another size', { group: aGroup({ sizes: { minSize: 1, maxSize: 10, desired: 6 } }) }],
    ['another strategy', { group: surge }],
    ['another budget', { budgets: [aBudget('web', 10, { spec: { maxUnavailable: 2 } })] }],
    ['waves', { group: configured({ waves: [{ percent: 50 }] }) }],
    ['a hook', { group: configured({ hooks: { preDrain: { job: hookJob } } }) }],
    ['a freeze', { group: configured({ freezes: [{ from: timeAgo(0), until: timeAgo(-9) }] }) }],
    ['a shorter drain', { group: { ...five().group, drainTimeoutSeconds: 60 } }],
    ['a policy of its own', { group: policiesWith({ drain: { onTimeout: 'Skip' } }) }],
    ['a pod more', { pods: [...web(5), aPod('web-10', { owner: 'ReplicaSet/web' })] }],
  ];
  it.each(same)('is the same with %s', (_, more) => {
    expect(snapshotHash(five(more))).toBe(before);
  });
  it.each(other)('differs with %s', (_, more) => {
    expect(snapshotHash(five(more))).not.toBe(before);
  });
  it('differs by policy alone', () => {
    const [skip, pause] = (['Skip', 'Pause'] as const).map((onTimeout) =>
      snapshotHash(five({ group: policiesWith({ drain: { onTimeout } }) })),
    );
    expect(skip).not.toBe(pause);
  });
  it.each([
    ['settings', { group: aGroup({ sizes: { minSize: 1, maxSize: 10, desired: 6 } }) }],
    ['nodes pods', { nodes: nodes(4) }],
    ['pods', { pods: [...web(5), aPod('web-10', { owner: 'ReplicaSet/web' })] }],
    ['budgets', { budgets: [aBudget('web', 10, { spec: { maxUnavailable: 2 } })] }],
  ] as const)('reports that %s are others', (parts, more) => {
    const [a, b] = [snapshotBasis(five()).basis, snapshotBasis(five(more)).basis];
    const changed = Object.keys(a).filter(
      (part) => a[part as keyof typeof a] !== b[part as keyof typeof b],
    );
    expect(changed.join(' ')).toBe(parts);
  });
  it('is the one in the plan', () => {
    expect(planUpdate(five()).hash).toBe(before);
    expect(before).toMatch(/^[0-9a-f]{16}$/);
  });
});
