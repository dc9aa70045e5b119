// Keeps claims until no pod uses them, then removes the pvc-protection finalizer. Upstream:
// pkg/controller/volume/pvcprotection (Kubernetes 1.32). Deletes nothing itself.
import type { WorldClient } from '../../contracts.ts';
import {
  isTerminating,
  keyOf,
  metaOf,
  nameOfKey,
  type Outcome,
  resources,
  type Worker,
} from '../actors/index.ts';
import { ClaimUsers } from './claim-users.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

const finalizer = 'kubernetes.io/pvc-protection';

export class ClaimProtection implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #worker: Worker;
  readonly #users: ClaimUsers;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#client = controllerClient(context, 'pvc-protection-controller').client;
    this.#worker = newWorker(context, 'volume-protection', (key) => this.#reconcile(key));
    this.#users = new ClaimUsers(context.kube, (claim) => this.#worker.mark(claim));
    context.kube.onChange(resources.persistentvolumeclaims, ({ type, object }) => {
      if (type !== 'DELETED') this.#look(object);
    });
  }

  resume(): void {
    this.#users.resume();
    for (const claim of this.#context.kube.readAll(resources.persistentvolumeclaims)) {
      this.#look(claim);
    }
  }

  #look(claim: Parameters<typeof metaOf>[0]): void {
    if (isTerminating({ metadata: metaOf(claim) })) this.#worker.mark(keyOf(claim));
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.persistentvolumeclaims, nameOfKey(key));
    if (object === undefined) return undefined;
    const { uid, deletionTimestamp, finalizers = [] } = metaOf(object);
    if (deletionTimestamp === undefined || !finalizers.includes(finalizer)) return undefined;
    // An unscheduled pod does not use its claims yet.
    if (this.#users.of(key).some((pod) => pod.spec.nodeName)) return undefined;
    const rest = finalizers.filter((one) => one !== finalizer);
    const patched = this.#client.patch(resources.persistentvolumeclaims, nameOfKey(key), {
      type: 'merge',
      body: { metadata: { uid, finalizers: rest } },
    });
    return patched.kind === 'ok' || patched.status.code === 404 ? undefined : 'retry';
  }
}
