// LimitRanges: default requests and limits of containers, and the minimum and maximum for
// containers, pods and claims. Upstream: plugin/pkg/admission/limitranger (1.32). Never counts
// existing objects: quotas do.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { parseQuantity, printQuantity, type Quantity } from '../../../src/api/quantity.ts';
import {
  metadataOf,
  objectsOf,
  type Stored,
  specOf,
  textOf,
  withFields,
  withMetadata,
} from './objects.ts';
import { plus } from './quota-usage.ts';
import { forbidden } from './status.ts';
import type { Store } from './store.ts';

const limitRanges = { group: '', resource: 'limitranges' };
const pods = { group: '', resource: 'pods' };
const claims = { group: '', resource: 'persistentvolumeclaims' };
const annotation = 'kubernetes.io/limit-ranger';

type Side = 'requests' | 'limits';

const itemsOf = (range: Stored, type: string): readonly JsonObject[] =>
  objectsOf(specOf(range).limits).filter((item) => item.type === type);

const amountsOf = (container: JsonObject, side: Side): JsonObject =>
  objectOr(objectOr(container.resources)[side]);

const quantityOf = (value: unknown): Quantity | undefined =>
  value === undefined || value === null ? undefined : parseQuantity(String(value));

/** `amounts` completed from `standard`; `added`: the sorted names that were missing. */
const filled = (
  amounts: JsonObject,
  standard: JsonObject,
): { readonly amounts: JsonObject; readonly added: readonly string[] } => {
  const added = Object.keys(standard).filter((name) => amounts[name] === undefined);
  const all: JsonObject = {
    ...amounts,
    ...Object.fromEntries(added.map((name) => [name, standard[name]])),
  };
  return { amounts: all, added: added.sort() };
};

/** The container with the default amounts, and the plugin's messages about what was set. */
const withStandard = (
  container: JsonObject,
  item: JsonObject,
  label: string,
): { readonly container: JsonObject; readonly said: readonly string[] } => {
  const limits = filled(amountsOf(container, 'limits'), objectOr(item.default));
  const requests = filled(amountsOf(container, 'requests'), objectOr(item.defaultRequest));
  if (limits.added.length + requests.added.length === 0) return { container, said: [] };
  const resources = withFields(objectOr(container.resources), {
    ...(limits.added.length === 0 ? {} : { limits: limits.amounts }),
    ...(requests.added.length === 0 ? {} : { requests: requests.amounts }),
  });
  const about = `for ${label} ${textOf(container.name) ?? ''}`;
  const said = [
    ...(requests.added.length === 0 ? [] : [`${requests.added.join(', ')} request ${about}`]),
    ...(limits.added.length === 0 ? [] : [`${limits.added.join(', ')} limit ${about}`]),
  ];
  return { container: { ...container, resources }, said };
};

const withRange = (pod: JsonObject, range: Stored): JsonObject => {
  let next = pod;
  const said: string[] = [];
  for (const item of itemsOf(range, 'Container')) {
    const lists = [
      ['containers', 'container'],
      ['initContainers', 'init container'],
    ] as const;
    for (const [list, label] of lists) {
      const spec = specOf(next);
      if (spec[list] === undefined) continue;
      const done = objectsOf(spec[list]).map((each) => withStandard(each, item, label));
      if (done.every((each) => each.said.length === 0)) continue;
      said.push(...done.flatMap((each) => each.said));
      next = { ...next, spec: { ...spec, [list]: done.map((each) => each.container) } };
    }
  }
  if (said.length === 0) return next;
  const annotations = {
    ...objectOr(metadataOf(next).annotations),
    [annotation]: `LimitRanger plugin set: ${said.join('; ')}`,
  };
  return withMetadata(next, { annotations });
};

/** One object's request and limit of one resource, as written; undefined where not set. */
interface Asked {
  readonly request: Quantity | undefined;
  readonly limit: Quantity | undefined;
  readonly shown: Readonly<Record<'request' | 'limit', string>>;
}

type Ask = (name: string) => Asked;

const less = (a: Quantity | undefined, b: Quantity | undefined): boolean =>
  a !== undefined && b !== undefined && a.nanos < b.nanos;

const belowMinimum = (type: string, item: JsonObject, ask: Ask): readonly string[] =>
  Object.entries(objectOr(item.min)).flatMap(([name, value]) => {
    const { request, limit, shown } = ask(name);
    const least = `minimum ${name} usage per ${type} is ${String(value)}`;
    if (request === undefined) return [`${least}.  No request is specified`];
    if (less(request, quantityOf(value))) return [`${least}, but request is ${shown.request}`];
    return less(limit, quantityOf(value)) ? [`${least}, but limit is ${shown.limit}`] : [];
  });

