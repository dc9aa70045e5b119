// Admission webhooks, as far as they can be simulated without calling one. A webhook whose Service
// has no Ready server refuses matching requests with the API server's message, unless it fails
// open. A reachable one allows everything, except what an annotation of its configuration denies.
// Never calls a webhook (upstream: apiserver's admission/plugin/webhook, kube-aggregator's endpoint
// resolver).
import { defined } from '../../../src/api/defined.ts';
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { parseJson } from '../../../src/api/parse-json.ts';
import { labelsOf, metadataOf, numberOf, objectsOf, type Stored, textOf } from './objects.ts';
import { type Admission, resourcesMatch } from './policy-match.ts';
import { type ApiError, failure, internalError } from './status.ts';
import { objectKey, type Store } from './store.ts';

const group = 'admissionregistration.k8s.io';
const configurations = [
  { group, resource: 'mutatingwebhookconfigurations' },
  { group, resource: 'validatingwebhookconfigurations' },
] as const;
const services = { group: '', resource: 'services' };
const slices = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const defaultTimeoutSeconds = 10;
/**
 * Simulated denials of a configuration's webhooks: JSON, `{NAME: {code, message}}`. Matching
 * requests are denied while the annotation exists.
 */
const denialsAnnotation = 'world.drover.dev/denies';
/** The code of a denial that has none, or one below 400 (apiserver, `ToStatusErr`). */
const leastDenialCode = 400;
const reasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
};

/**
 * Empty if the annotation is not JSON, because an invalid annotation of a user must not stop the
 * world.
 */
const denialsOf = (configuration: Stored): JsonObject => {
  const written = textOf(objectOr(metadataOf(configuration).annotations)[denialsAnnotation]);
  if (written === undefined) return {};
  try {
    return objectOr(parseJson(written));
  } catch {
    return {};
  }
};

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
        const denials = denialsOf(configuration);
        for (const webhook of objectsOf(configuration.webhooks)) {
          this.#ask(webhook, admission, denials[textOf(webhook.name) ?? '']);
        }
      }
    }
  }

  #ask(webhook: JsonObject, admission: Admission, denial: Json | undefined): void {
    if (webhook.failurePolicy === 'Ignore' && denial === undefined) return;
    const { rules, namespaceSelector, objectSelector } = webhook;
    const match = {
      resourceRules: rules ?? [],
      ...defined({ namespaceSelector, objectSelector }),
    };
    if (!resourcesMatch(match, admission, this.#store, false)) return;
    const { service } = objectOr(webhook.clientConfig);
    const trouble = service === undefined ? undefined : this.#trouble(objectOr(service));
    if (trouble === undefined) {
      if (denial !== undefined) throw denied(textOf(webhook.name) ?? '', objectOr(denial));
      return;
    }
    if (webhook.failurePolicy === 'Ignore') return;
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

/** The API server's message and code for a webhook that denies. */
function denied(webhook: string, { code, message }: JsonObject): ApiError {
  const status = Math.max(leastDenialCode, numberOf(code) ?? leastDenialCode);
  const words = textOf(message) ?? '';
  const by = `admission webhook "${webhook}" denied the request`;
  const text = words === '' ? `${by} without explanation` : `${by}: ${words}`;
  return failure(status, reasons[status], text);
}
