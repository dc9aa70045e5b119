// Namespaces: creates the contents of each new one (service account `default`, the root
// certificate) and empties terminating ones. Upstream: pkg/controller/namespace, serviceaccount and
// rootcacertpublisher (Kubernetes 1.32).
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient, WorldKube } from '../../contracts.ts';
import { microsPerSecond } from '../../kernel/index.ts';
import {
  asNamespace,
  controllerIdentity,
  isTerminating,
  type NamespaceView,
  type Outcome,
  resources,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { type KnownKind, namespacedKinds } from './known-kinds.ts';

/** How often a namespace that still has content (pods in their grace period) is checked again. */
const recheckMicros = microsPerSecond;

export class NamespaceController implements Controller {
  readonly #context: ControllerContext;
  readonly #kube: WorldKube;
  readonly #client: WorldClient;
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#kube = context.kube;
    this.#client = controllerClient(context, 'namespace-controller').client;
    this.#worker = newWorker(context, 'namespace', (key) => this.#reconcile(key));
    context.kube.onChange(resources.namespaces, ({ type, object }: StoreChange) => {
      const terminating = isTerminating(asNamespace(object));
      if (type !== 'DELETED' && terminating) this.#worker.mark(object.metadata.name);
    });
  }

  resume(): void {
    for (const object of this.#kube.readAll(resources.namespaces)) {
      if (isTerminating(asNamespace(object))) this.#worker.mark(object.metadata.name);
    }
  }

  #reconcile(name: string): Outcome {
    const object = this.#kube.read(resources.namespaces, { name });
    if (object === undefined || !isTerminating(asNamespace(object))) return undefined;
    const finalizers = asNamespace(object).spec?.finalizers ?? [];
    if (finalizers.length === 0) return undefined;
    for (const kind of namespacedKinds) {
      if (this.#holds(kind, name)) this.#deleteAll(kind, name);
    }
    if (namespacedKinds.some((kind) => this.#holds(kind, name))) {
      return { againInMicros: recheckMicros };
    }
    const rest = finalizers.filter((one) => one !== 'kubernetes');
    const current: JsonObject = this.#kube.read(resources.namespaces, { name }) ?? object;
    const body = { ...current, spec: { ...objectOr(current.spec), finalizers: rest } };
    const written = this.#client.update(resources.namespaces, body, 'finalize');
    return written.kind === 'ok' || written.status.code === 404 ? undefined : 'retry';
  }

  #holds(kind: KnownKind, namespace: string): boolean {
    for (const _one of this.#kube.readAll(kind, namespace)) return true;
    return false;
  }

  /** Upstream deletes collections; a refused deletion is retried at the next check. */
  #deleteAll(kind: KnownKind, namespace: string): void {
    const root = kind.group === '' ? '/api/v1' : `/apis/${kind.group}/${kind.version}`;
    this.#kube.handle({
      method: 'DELETE',
      path: `${root}/namespaces/${namespace}/${kind.resource}`,
      query: new URLSearchParams(),
      contentType: 'application/json',
      accept: 'application/json',
      sourceIp: '127.0.0.1',
      ...controllerIdentity('namespace-controller', this.#context.version),
    });
  }
}

/** Creates the service account and the root certificate in every active namespace. */
export class NamespaceGifts implements Controller {
  readonly #kube: WorldKube;
  readonly #accounts: WorldClient;
  readonly #publisher: WorldClient;
  readonly #rootCa: string;
  readonly #worker: Worker;

  constructor(context: ControllerContext, rootCa: string) {
    this.#kube = context.kube;
    this.#accounts = controllerClient(context, 'service-account-controller').client;
    this.#publisher = controllerClient(context, 'root-ca-cert-publisher').client;
    this.#rootCa = rootCa;
    this.#worker = newWorker(context, 'serviceaccount', (key) => this.#reconcile(key));
    context.kube.onChange(resources.namespaces, ({ type, object }) => {
      if (type === 'ADDED') this.#worker.mark(object.metadata.name);
    });
    for (const resource of [resources.serviceaccounts, resources.configmaps]) {
      context.kube.onChange(resource, ({ type, object }) => {
        if (type === 'DELETED') this.#worker.mark(object.metadata.namespace ?? '');
      });
    }
  }

  resume(): void {
    for (const object of this.#kube.readAll(resources.namespaces)) {
      this.#worker.mark(object.metadata.name);
    }
  }

  #reconcile(namespace: string): Outcome {
    const object = this.#kube.read(resources.namespaces, { name: namespace });
    if (object === undefined || !isLive(asNamespace(object))) return undefined;
    const account = { namespace, name: 'default' };
    const authority = { namespace, name: 'kube-root-ca.crt' };
    let ok = true;
    if (this.#kube.read(resources.serviceaccounts, account) === undefined) {
      const made = this.#accounts.create(resources.serviceaccounts, namespace, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: account,
      });
      ok = made.kind === 'ok';
    }
    if (this.#kube.read(resources.configmaps, authority) === undefined) {
      const made = this.#publisher.create(resources.configmaps, namespace, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          ...authority,
          annotations: {
            'kubernetes.io/description':
              'Contains a CA bundle that can be used to verify the kube-apiserver.',
          },
        },
        data: { 'ca.crt': this.#rootCa },
      });
      ok = made.kind === 'ok' && ok;
    }
    return ok ? undefined : 'retry';
  }
}

const isLive = (namespace: NamespaceView): boolean =>
  !isTerminating(namespace) && namespace.status?.phase !== 'Terminating';