const aboveMaximum = (
  type: string,
  item: JsonObject,
  ask: Ask,
  onlyRequests = false,
): readonly string[] =>
  Object.entries(objectOr(item.max)).flatMap(([name, value]) => {
    const { request, limit, shown } = ask(name);
    const most = `maximum ${name} usage per ${type} is ${String(value)}`;
    const largest = quantityOf(value);
    if (onlyRequests) {
      return less(largest, request) ? [`${most}, but request is ${shown.request}`] : [];
    }
    if (limit === undefined) return [`${most}.  No limit is specified`];
    if (less(largest, limit)) return [`${most}, but limit is ${shown.limit}`];
    return less(largest, request) ? [`${most}, but request is ${shown.request}`] : [];
  });

const aboveRatio = (type: string, item: JsonObject, ask: Ask): readonly string[] =>
  Object.entries(objectOr(item.maxLimitRequestRatio)).flatMap(([name, value]) => {
    const { request, limit } = ask(name);
    const most = `${name} max limit to request ratio per ${type} is ${String(value)}`;
    if (request === undefined || request.nanos === 0n) {
      return [`${most}, but no request is specified or request is 0`];
    }
    if (limit === undefined || limit.nanos === 0n) {
      return [`${most}, but no limit is specified or limit is 0`];
    }
    const ratio = Number(limit.nanos) / Number(request.nanos);
    const largest = Number(quantityOf(value)?.nanos ?? 0n) / 1e9;
    return ratio > largest ? [`${most}, but provided ratio is ${ratio.toFixed(6)}`] : [];
  });

const askOf =
  (container: JsonObject): Ask =>
  (name) => {
    const request = amountsOf(container, 'requests')[name];
    const limit = amountsOf(container, 'limits')[name];
    return {
      request: quantityOf(request),
      limit: quantityOf(limit),
      shown: { request: String(request), limit: String(limit) },
    };
  };

/** Undefined when no container sets a value: upstream sums only set values. */
const sumOf = (
  containers: readonly JsonObject[],
  side: Side,
  name: string,
): Quantity | undefined => {
  const said = containers.flatMap((each) => quantityOf(amountsOf(each, side)[name]) ?? []);
  return said.length === 0 ? undefined : said.reduce(plus);
};

const askOfPod =
  (pod: JsonObject): Ask =>
  (name) => {
    const all = (side: Side): Quantity | undefined => {
      const together = sumOf(objectsOf(specOf(pod).containers), side, name);
      const each = objectsOf(specOf(pod).initContainers).map((one) => sumOf([one], side, name));
      return each.reduce(
        (most, one) => (most === undefined || less(most, one) ? one : most),
        together,
      );
    };
    const [request, limit] = [all('requests'), all('limits')];
    const shown = (one: Quantity | undefined): string =>
      one === undefined ? '' : printQuantity(one);
    return { request, limit, shown: { request: shown(request), limit: shown(limit) } };
  };

const rangesIn = (store: Store, object: JsonObject): readonly Stored[] =>
  store.list(limitRanges, textOf(metadataOf(object).namespace) ?? '');

const refuse = (
  of: typeof pods | typeof claims,
  object: JsonObject,
  errors: readonly string[],
): void => {
  if (errors.length === 0) return;
  const why = errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
  throw forbidden(of, textOf(metadataOf(object).name) ?? '', why);
};

/** The pod with the defaults of its namespace's LimitRanges; throws on violations. */
export const withLimits = (store: Store, pod: JsonObject): JsonObject => {
  const ranges = rangesIn(store, pod);
  if (ranges.length === 0) return pod;
  const next = ranges.reduce(withRange, pod);
  const { containers, initContainers } = specOf(next);
  const each = [...objectsOf(containers), ...objectsOf(initContainers)].map(askOf);
  const whole = askOfPod(next);
  const judge = (type: string, item: JsonObject, ask: Ask): readonly string[] => [
    ...belowMinimum(type, item, ask),
    ...aboveMaximum(type, item, ask),
    ...aboveRatio(type, item, ask),
  ];
  for (const range of ranges) {
    refuse(pods, next, [
      ...itemsOf(range, 'Container').flatMap((item) =>
        each.flatMap((ask) => judge('Container', item, ask)),
      ),
      ...itemsOf(range, 'Pod').flatMap((item) => judge('Pod', item, whole)),
    ]);
  }
  return next;
};

/** Throws when a claim's request is outside its namespace's LimitRanges. */
export const limitClaim = (store: Store, claim: JsonObject): void => {
  const { resources } = specOf(claim);
  const ask = askOf({ resources: { requests: objectOr(objectOr(resources).requests) } });
  for (const range of rangesIn(store, claim)) {
    const type = 'PersistentVolumeClaim';
    const errors = itemsOf(range, type).flatMap((item) => [
      ...belowMinimum(type, item, ask),
      ...aboveMaximum(type, item, ask, true),
    ]);
    refuse(claims, claim, errors);
  }
};
