// Drover's own strategy from the first new node to the last old one, over distributions of nodes
// across zones. Runs the real decisions against an Auto Scaling that launches where there are
// fewest instances. No zone ends with two more than another.
import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../../api/brand.ts';
import { decideUpdate, evenSurge } from '../index.ts';
import type { UpdateInstance, UpdateObservation, UpdateSurge } from '../observation.ts';

const now = epochMs(Date.parse('2026-01-01T12:00:00Z'));
const target = { version: '1.32', imageId: 'ami-2', templateVersion: '2' };
const zones = ['a', 'b', 'c'] as const;

/** How Auto Scaling breaks ties between zones. */
const orders = [
  ['a', 'b', 'c'],
  ['c', 'b', 'a'],
] as const;

const instance = (name: string, zone: string, isTarget: boolean): UpdateInstance => ({
  instanceId: `i-${name}`,
  nodeName: name,
  zone,
  isCounted: true,
  isTarget,
  isReady: true,
  isLabelled: true,
  scaleDownDisabled: 'ours',
  hasOutdatedTaint: true,
  pods: 5,
});

interface Group {
  readonly instances: readonly UpdateInstance[];
  readonly surge: UpdateSurge;
  readonly desired: number;
  readonly maxUnavailable: number;
  /** Seeds the choice among equal nodes. */
  readonly name: string;
}

const observe = ({
  instances,
  surge,
  desired,
  maxUnavailable,
  name,
}: Group): UpdateObservation => ({
  update: {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: formatTime(now) },
    spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} },
  },
  status: {
    status: 'InProgress',
    strategy: 'SURGE',
    target,
    maxUnavailable,
    phase: 'Rolling',
    phases: [{ phase: 'Rolling', at: formatTime(now) }],
  },
  target,
  groupName: 'ng',
  desired,
  surge,
  actualDesired: instances.length,
  suspended: [],
  usesTarget: true,
  instances,
  issues: [],
  drainTimeoutMs: 900_000,
  now,
});

const countOf = (places: readonly string[]): readonly number[] =>
  zones.map((zone) => places.filter((one) => one === zone).length);

const spreadOf = (counts: readonly number[]): number => Math.max(...counts) - Math.min(...counts);

/** How many new nodes each zone has at the end. */
const roll = (
  old: readonly string[],
  { first, maxUnavailable }: { readonly first: number; readonly maxUnavailable: number },
  order: readonly string[],
) => {
  let instances = old.map((zone, at) => instance(`old${at}`, zone, false));
  let started = 0;
  const launch = (): void => {
    const sizeOf = (zone: string) => instances.filter((one) => one.zone === zone).length;
    const [zone = 'a'] = order.toSorted((x, y) => sizeOf(x) - sizeOf(y));
    started += 1;
    instances = [...instances, instance(`new${started}`, zone, true)];
  };
  const count = evenSurge(first, { zones, old, fresh: [] });
  for (let i = 0; i < count; i++) launch();
  let surge: UpdateSurge = { desired: count, maxSize: count };
  while (instances.some(({ isTarget }) => !isTarget)) {
    const name = `up-${old.join('')}`;
    const group = { instances, surge, desired: old.length, maxUnavailable, name };
    const decision = decideUpdate(observe(group));
    surge = decision.surge;
    const drains = decision.steps.flatMap((one) =>
      one.kind === 'Replace' || one.kind === 'Retire' ? [one] : [],
    );
    if (drains.length === 0) throw new Error(`nothing is drained: ${JSON.stringify(decision)}`);
    // Drains end in the order in which they began; any other order would be random.
    for (const { kind, instanceId } of drains) {
      instances = instances.filter((one) => one.instanceId !== instanceId);
      if (kind === 'Replace') launch();
    }
  }
  return { counts: countOf(instances.map(({ zone }) => zone)), started };
};

const upTo = [0, 1, 2, 3, 4];
const distributions = upTo
  .flatMap((a) => upTo.flatMap((b) => upTo.map((c) => [a, b, c] as const)))
  .filter((counts) => counts.some((count) => count > 0))
  .map((counts) =>
    zones.flatMap((zone, at) => Array.from({ length: counts[at] ?? 0 }, () => zone)),
  );

describe('zones of an update by Drover’s own strategy', () => {
  it.each(orders)('end even, ties broken %s %s %s, and each node is started once', (...order) => {
    for (const old of distributions) {
      const inUse = new Set(old).size;
      for (const maxUnavailable of [1, 2, 3]) {
        // One new node for every old one leaves no choice.
        const first = Math.max(inUse, maxUnavailable);
        if (first >= old.length) continue;
        const { counts, started } = roll(old, { first, maxUnavailable }, order);
        const told = `${old.join('')}, ${maxUnavailable} at once -> ${counts.join('/')}`;
        expect(started, told).toBe(old.length);
        const before = maxUnavailable === 1 ? 0 : spreadOf(countOf(old));
        expect(spreadOf(counts), told).toBeLessThanOrEqual(Math.max(1, before));
      }
    }
  });
});
