// Attaches volumes to the machine whose pods use them and detaches them afterwards: at once after a
// clean end, six minutes later when the kubelet could not report the unmount. Upstream:
// pkg/controller/volume/attachdetach and the external attacher (Kubernetes 1.32).
import type { JsonObject } from '../../../src/api/json.ts';
import type { WorldClient } from '../../contracts.ts';
import { type Micros, microsPerMs, microsPerSecond, type Table } from '../../kernel/index.ts';
import {
  type AttachmentView,
  asAttachment,
  asClaim,
  asNode,
  asPod,
  asVolume,
  attacherOf,
  attachmentName,
  type EventRecorder,
  isFinished,
  isTerminating,
  metaOf,
  type NodeView,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
  type VolumeView,
  type Worker,
} from '../actors/index.ts';
import type { Heartbeats } from '../kubelet/index.ts';
import { ClaimUsers } from './claim-users.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

/** maxWaitForUnmountDuration: how long to wait for a silent kubelet. */
const unmountTimeoutMicros = 360 * microsPerSecond;
/** Duration of EC2's AttachVolume and DetachVolume, as the driver waits for them. */
const attachMs = { min: 1000, max: 3000 } as const;
const detachMs = { min: 1000, max: 4000 } as const;
const outOfService = 'node.kubernetes.io/out-of-service';
const attacherFinalizer = 'external-attacher/ebs-csi-aws-com';

/** An unused attachment whose volume may still be mounted. */
interface Unclean extends JsonObject {
  readonly since: Micros;
}

