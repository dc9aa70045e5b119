// Binds claims to existing volumes that fit, or to new ones from a simulated provisioner (EBS);
// retains or deletes volumes of deleted claims. Upstream: pkg/controller/volume/persistentvolume
// and the external provisioner of the EBS CSI driver. Simulates no storage.
import type { JsonObject } from '../../../src/api/json.ts';
import type { WorldClient } from '../../contracts.ts';
import { hexString, microsPerMs } from '../../kernel/index.ts';
import {
  amount,
  asAttachment,
  asClaim,
  asNode,
  asStorageClass,
  asVolume,
  type ClaimView,
  controllerIdentity,
  type EventRecorder,
  isTerminating,
  keyOf,
  nameOfKey,
  type Outcome,
  resources,
  type StorageClassView,
  selectedNodeAnnotation,
  type VolumeView,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { fits, isFor, newVolume, zoneKey } from './volume-fit.ts';

/**
 * Provisioners that are simulated; a claim of any other class waits, as it would without its
 * driver.
 */
const provisioners: ReadonlySet<string> = new Set(['ebs.csi.aws.com', 'kubernetes.io/aws-ebs']);
/** Duration of EC2's CreateVolume and DeleteVolume. */
const createMs = { min: 1000, max: 3000 } as const;
const deleteMs = { min: 500, max: 1500 } as const;
const deleteRetryMs = 5000;

const provisionerAnnotations = (provisioner: string): JsonObject => ({
  'volume.beta.kubernetes.io/storage-provisioner': provisioner,
  'volume.kubernetes.io/storage-provisioner': provisioner,
});

export class VolumeBinder implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #provisioner: { readonly client: WorldClient; readonly events: EventRecorder };
  /** Keys: `claim/ns/name`, `make/ns/name` (a volume is being created), `volume/name`. */
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    const binder = controllerIdentity('persistent-volume-binder', context.version);
    const { client, events } = controllerClient(
      context,
      'persistent-volume-binder',
      binder,
      'persistentvolume-controller',
    );
    this.#client = client;
    this.#events = events;
    const driver = controllerIdentity('ebs-csi-controller-sa', context.version);
    this.#provisioner = controllerClient(
      context,
      'ebs-csi-controller-sa',
      driver,
      'ebs.csi.aws.com_ebs-csi-controller',
    );
    this.#worker = newWorker(context, 'volume-binder', (key) => this.#reconcile(key));
    context.kube.onChange(resources.persistentvolumeclaims, ({ type, object }) => {
      const claim = asClaim(object);
      if (type !== 'DELETED') this.#worker.mark(`claim/${keyOf(claim)}`);
      else if (claim.spec.volumeName) this.#worker.mark(`volume/${claim.spec.volumeName}`);
    });
    context.kube.onChange(resources.persistentvolumes, ({ type, object }) => {
      if (type === 'DELETED') return;
      this.#worker.mark(`volume/${object.metadata.name}`);
      if (type === 'ADDED') this.#markPending();
    });
    context.kube.onChange(resources.storageclasses, ({ type }) => {
      if (type === 'ADDED') this.#markPending();
    });
  }

  resume(): void {
    for (const claim of this.#context.kube.readAll(resources.persistentvolumeclaims)) {
      this.#worker.mark(`claim/${keyOf(claim)}`);
    }
    for (const volume of this.#context.kube.readAll(resources.persistentvolumes)) {
      this.#worker.mark(`volume/${volume.metadata.name}`);
    }
  }

  #markPending(): void {
    for (const object of this.#context.kube.readAll(resources.persistentvolumeclaims)) {
      if (asClaim(object).status?.phase !== 'Bound') this.#worker.mark(`claim/${keyOf(object)}`);
    }
  }

  #reconcile(key: string): Outcome {
    const slash = key.indexOf('/');
    const rest = key.slice(slash + 1);
    switch (key.slice(0, slash)) {
      case 'volume':
        return this.#volume(rest);
      case 'make':
        return this.#make(rest);
      default:
        return this.#claim(rest);
    }
  }

  #readClaim(key: string): ClaimView | undefined {
    const object = this.#context.kube.read(resources.persistentvolumeclaims, nameOfKey(key));
    return object === undefined ? undefined : asClaim(object);
  }

  #readVolume(name: string): VolumeView | undefined {
    const object = this.#context.kube.read(resources.persistentvolumes, { name });
    return object === undefined ? undefined : asVolume(object);
  }

  #classOf(claim: ClaimView): StorageClassView | undefined {
    const name = claim.spec.storageClassName;
    const object = name ? this.#context.kube.read(resources.storageclasses, { name }) : undefined;
    return object === undefined ? undefined : asStorageClass(object);
  }

  #claim(key: string): Outcome {
    const claim = this.#readClaim(key);
    if (claim === undefined || isTerminating(claim)) return undefined;
    if (claim.spec.volumeName) {
      const volume = this.#readVolume(claim.spec.volumeName);
      if (volume === undefined) return this.#lost(claim);
      return this.#bind(claim, volume);
    }
    const volume = this.#findVolume(claim);
    if (volume !== undefined) return this.#bind(claim, volume);
    const storageClass = this.#classOf(claim);
    if (storageClass === undefined) {
      const named = claim.spec.storageClassName;
      const message = named
        ? `storageclass.storage.k8s.io "${named}" not found`
        : 'no persistent volumes available for this claim and no storage class is set';
      return this.#note(claim, named ? 'ProvisioningFailed' : 'FailedBinding', message);
    }
    const waits = storageClass.volumeBindingMode === 'WaitForFirstConsumer';
    if (waits && claim.metadata.annotations?.[selectedNodeAnnotation] === undefined) {
      const message = 'waiting for first consumer to be created before binding';
      return this.#note(claim, 'WaitForFirstConsumer', message);
    }
    return this.#provision(claim, storageClass);
  }

  #provision(claim: ClaimView, storageClass: StorageClassView): Outcome {
    const { provisioner } = storageClass;
    if (provisioner === 'kubernetes.io/no-provisioner') return undefined;
    const annotation = claim.metadata.annotations?.['volume.kubernetes.io/storage-provisioner'];
    if (annotation === undefined) {
      const patched = this.#client.patch(
        resources.persistentvolumeclaims,
        nameOfKey(keyOf(claim)),
        { type: 'merge', body: { metadata: { annotations: provisionerAnnotations(provisioner) } } },
      );
      return patched.kind === 'ok' ? undefined : 'retry';
    }
    const message =
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' ` +
      'or manually by the system administrator. If volume creation is delayed, please ' +
      'verify that ' +
      'the provisioner is running and correctly registered.';
    this.#note(claim, 'ExternalProvisioning', message);
    if (!provisioners.has(provisioner)) return undefined;
    this.#provisioner.events.record({
      about: claim,
      reason: 'Provisioning',
      message: `External provisioner is provisioning volume for claim "${keyOf(claim)}"`,
    });
    this.#worker.markAfter(`make/${keyOf(claim)}`, this.#within(createMs));
    return undefined;
  }

  #make(key: string): Outcome {
    const claim = this.#readClaim(key);
    if (claim === undefined || claim.spec.volumeName) return undefined;
    const storageClass = this.#classOf(claim);
    const node = claim.metadata.annotations?.[selectedNodeAnnotation];
    const zone = this.#zone(node);
    const delayed = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
    // The scheduler withdrew its selection, or the node was deleted: it will select another.
    if (storageClass === undefined || (delayed && node === undefined)) return undefined;
    if (zone === undefined) return this.#reschedule(claim);
    const name = `pvc-${claim.metadata.uid}`;
    if (this.#readVolume(name) === undefined) {
      const handle = `vol-0${hexString(this.#context.kernel.random('kube.volumes'), 16)}`;
      const volume = newVolume(claim, { name, handle, zone, storageClass });
      const made = this.#provisioner.client.create(resources.persistentvolumes, undefined, volume);
      if (made.kind === 'error') return 'retry';
      this.#provisioner.events.record({
        about: claim,
        reason: 'ProvisioningSucceeded',
        message: `Successfully provisioned volume ${name}`,
      });
    }
    this.#worker.mark(`claim/${key}`);
    return undefined;
  }

  /** The zone of the node or, for a class with immediate binding, of any node. */
  #zone(node: string | undefined): string | undefined {
    const nodes =
      node === undefined
        ? [...this.#context.kube.readAll(resources.nodes)]
        : [this.#context.kube.read(resources.nodes, { name: node })];
    const zones = nodes.map((one) => one && asNode(one).metadata.labels?.[zoneKey]);
    const known = zones.filter((zone) => zone !== undefined);
    return known[this.#context.kernel.random('kube.volumes').below(Math.max(1, known.length))];
  }

  #reschedule(claim: ClaimView): Outcome {
    const patched = this.#client.patch(resources.persistentvolumeclaims, nameOfKey(keyOf(claim)), {
      type: 'merge',
      body: { metadata: { annotations: { [selectedNodeAnnotation]: null } } },
    });
    return patched.kind === 'ok' ? undefined : 'retry';
  }

  /** The smallest volume that fits and is free or reserved for this claim. */
  #findVolume(claim: ClaimView): VolumeView | undefined {
    const node = claim.metadata.annotations?.[selectedNodeAnnotation];
    const delayed = this.#classOf(claim)?.volumeBindingMode === 'WaitForFirstConsumer';
    let best: VolumeView | undefined;
    for (const object of this.#context.kube.readAll(resources.persistentvolumes)) {
      const volume = asVolume(object);
      if (isFor(volume, claim)) return volume;
      if (delayed && node === undefined) continue;
      if (volume.spec.claimRef !== undefined || !fits(volume, claim)) continue;
      const size = amount(volume.spec.capacity?.storage);
      if (best === undefined || size < amount(best.spec.capacity?.storage)) best = volume;
    }
    return best;
  }

  /** Volume first, then claim, as upstream, so that two claims never share a volume. */
  #bind(claim: ClaimView, volume: VolumeView): Outcome {
    if (volume.spec.claimRef !== undefined && !isFor(volume, claim)) return undefined;
    const { name, namespace, uid, resourceVersion } = claim.metadata;
    if (volume.spec.claimRef?.uid === undefined) {
      const claimRef = {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        ...{ name, namespace: namespace ?? '', uid, resourceVersion },
      };
      const bound = this.#client.patch(resources.persistentvolumes, volume.metadata, {
        type: 'merge',
        body: {
          metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
          spec: { claimRef },
        },
      });
      if (bound.kind === 'error') return 'retry';
    }
    if (!this.#phase(volume.metadata.name, 'Bound')) return 'retry';
    const at = nameOfKey(keyOf(claim));
    if (claim.metadata.annotations?.['pv.kubernetes.io/bind-completed'] === undefined) {
      const annotations: JsonObject = {
        'pv.kubernetes.io/bind-completed': 'yes',
        ...(claim.spec.volumeName ? {} : { 'pv.kubernetes.io/bound-by-controller': 'yes' }),
      };
      const named = this.#client.patch(resources.persistentvolumeclaims, at, {
        type: 'merge',
        body: { metadata: { annotations }, spec: { volumeName: volume.metadata.name } },
      });
      if (named.kind === 'error') return 'retry';
    }
    if (claim.status?.phase === 'Bound') return undefined;
    const { accessModes, capacity } = volume.spec;
    const written = this.#client.patch(resources.persistentvolumeclaims, at, {
      type: 'merge',
      body: {
        status: { phase: 'Bound', accessModes: accessModes ?? [], capacity: capacity ?? {} },
      },
      subresource: 'status',
    });
    return written.kind === 'ok' ? undefined : 'retry';
  }

  #lost(claim: ClaimView): Outcome {
    if (claim.status?.phase !== 'Bound') return undefined;
    const written = this.#client.patch(resources.persistentvolumeclaims, nameOfKey(keyOf(claim)), {
      type: 'merge',
      body: { status: { phase: 'Lost' } },
      subresource: 'status',
    });
    const message = 'Bound claim has lost its PersistentVolume. Data on the volume is lost!';
    this.#events.record({ about: claim, type: 'Warning', reason: 'ClaimLost', message });
    return written.kind === 'ok' ? undefined : 'retry';
  }

  #volume(name: string): Outcome {
    const volume = this.#readVolume(name);
    if (volume === undefined) return undefined;
    const { claimRef } = volume.spec;
    if (claimRef?.uid === undefined) {
      if (claimRef === undefined && isTerminating(volume)) return this.#remove(volume);
      return this.#phase(name, 'Available') ? undefined : 'retry';
    }
    const claim = this.#readClaim(`${claimRef.namespace}/${claimRef.name}`);
    if (claim?.metadata.uid === claimRef.uid) return undefined;
    if (!this.#phase(name, 'Released')) return 'retry';
    const deletes = volume.spec.persistentVolumeReclaimPolicy === 'Delete';
    if (!deletes && !isTerminating(volume)) return undefined;
    if (volume.status?.phase !== 'Released') return { againInMicros: this.#within(deleteMs) };
    return this.#remove(volume);
  }

  /** EC2 does not delete an attached volume. */
  #remove(volume: VolumeView): Outcome {
    const { name } = volume.metadata;
    for (const object of this.#context.kube.readAll(resources.volumeattachments)) {
      if (asAttachment(object).spec.source.persistentVolumeName !== name) continue;
      const handle = volume.spec.csi?.volumeHandle ?? name;
      this.#provisioner.events.record({
        about: volume,
        type: 'Warning',
        reason: 'VolumeFailedDelete',
        message:
          'rpc error: code = Internal desc = Could not delete volume ID ' +
          `"${handle}": VolumeInUse: Volume ${handle} is currently attached`,
      });
      return { againInMicros: deleteRetryMs * microsPerMs };
    }
    if (!isTerminating(volume)) {
      const gone = this.#provisioner.client.delete(resources.persistentvolumes, { name });
      if (gone.kind === 'error' && gone.status.code !== 404) return 'retry';
    }
    const freed = this.#client.patch(
      resources.persistentvolumes,
      { name },
      { type: 'merge', body: { metadata: { finalizers: [] } } },
    );
    return freed.kind === 'ok' || freed.status.code === 404 ? undefined : 'retry';
  }

  #phase(name: string, phase: string): boolean {
    if (this.#readVolume(name)?.status?.phase === phase) return true;
    const written = this.#client.patch(
      resources.persistentvolumes,
      { name },
      { type: 'merge', body: { status: { phase } }, subresource: 'status' },
    );
    return written.kind === 'ok' || written.status.code === 404;
  }

  #note(claim: ClaimView, reason: string, message: string): undefined {
    const type = reason === 'ProvisioningFailed' ? 'Warning' : 'Normal';
    this.#events.record({ about: claim, type, reason, message });
    return undefined;
  }

  #within({ min, max }: { readonly min: number; readonly max: number }): number {
    const random = this.#context.kernel.random('kube.volumes');
    return (min + random.below(max - min + 1)) * microsPerMs;
  }
}
