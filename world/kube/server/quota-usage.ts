// How much of a quota one object uses, whether the quota's scopes include it, and which amounts the
// quota requires it to set (apiserver's quota evaluators). Stores nothing.
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { parseQuantity, type Quantity } from '../../../src/api/quantity.ts';
import type { ResourceDefinition } from './definition.ts';
import { objectsOf, specOf, statusOf, textOf, textsOf } from './objects.ts';

export const none: Quantity = { nanos: 0n, format: 'decimal' };
const one: Quantity = { nanos: 1_000_000_000n, format: 'decimal' };

/** A sum is shown in the format of the first non-zero amount. */
export const plus = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos + b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
});

const larger = (a: Quantity, b: Quantity): Quantity => (a.nanos >= b.nanos ? a : b);

type Side = 'requests' | 'limits';

const ofContainer = (container: JsonObject, side: Side, name: string): Quantity => {
  const value = objectOr(objectOr(container.resources)[side])[name];
  return value === undefined ? none : (parseQuantity(String(value)) ?? none);
};

/** The sum of the containers, or the largest init container if that is more. */
function podAmount(pod: JsonObject, side: Side, name: string): Quantity {
  const spec = specOf(pod);
  const together = objectsOf(spec.containers)
    .map((each) => ofContainer(each, side, name))
    .reduce(plus, none);
  return objectsOf(spec.initContainers)
    .map((each) => ofContainer(each, side, name))
    .reduce(larger, together);
}

const isFinished = (pod: JsonObject): boolean => {
  const { phase } = statusOf(pod);
  return phase === 'Succeeded' || phase === 'Failed';
};

function podUsage(pod: JsonObject): Readonly<Record<string, Quantity>> {
  if (isFinished(pod)) return { 'count/pods': one };
  const usage: Record<string, Quantity> = { pods: one, 'count/pods': one };
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const requested = podAmount(pod, 'requests', name);
    usage[`requests.${name}`] = requested;
    usage[name] = requested;
    usage[`limits.${name}`] = podAmount(pod, 'limits', name);
  }
  return usage;
}

/** Kinds that quotas also count under their plain name. */
const plainNames: readonly string[] = [
  'configmaps',
  'persistentvolumeclaims',
  'resourcequotas',
  'secrets',
  'services',
];

export function usageOf(
  { group, resource }: ResourceDefinition,
  object: JsonObject,
): Readonly<Record<string, Quantity>> {
  if (group === '' && resource === 'pods') return podUsage(object);
  const counted = group === '' ? `count/${resource}` : `count/${resource}.${group}`;
  const usage: Record<string, Quantity> = { [counted]: one };
  if (group !== '') return usage;
  if (plainNames.includes(resource)) usage[resource] = one;
  const spec = specOf(object);
  if (resource === 'services') {
    if (spec.type === 'LoadBalancer') usage['services.loadbalancers'] = one;
    const ports = objectsOf(spec.ports).filter((port) => port.nodePort !== undefined);
    if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') {
      usage['services.nodeports'] = ports.map(() => one).reduce(plus, none);
    }
  }
  if (resource === 'persistentvolumeclaims') {
    const storage = objectOr(objectOr(spec.resources).requests).storage;
    usage['requests.storage'] = parseQuantity(String(storage ?? '0')) ?? none;
  }
  return usage;
}

function scopeHolds(scope: string, operator: string, wanted: Json | undefined, pod: JsonObject) {
  const spec = specOf(pod);
  switch (scope) {
    case 'Terminating':
      return spec.activeDeadlineSeconds !== undefined;
    case 'NotTerminating':
      return spec.activeDeadlineSeconds === undefined;
    case 'BestEffort':
      return statusOf(pod).qosClass === 'BestEffort';
    case 'NotBestEffort':
      return statusOf(pod).qosClass !== 'BestEffort';
    case 'PriorityClass': {
      const name = textOf(spec.priorityClassName) ?? '';
      if (operator === 'Exists') return name !== '';
      if (operator === 'DoesNotExist') return name === '';
      return textsOf(wanted).includes(name) === (operator === 'In');
    }
    default:
      return false;
  }
}

/** Quotas with scopes count only pods that every scope includes. */
export function inScope(
  quota: JsonObject,
  { group, resource }: ResourceDefinition,
  object: JsonObject,
): boolean {
  const spec = specOf(quota);
  const plain = textsOf(spec.scopes);
  const selected = objectsOf(objectOr(spec.scopeSelector).matchExpressions);
  if (plain.length === 0 && selected.length === 0) return true;
  if (group !== '' || resource !== 'pods') return false;
  return (
    plain.every((scope) => scopeHolds(scope, 'Exists', undefined, object)) &&
    selected.every((each) =>
      scopeHolds(textOf(each.scopeName) ?? '', textOf(each.operator) ?? '', each.values, object),
    )
  );
}

const demanded: readonly string[] = [
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
];

/** A quota on cpu or memory requires each container to set the amount: `must specify ...`. */
export function missingRequests(
  { group, resource }: ResourceDefinition,
  object: JsonObject,
  keys: readonly string[],
): string | undefined {
  if (group !== '' || resource !== 'pods') return undefined;
  const missing = keys
    .filter((key) => demanded.includes(key))
    .sort()
    .flatMap((key) => {
      const [side, name] = key.includes('.') ? key.split('.', 2) : ['requests', key];
      const without = objectsOf(specOf(object).containers).filter(
        (each) => objectOr(objectOr(each.resources)[side ?? ''])[name ?? ''] === undefined,
      );
      const names = without.map((each) => textOf(each.name) ?? '').sort();
      return names.length === 0 ? [] : [`${key} for: ${names.join(',')}`];
    });
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
}