export class AttachDetachController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #attacher: WorldClient;
  readonly #heartbeats: Heartbeats;
  /** Keys: `volume/name`, and `attach/name` or `detach/name` of an attachment in progress. */
  readonly #worker: Worker;
  readonly #users: ClaimUsers;
  /** Volume name to its attachments. */
  readonly #attached = new Map<string, Set<string>>();
  readonly #unclean: Table<Unclean>;

  constructor(context: ControllerContext, heartbeats: Heartbeats) {
    this.#context = context;
    this.#heartbeats = heartbeats;
    const { client, events } = controllerClient(context, 'attachdetach-controller');
    this.#client = client;
    this.#events = events;
    this.#attacher = controllerClient(context, 'ebs-csi-controller-sa').client;
    this.#unclean = context.kernel.tables.open<Unclean>('kube.uncleanVolumes');
    this.#worker = newWorker(context, 'attach-detach', (key) => this.#reconcile(key));
    this.#users = new ClaimUsers(context.kube, (claim, { type, object }) => {
      const pod = asPod(object);
      if (type === 'DELETED' || isFinished(pod)) this.#noteEnd(claim, pod);
      this.#markClaim(claim);
    });
    const { kube } = context;
    kube.onChange(resources.persistentvolumeclaims, ({ type, object }) => {
      const volume = asClaim(object).spec.volumeName;
      if (type !== 'DELETED' && volume) this.#worker.mark(`volume/${volume}`);
    });
    kube.onChange(resources.volumeattachments, ({ type, object }) => {
      this.#index(asAttachment(object), type !== 'DELETED');
    });
    kube.onChange(resources.nodes, ({ object, previous }) => {
      if (this.#attached.size === 0) return;
      const same = previous !== undefined && asNode(previous).spec === asNode(object).spec;
      if (!same) for (const volume of this.#attached.keys()) this.#worker.mark(`volume/${volume}`);
    });
  }

  resume(): void {
    this.#users.resume();
    for (const one of this.#context.kube.readAll(resources.volumeattachments)) {
      this.#index(asAttachment(one), true);
    }
    for (const volume of this.#context.kube.readAll(resources.persistentvolumes)) {
      this.#worker.mark(`volume/${volume.metadata.name}`);
    }
  }

  #index(attachment: AttachmentView, exists: boolean): void {
    const volume = attachment.spec.source.persistentVolumeName ?? '';
    const names = this.#attached.get(volume) ?? new Set<string>();
    if (exists) names.add(attachment.metadata.name);
    else names.delete(attachment.metadata.name);
    if (names.size === 0) this.#attached.delete(volume);
    else this.#attached.set(volume, names);
    this.#worker.mark(`volume/${volume}`);
  }

  #markClaim(key: string): void {
    const claim = this.#context.kube.read(resources.persistentvolumeclaims, nameOfKey(key));
    const volume = claim && asClaim(claim).spec.volumeName;
    if (volume) this.#worker.mark(`volume/${volume}`);
  }

  /** A pod ended: only a running kubelet has unmounted the pod's volumes. */
  #noteEnd(claimKey: string, pod: PodView): void {
    const node = pod.spec.nodeName;
    const claim = this.#context.kube.read(resources.persistentvolumeclaims, nameOfKey(claimKey));
    const volume = claim && asClaim(claim).spec.volumeName;
    if (!node || !volume || this.#isAlive(node)) return;
    const key = `${volume}@${node}`;
    if (!this.#unclean.has(key)) this.#unclean.put(key, { since: this.#context.kernel.now() });
  }

  #isAlive(node: string): boolean {
    if (this.#heartbeats.stopped.has(node)) return false;
    return this.#context.kube.read(resources.nodes, { name: node }) !== undefined;
  }

  #reconcile(key: string): Outcome {
    const slash = key.indexOf('/');
    const name = key.slice(slash + 1);
    switch (key.slice(0, slash)) {
      case 'attach':
        return this.#attachedNow(name);
      case 'detach':
        return this.#detachedNow(name);
      default:
        return this.#volume(name);
    }
  }

  #volume(name: string): Outcome {
    const object = this.#context.kube.read(resources.persistentvolumes, { name });
    const volume = object && asVolume(object);
    const attacher = volume && attacherOf(volume);
    const { claimRef } = volume?.spec ?? {};
    if (volume === undefined || attacher === undefined || claimRef === undefined) {
      return this.#detachAll(name);
    }
    const users = this.#users
      .of(`${claimRef.namespace}/${claimRef.name}`)
      .filter((pod) => pod.spec.nodeName);
    const wanted = new Set(users.map((pod) => pod.spec.nodeName ?? ''));
    let outcome = this.#detachUnwanted(name, wanted);
    for (const node of wanted) {
      const pods = users.filter((pod) => pod.spec.nodeName === node);
      // A terminating pod starts no attachment.
      if (pods.every(isTerminating)) continue;
      if (!this.#attach(volume, { attacher, node, pods, users })) outcome = 'retry';
    }
    return outcome;
  }

  #attachments(volume: string): readonly AttachmentView[] {
    const found: AttachmentView[] = [];
    for (const name of this.#attached.get(volume) ?? []) {
      const object = this.#context.kube.read(resources.volumeattachments, { name });
      if (object !== undefined) found.push(asAttachment(object));
    }
    return found;
  }

  #attach(
    volume: VolumeView,
    want: {
      readonly attacher: string;
      readonly node: string;
      readonly pods: readonly PodView[];
      readonly users: readonly PodView[];
    },
  ): boolean {
    const { attacher, node } = want;
    const { name } = volume.metadata;
    const others = this.#attachments(name);
    if (others.some((one) => one.spec.nodeName === node)) return true;
    if (others.length > 0) {
      this.#multiAttach(name, want);
      return true;
    }
    const attachment = attachmentName({ volume: name, attacher, node });
    const made = this.#client.create(resources.volumeattachments, undefined, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: attachment, finalizers: [attacherFinalizer] },
      spec: { attacher, nodeName: node, source: { persistentVolumeName: name } },
    });
    if (made.kind === 'error') return made.status.reason === 'AlreadyExists';
    this.#worker.markAfter(`attach/${attachment}`, this.#within(attachMs));
    return true;
  }

  #multiAttach(
    volume: string,
    want: {
      readonly node: string;
      readonly pods: readonly PodView[];
      readonly users: readonly PodView[];
    },
  ): void {
    const elsewhere = want.users.filter((pod) => pod.spec.nodeName !== want.node);
    const why =
      elsewhere.length > 0
        ? `Volume is already used by pod(s) ${elsewhere.map((pod) => pod.metadata.name).join(', ')}`
        : "Volume is already exclusively attached to one node and can't be attached to another";
    for (const pod of want.pods) {
      this.#events.record({
        about: pod,
        type: 'Warning',
        reason: 'FailedAttachVolume',
        message: `Multi-Attach error for volume "${volume}" ${why}`,
      });
    }
  }

  #attachedNow(name: string): Outcome {
    const object = this.#context.kube.read(resources.volumeattachments, { name });
    if (object === undefined || asAttachment(object).status?.attached === true) return undefined;
    if (isTerminating({ metadata: metaOf(object) })) return undefined;
    const written = this.#attacher.patch(
      resources.volumeattachments,
      { name },
      { type: 'merge', body: { status: { attached: true } }, subresource: 'status' },
    );
    if (written.kind === 'error') return 'retry';
    const { nodeName, source } = asAttachment(object).spec;
    const volume = source.persistentVolumeName ?? '';
    for (const pod of this.#podsUsing(volume)) {
      if (pod.spec.nodeName !== nodeName) continue;
      this.#events.record({
        about: pod,
        reason: 'SuccessfulAttachVolume',
        message: `AttachVolume.Attach succeeded for volume "${volume}" `,
      });
    }
    return undefined;
  }

  #podsUsing(name: string): readonly PodView[] {
    const volume = this.#context.kube.read(resources.persistentvolumes, { name });
    const claimRef = volume && asVolume(volume).spec.claimRef;
    return claimRef === undefined ? [] : this.#users.of(`${claimRef.namespace}/${claimRef.name}`);
  }

  #detachAll(volume: string): Outcome {
    return this.#detachUnwanted(volume, new Set());
  }

  #detachUnwanted(volume: string, wanted: ReadonlySet<string>): Outcome {
    let wait: Micros | undefined;
    for (const attachment of this.#attachments(volume)) {
      const { name } = attachment.metadata;
      const { nodeName } = attachment.spec;
      if (wanted.has(nodeName)) continue;
      if (isTerminating({ metadata: metaOf(attachment) })) {
        // Also after a restart, which may have lost the earlier timer.
        this.#worker.markAfter(`detach/${name}`, this.#within(detachMs));
        continue;
      }
      const left = this.#unmountLeft(volume, nodeName);
      if (left > 0) wait = Math.min(wait ?? left, left);
      else if (this.#client.delete(resources.volumeattachments, { name }).kind === 'error') {
        return 'retry';
      }
    }
    return wait === undefined ? undefined : { againInMicros: wait };
  }

  /** Remaining wait for the unmount; zero after a clean end or on a node tainted out-of-service. */
  #unmountLeft(volume: string, node: string): Micros {
    const key = `${volume}@${node}`;
    const unclean = this.#unclean.get(key);
    if (unclean === undefined) return 0;
    const object = this.#context.kube.read(resources.nodes, { name: node });
    const givenUp = object !== undefined && isOutOfService(asNode(object));
    const left = unclean.since + unmountTimeoutMicros - this.#context.kernel.now();
    if (!givenUp && !this.#isAlive(node) && left > 0) return left;
    this.#unclean.delete(key);
    return 0;
  }

  #detachedNow(name: string): Outcome {
    const object = this.#context.kube.read(resources.volumeattachments, { name });
    if (object === undefined) return undefined;
    const freed = this.#attacher.patch(
      resources.volumeattachments,
      { name },
      { type: 'merge', body: { metadata: { finalizers: [] } } },
    );
    return freed.kind === 'ok' || freed.status.code === 404 ? undefined : 'retry';
  }

  #within({ min, max }: { readonly min: number; readonly max: number }): Micros {
    const random = this.#context.kernel.random('kube.volumes');
    return (min + random.below(max - min + 1)) * microsPerMs;
  }
}

const isOutOfService = (node: NodeView): boolean =>
  (node.spec?.taints ?? []).some((taint) => taint.key === outOfService);
