// Amounts of resources by name, cpu in cores, and the resources that a pod requests. Pure.
import { quantityValue } from '../../../api/quantity.ts';
import type { Container, FullPod, ResourceList } from '../../../api/workloads.ts';

/** Resource name -> number. */
export type Amounts = Readonly<Record<string, number>>;

// A plan adds amounts some hundred thousand times, so these functions build no intermediate lists.

export const amountsOf = (list: ResourceList = {}): Amounts => {
  const all: Record<string, number> = {};
  for (const [key, value] of Object.entries(list)) all[key] = quantityValue(value);
  return all;
};

const combine = (a: Amounts, b: Amounts, how: (x: number, y: number) => number): Amounts => {
  const all: Record<string, number> = {};
  for (const [key, value] of Object.entries(a)) all[key] = how(value, b[key] ?? 0);
  for (const [key, value] of Object.entries(b)) all[key] ??= how(0, value);
  return all;
};

export const sum = (all: Iterable<Amounts>): Amounts => {
  const total: Record<string, number> = {};
  for (const one of all) {
    for (const [key, value] of Object.entries(one)) total[key] = (total[key] ?? 0) + value;
  }
  return total;
};

export const plus = (a: Amounts, b: Amounts): Amounts => combine(a, b, (x, y) => x + y);
export const minus = (a: Amounts, b: Amounts): Amounts => combine(a, b, (x, y) => x - y);
export const times = (a: Amounts, factor: number): Amounts =>
  Object.fromEntries(Object.entries(a).map(([key, value]) => [key, value * factor]));

/** A limit without a request is the request (Kubernetes' defaulting; old objects may lack it). */
const requestsOf = ({ resources = {} }: Container): Amounts =>
  amountsOf({ ...resources.limits, ...resources.requests });

/**
 * Pod volume claims count as this resource, since drivers can attach a limited number to a node.
 */
export const volumesResource = 'attachable-volumes';

/**
 * What the scheduler reserves for a pod: containers and sidecars, or the largest init container.
 */
export const podAmounts = ({ spec }: FullPod): Amounts => {
  const { containers = [], initContainers = [], volumes = [] } = spec;
  const sidecars = initContainers.filter((one) => one.restartPolicy === 'Always');
  const running = sum([...containers, ...sidecars].map(requestsOf));
  const largest = initContainers
    .filter((one) => one.restartPolicy !== 'Always')
    .reduce<Amounts>((most, one) => combine(most, requestsOf(one), Math.max), running);
  const claims = volumes.filter(
    (volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined,
  ).length;
  const counts = { pods: 1, ...(claims === 0 ? {} : { [volumesResource]: claims }) };
  return sum([largest, amountsOf(spec.overhead), counts]);
};

/** Resources of which `wanted` exceeds `has`; a resource missing from `has` counts as 0. */
export const shortOf = (
  wanted: Amounts,
  has: Amounts,
): readonly { readonly resource: string; readonly wanted: number; readonly has: number }[] =>
  Object.entries(wanted).flatMap(([resource, value]) => {
    const there = has[resource] ?? (resource === volumesResource ? Number.POSITIVE_INFINITY : 0);
    // Allows for rounding errors in sums of fractional cores.
    return value > there + 1e-9 ? [{ resource, wanted: value, has: there }] : [];
  });

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
