// Amounts of resources by name, cpu in cores, and the resources that a pod requests. Pure.
import { quantityValue } from '../../../api/quantity.ts';
import type { Container, FullPod, ResourceList } from '../../../api/workloads.ts';

/** Resource name -> number. */
export type Amounts = Readonly<Record<string, number>>;

// A plan adds amounts some hundred thousand times, so these functions build no intermediate lists.

export const amountsOf = (list: ResourceList = {}): Amounts => {
  const all: Record<string, number> = {};
  for (const key in list) all[key] = quantityValue(list[key]);
  return all;
};

const combine = (a: Amounts, b: Amounts, how: (x: number, y: number) => number): Amounts => {
  const all: Record<string, number> = {};
  for (const [key, value] of Object.entries(a)) all[key] = how(value, b[key] ?? 0);
  for (const [key, value] of Object.entries(b)) all[key] ??= how(0, value);
  return all;
};

const add = (total: Record<string, number>, more: Amounts): void => {
  for (const key in more) total[key] = (total[key] ?? 0) + (more[key] ?? 0);
};

export const sum = (all: Iterable<Amounts>): Amounts => {
  const total: Record<string, number> = {};
  for (const one of all) add(total, one);
  return total;
};

export const plus = (a: Amounts, b: Amounts): Amounts => combine(a, b, (x, y) => x + y);
export const minus = (a: Amounts, b: Amounts): Amounts => combine(a, b, (x, y) => x - y);
export const times = (a: Amounts, factor: number): Amounts =>
  Object.fromEntries(Object.entries(a).map(([key, value]) => [key, value * factor]));

/** Each amount becomes at least that of `least`. */
const raise = (amounts: Record<string, number>, least: Amounts): void => {
  for (const key in least) amounts[key] = Math.max(amounts[key] ?? 0, least[key] ?? 0);
};

/** A limit without a request is the request (Kubernetes' defaulting; old objects may lack it). */
const requestsOf = ({ resources: { limits, requests } = {} }: Container): Amounts =>
  amountsOf(limits === undefined ? requests : { ...limits, ...requests });

const claimsOf = (volumes: NonNullable<FullPod['spec']['volumes']>): number =>
  volumes.filter(
    (volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined,
  ).length;

/**
 * Pod volume claims count as this resource, since drivers can attach a limited number to a node.
 */
export const volumesResource = 'attachable-volumes';

/**
 * What the scheduler reserves for a pod: containers and sidecars, or the largest init container.
 */
export const podAmounts = ({ spec }: FullPod): Amounts => {
  const { containers = [], initContainers = [], volumes = [], overhead } = spec;
  const running: Record<string, number> = {};
  for (const one of containers) add(running, requestsOf(one));
  for (const one of initContainers) {
    if (one.restartPolicy === 'Always') add(running, requestsOf(one));
  }
  for (const one of initContainers) {
    if (one.restartPolicy !== 'Always') raise(running, requestsOf(one));
  }
  if (overhead !== undefined) add(running, amountsOf(overhead));
  running.pods = (running.pods ?? 0) + 1;
  const claims = claimsOf(volumes);
  if (claims > 0) running[volumesResource] = (running[volumesResource] ?? 0) + claims;
  return running;
};

const amountOf = (has: Amounts, resource: string): number =>
  has[resource] ?? (resource === volumesResource ? Number.POSITIVE_INFINITY : 0);

/** Allows for rounding errors in sums of fractional cores. */
const exceeds = (wanted: number, has: number): boolean => wanted > has + 1e-9;

/** Whether `wanted` exceeds `has` in any resource, as in `shortOf`. */
export const isShort = (wanted: Amounts, has: Amounts): boolean => {
  for (const key in wanted) if (exceeds(wanted[key] ?? 0, amountOf(has, key))) return true;
  return false;
};

/** Resources of which `wanted` exceeds `has`; a resource missing from `has` counts as 0. */
export const shortOf = (
  wanted: Amounts,
  has: Amounts,
): readonly { readonly resource: string; readonly wanted: number; readonly has: number }[] =>
  isShort(wanted, has)
    ? Object.entries(wanted).flatMap(([resource, value]) => {
        const there = amountOf(has, resource);
        return exceeds(value, there) ? [{ resource, wanted: value, has: there }] : [];
      })
    : [];

const binary = [
  ['Ti', 2 ** 40],
  ['Gi', 2 ** 30],
  ['Mi', 2 ** 20],
  ['Ki', 2 ** 10],
] as const;

/** Human-readable: 0.25 cores as `250m`, bytes as `70Mi`. */
export const printQuantity = (resource: string, value: number): string => {
  if (resource === 'cpu') return `${Math.round(value * 1000)}m`;
  if (!/memory|storage/.test(resource)) return String(value);
  const [unit, size] = binary.find(([, from]) => value >= from) ?? ['', 1];
  return unit === '' ? String(value) : `${Math.round(value / size)}${unit}`;
};
