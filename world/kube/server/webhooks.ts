// Admission webhooks, as far as they can be simulated without calling one. A webhook whose Service
// has no Ready server refuses matching requests with the API server's message, unless it fails
// open; a reachable one allows everything. Never calls a webhook (upstream: apiserver's
// admission/plugin/webhook, kube-aggregator's endpoint resolver).
import { defined } from '../../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { labelsOf, objectsOf, textOf } from './objects.ts';
import { type Admission, resourcesMatch } from './policy-match.ts';
import { internalError } from './status.ts';
import { objectKey, type Store } from './store.ts';

const group = 'admissionregistration.k8s.io';
const configurations = [
  { group, resource: 'mutatingwebhookconfigurations' },
  { group, resource: 'validatingwebhookconfigurations' },
] as const;
const services = { group: '', resource: 'services' };
const slices = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const defaultTimeoutSeconds = 10;

export class Webhooks {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Throws when a required webhook is unreachable. */
  admit(admission: Admission): void {
    // Webhooks do not apply to their own configurations, so that an operator can always fix them.
    if (admission.definition.group === group) return;
    for (const resource of configurations) {
      if (this.#store.count(resource) === 0) continue;
      for (const configuration of this.#store.list(resource)) {
        for (const webhook of objectsOf(configuration.webhooks)) this.#ask(webhook, admission);
      }
    }
  }

  #ask(webhook: JsonObject, admission: Admission): void {
    if (webhook.failurePolicy === 'Ignore') return;
    const { rules, namespaceSelector, objectSelector } = webhook;
    const match = {
      resourceRules: rules ?? [],
      ...defined({ namespaceSelector, objectSelector }),
    };
    if (!resourcesMatch(match, admission, this.#store, false)) return;
    const { service } = objectOr(webhook.clientConfig);
    if (service === undefined) return;
    const trouble = this.#trouble(objectOr(service));
    if (trouble === undefined) return;
    const { name, namespace, path = '', port = 443 } = objectOr(service);
    const seconds = Number(webhook.timeoutSeconds ?? defaultTimeoutSeconds);
    const url = `https://${name}.${namespace}.svc:${port}${path}?timeout=${seconds}s`;
    throw internalError(
      `failed calling webhook "${textOf(webhook.name)}": failed to call webhook: ` +
        `Post "${url}": ${trouble}`,
    );
  }

  #trouble({ name, namespace }: JsonObject): string | undefined {
    const [service, where] = [textOf(name) ?? '', textOf(namespace) ?? ''];
    if (this.#store.get(services, objectKey(where, service)) === undefined) {
      return `service "${service}" not found`;
    }
    const isServed = [...this.#store.list(slices, where)].some(
      (slice) =>
        labelsOf(slice)['kubernetes.io/service-name'] === service &&
        objectsOf(slice.endpoints).some(({ conditions }) => objectOr(conditions).ready === true),
    );
    return isServed ? undefined : `no endpoints available for service "${service}"`;
  }
}
