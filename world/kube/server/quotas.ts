// ResourceQuota: refuses writes that would exceed a namespace's quota, with the API server's
// message, and updates status.used some milliseconds after each change (kube-controller-manager's
// part).
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { parseQuantity, printQuantity, type Quantity } from '../../../src/api/quantity.ts';
import { type Kernel, microsPerMs } from '../../kernel/index.ts';
import { values } from '../schema/index.ts';
import { apiVersionOf } from './definition.ts';
import { builtInKinds } from './kinds.ts';
import { type Stored, specOf, statusOf, textOf, withFields } from './objects.ts';
import type { Admission } from './policy-match.ts';
import { inScope, missingRequests, none, plus, usageOf } from './quota-usage.ts';
import { forbidden } from './status.ts';
import type { Store } from './store.ts';

const quotasResource = { group: '', resource: 'resourcequotas' };
const actor = 'kube.quota';
const recountAfterMs = 20;

type Amounts = Readonly<Record<string, Quantity>>;

const nanosOf = (amount: Quantity | undefined): bigint => amount?.nanos ?? 0n;

/** Resources whose objects a quota can count. */
const countable = builtInKinds.filter((kind) => kind.namespaced && kind.resource !== 'events');

export class Quotas {
  readonly #kernel: Kernel;
  readonly #store: Store;
  #watching = false;
  readonly #marked = new Set<string>();

  constructor(kernel: Kernel, store: Store) {
    this.#kernel = kernel;
    this.#store = store;
    kernel.register({
      name: actor,
      handle: (event) => this.#recount(textOf(event.args.namespace) ?? ''),
    });
    store.onChange(quotasResource, ({ object }) => {
      this.#watch();
      this.#mark(object.metadata.namespace ?? '');
    });
    if (store.count(quotasResource) > 0) this.#watch();
  }

  admit(admission: Admission): void {
    const { operation, namespace, definition, subresource, object, name } = admission;
    if (operation !== 'CREATE' || subresource !== undefined || namespace === undefined) return;
    if (object === undefined || this.#store.count(quotasResource) === 0) return;
    for (const quota of this.#store.list(quotasResource, namespace)) {
      if (!inScope(quota, definition, object)) continue;
      const hard = amountsOf(specOf(quota).hard);
      const missing = missingRequests(definition, object, Object.keys(hard));
      if (missing !== undefined) {
        throw forbidden(definition, name, `failed quota: ${quota.metadata.name}: ${missing}`);
      }
      const wanted = usageOf(definition, object);
      const used = this.#used(quota, hard);
      const over = Object.keys(hard)
        .filter((key) => {
          const more = nanosOf(wanted[key]);
          return more > 0n && nanosOf(used[key]) + more > nanosOf(hard[key]);
        })
        .sort();
      if (over.length === 0) continue;
      const list = (of: Amounts): string =>
        over.map((key) => `${key}=${printQuantity(of[key] ?? none)}`).join(',');
      throw forbidden(
        definition,
        name,
        `exceeded quota: ${quota.metadata.name}, requested: ${list(wanted)}, ` +
          `used: ${list(used)}, limited: ${list(hard)}`,
      );
    }
  }

  /** Counted from the stored objects, not from the status, which lags. */
  #used(quota: Stored, hard: Amounts): Amounts {
    const used: Record<string, Quantity> = {};
    for (const key of Object.keys(hard).sort()) used[key] = none;
    for (const definition of countable) {
      for (const object of this.#store.list(definition.storage, quota.metadata.namespace)) {
        if (apiVersionOf(definition) !== object.apiVersion) continue;
        if (!inScope(quota, definition, object)) continue;
        for (const [key, amount] of Object.entries(usageOf(definition, object))) {
          const before = used[key];
          if (before !== undefined) used[key] = plus(before, amount);
        }
      }
    }
    return used;
  }

  /** Starts with the first quota; without one, no change matters. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    for (const { storage } of countable) {
      if (storage.resource === quotasResource.resource) continue;
      this.#store.subscribe(storage, ({ object, type }) => {
        if (type !== 'MODIFIED' || statusOf(object).phase !== 'Running')
          this.#mark(object.metadata.namespace ?? '');
      });
    }
  }

  #mark(namespace: string): void {
    if (this.#marked.has(namespace)) return;
    if (this.#store.list(quotasResource, namespace).length === 0) return;
    this.#marked.add(namespace);
    const afterMicros = recountAfterMs * microsPerMs;
    this.#kernel.schedule({ afterMicros, actor, kind: 'recount', args: { namespace } });
  }

  #recount(namespace: string): void {
    this.#marked.delete(namespace);
    for (const quota of this.#store.list(quotasResource, namespace)) {
      const hard = objectOr(specOf(quota).hard);
      const used = this.#used(quota, amountsOf(hard));
      const status = { hard, used: shownAmounts(used) };
      if (values.deepEqual(statusOf(quota), status)) continue;
      this.#store.put(quotasResource, withFields(quota, { status }));
    }
  }
}

const amountsOf = (hard: Json | undefined): Amounts =>
  Object.fromEntries(
    Object.entries(objectOr(hard)).map(([key, value]) => [
      key,
      parseQuantity(String(value)) ?? none,
    ]),
  );

const shownAmounts = (amounts: Amounts): JsonObject =>
  Object.fromEntries(Object.entries(amounts).map(([key, amount]) => [key, printQuantity(amount)]));
