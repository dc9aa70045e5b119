// Deployments: one ReplicaSet per template, scaled within maxSurge and maxUnavailable, revisions,
// conditions; adopts and releases ReplicaSets by label. Upstream: pkg/controller/deployment
// (Kubernetes 1.32). Never deletes a pod itself.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import {
  asDeployment,
  asPod,
  asReplicaSet,
  controllerOf,
  type DeploymentView,
  type EventRecorder,
  isTerminating,
  keyOf,
  lostController,
  nameOfKey,
  type Outcome,
  type PodTemplate,
  type ReplicaSetView,
  resources,
  type Worker,
  withStatus,
} from '../actors/index.ts';
import { Claims } from './claims.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { type Family, nextStatus } from './deployment-status.ts';
import { templateHash } from './hash.ts';
import { controllerReference } from './pod-template.ts';
import {
  deploymentCounts,
  desiredAnnotation,
  hashLabel,
  isComplete,
  maxAnnotation,
  newSetSize,
  type Resize,
  revisionAnnotation,
  rollingLimits,
  scaleSets,
  shrinkOldSets,
} from './rollout.ts';

const revisionOf = (set: ReplicaSetView): number =>
  Number(set.metadata.annotations?.[revisionAnnotation] ?? 0) || 0;

/** Annotations of the Deployment that upstream does not copy to its ReplicaSets. */
const notCopied: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  'deployment.kubernetes.io/revision-history',
  desiredAnnotation,
  maxAnnotation,
]);

export class DeploymentController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #worker: Worker;
  readonly #claims: Claims;
  /**
   * Hash per template object without its hash label. Templates are immutable, so identity suffices.
   */
  readonly #hashes = new WeakMap<object, string>();

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'deployment-controller');
    this.#client = client;
    this.#events = events;
    this.#worker = newWorker(context, 'deployment', (key) => this.#reconcile(key));
    this.#claims = new Claims({
      kube: context.kube,
      client,
      parents: resources.deployments,
      kind: 'Deployment',
      children: resources.replicasets,
      mark: (key) => this.#worker.mark(key),
    });
    context.kube.onChange(resources.deployments, (change) => {
      if (change.type !== 'DELETED') this.#worker.mark(keyOf(change.object));
    });
    context.kube.onChange(resources.replicasets, (change) => this.#setChanged(change));
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    this.#claims.resume();
    for (const one of this.#context.kube.readAll(resources.deployments)) {
      this.#worker.mark(keyOf(one));
    }
  }

  #setChanged({ object, previous }: StoreChange): void {
    const set = asReplicaSet(object);
    for (const owner of [
      lostController(previous && asReplicaSet(previous), set),
      controllerOf(set),
    ]) {
      if (owner?.kind !== 'Deployment') continue;
      this.#worker.mark(`${object.metadata.namespace ?? ''}/${owner.name}`);
    }
  }

  /**
   * Only Recreate waits for pods to be deleted; other strategies follow the ReplicaSets' counts.
   */
  #podChanged({ type, object }: StoreChange): void {
    if (type !== 'DELETED') return;
    const pod = asPod(object);
    const owner = controllerOf(pod);
    if (owner?.kind !== 'ReplicaSet') return;
    const namespace = pod.metadata.namespace ?? '';
    const set = this.#context.kube.read(resources.replicasets, { namespace, name: owner.name });
    const parent = set === undefined ? undefined : controllerOf(asReplicaSet(set));
    if (parent?.kind !== 'Deployment') return;
    const deployment = this.#read(`${namespace}/${parent.name}`);
    if (deployment?.spec.strategy?.type === 'Recreate') this.#worker.mark(keyOf(deployment));
  }

  #read(key: string): DeploymentView | undefined {
    const object = this.#context.kube.read(resources.deployments, nameOfKey(key));
    return object === undefined ? undefined : asDeployment(object);
  }

  #reconcile(key: string): Outcome {
    const deployment = this.#read(key);
    if (deployment === undefined) {
      this.#worker.forget(key);
      return undefined;
    }
    if (!this.#claims.settle(deployment)) return 'retry';
    if (isTerminating(deployment)) return this.#writeStatus(key, this.#family(deployment));
    const before = this.#family(deployment);
    const written = this.#act(deployment, before);
    if (written === 'failed') return 'retry';
    return this.#writeStatus(key, this.#family(deployment));
  }

  /** One step of scaling or rollout; the resulting change triggers the next step. */
  #act(deployment: DeploymentView, family: Family): 'wrote' | 'nothing' | 'failed' {
    if (deployment.spec.paused === true || this.#isScaling(deployment, family)) {
      const newSet =
        deployment.spec.paused === true ? family.newSet : this.#current(deployment, family);
      if (newSet === 'failed') return 'failed';
      return this.#resize(deployment, scaleSets(deployment, newSet, family.old));
    }
    const recreate = deployment.spec.strategy?.type === 'Recreate';
    if (recreate) {
      const shrink = family.old.filter((set) => (set.spec.replicas ?? 1) > 0);
      if (shrink.length > 0)
        return this.#resize(
          deployment,
          shrink.map((set) => ({ set, to: 0 })),
        );
      if (family.old.some((set) => this.#hasPods(set))) return 'nothing';
    }
    const newSet = this.#current(deployment, family);
    if (newSet === 'failed') return 'failed';
    const all = [...family.old, newSet];
    const size = newSetSize(deployment, newSet, all);
    if (size !== (newSet.spec.replicas ?? 1)) {
      return this.#resize(deployment, [{ set: newSet, to: size }]);
    }
    if (recreate) return this.#prune(deployment, family);
    const shrunk = this.#resize(deployment, shrinkOldSets(deployment, newSet, family.old));
    return shrunk === 'nothing' ? this.#prune(deployment, { ...family, newSet }) : shrunk;
  }

  #isScaling(deployment: DeploymentView, family: Family): boolean {
    return family.all.some((set) => {
      if ((set.spec.replicas ?? 1) === 0) return false;
      const desired = set.metadata.annotations?.[desiredAnnotation];
      return desired !== undefined && Number(desired) !== (deployment.spec.replicas ?? 1);
    });
  }

  #hasPods(set: ReplicaSetView): boolean {
    for (const one of this.#context.kube.ownedBy(set.metadata.uid)) {
      if (one.kind === 'Pod') return true;
    }
    return false;
  }

  /** Equal for a template and for its copy in a ReplicaSet. */
  #contentHash(template: PodTemplate): string {
    const known = this.#hashes.get(template);
    if (known !== undefined) return known;
    const hash = templateHash(withoutHashLabel(template));
    this.#hashes.set(template, hash);
    return hash;
  }

  /** The hash that names the ReplicaSet of the current template. */
  #hash(deployment: DeploymentView): string {
    const { template } = deployment.spec;
    const collisions = deployment.status?.collisionCount ?? 0;
    return collisions === 0
      ? this.#contentHash(template)
      : templateHash(withoutHashLabel(template), collisions);
  }

  #family(deployment: DeploymentView): Family {
    const all: ReplicaSetView[] = [];
    for (const one of this.#context.kube.ownedBy(deployment.metadata.uid)) {
      if (one.kind !== 'ReplicaSet') continue;
      const set = asReplicaSet(one);
      if (controllerOf(set)?.uid === deployment.metadata.uid && !isTerminating(set)) all.push(set);
    }
    const hash = this.#contentHash(deployment.spec.template);
    const newSet = all.find((set) => this.#contentHash(set.spec.template) === hash);
    return { newSet, all, old: all.filter((set) => set !== newSet) };
  }

  /** The set of the current template with an up-to-date revision; created when missing. */
  #current(deployment: DeploymentView, family: Family): ReplicaSetView | 'failed' {
    const revision = String(
      family.old.reduce((most, set) => Math.max(most, revisionOf(set)), 0) + 1,
    );
    const known = family.newSet;
    if (known === undefined) return this.#createSet(deployment, family, revision);
    const own = known.metadata.annotations?.[revisionAnnotation];
    let current = known;
    if (revisionOf(known) < Number(revision)) {
      const history = known.metadata.annotations?.['deployment.kubernetes.io/revision-history'];
      const past = [history, own].filter((one) => one !== undefined).join(',');
      const annotations: Record<string, string> = { [revisionAnnotation]: revision };
      if (past !== '') annotations['deployment.kubernetes.io/revision-history'] = past;
      const patched = this.#client.patch(resources.replicasets, nameOfKey(keyOf(known)), {
        type: 'merge',
        body: { metadata: { annotations } },
      });
      if (patched.kind === 'error') return 'failed';
      current = asReplicaSet(patched.object);
    }
    const target = current.metadata.annotations?.[revisionAnnotation] ?? revision;
    return this.#noteRevision(deployment, target) ? current : 'failed';
  }

  #noteRevision(deployment: DeploymentView, revision: string): boolean {
    if (deployment.metadata.annotations?.[revisionAnnotation] === revision) return true;
    const patched = this.#client.patch(resources.deployments, nameOfKey(keyOf(deployment)), {
      type: 'merge',
      body: { metadata: { annotations: { [revisionAnnotation]: revision } } },
      // Through the status subresource, as upstream: a main-resource update would raise the
      // generation.
      subresource: 'status',
    });
    return patched.kind === 'ok';
  }

  #createSet(
    deployment: DeploymentView,
    family: Family,
    revision: string,
  ): ReplicaSetView | 'failed' {
    const hash = this.#hash(deployment);
    const size = newSetSize(deployment, undefined, family.all);
    const template = deployment.spec.template;
    const labels = { ...template.metadata?.labels, [hashLabel]: hash };
    const body: JsonObject = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `${deployment.metadata.name}-${hash}`,
        labels,
        annotations: {
          ...Object.fromEntries(
            Object.entries(deployment.metadata.annotations ?? {}).filter(
              ([key]) => !notCopied.has(key),
            ),
          ),
          ...sizeAnnotations(deployment),
          [revisionAnnotation]: revision,
        },
        ownerReferences: [controllerReference(deployment)],
      },
      spec: {
        replicas: size,
        ...(deployment.spec.minReadySeconds
          ? { minReadySeconds: deployment.spec.minReadySeconds }
          : {}),
        selector: {
          ...deployment.spec.selector,
          matchLabels: { ...deployment.spec.selector.matchLabels, [hashLabel]: hash },
        },
        template: { ...template, metadata: { ...template.metadata, labels } } as JsonObject,
      },
    };
    const made = this.#client.create(resources.replicasets, deployment.metadata.namespace, body);
    if (made.kind === 'error')
      return this.#collided(deployment, `${deployment.metadata.name}-${hash}`);
    this.#noteRevision(deployment, revision);
    if (size > 0)
      this.#noteScale(deployment, { name: made.object.metadata.name, from: 0, to: size });
    return asReplicaSet(made.object);
  }

  /**
   * On a name collision with a set of another template or owner, the next try uses another hash.
   */
  #collided(deployment: DeploymentView, name: string): 'failed' {
    const { namespace = '' } = deployment.metadata;
    const taken = this.#context.kube.read(resources.replicasets, { namespace, name });
    if (taken === undefined || isTerminating(asReplicaSet(taken))) return 'failed';
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    this.#client.patch(resources.deployments, nameOfKey(keyOf(deployment)), {
      type: 'merge',
      body: { status: { collisionCount } },
      subresource: 'status',
    });
    return 'failed';
  }

  #noteScale(
    deployment: DeploymentView,
    scale: { readonly name: string; readonly from: number; readonly to: number },
  ): void {
    const way = scale.to > scale.from ? 'up' : 'down';
    this.#events.record({
      about: deployment,
      reason: 'ScalingReplicaSet',
      message: `Scaled ${way} replica set ${scale.name} from ${scale.from} to ${scale.to}`,
    });
  }

  #resize(deployment: DeploymentView, resizes: readonly Resize[]): 'wrote' | 'nothing' | 'failed' {
    let result: 'wrote' | 'nothing' = 'nothing';
    const annotations = sizeAnnotations(deployment);
    const resized = new Map(resizes.map((one) => [one.set.metadata.uid, one.to]));
    for (const set of this.#family(deployment).all) {
      const from = set.spec.replicas ?? 1;
      const to = resized.get(set.metadata.uid) ?? from;
      const stale =
        to > 0 &&
        Object.entries(annotations).some(
          ([key, value]) => set.metadata.annotations?.[key] !== value,
        );
      if (to === from && !stale) continue;
      const patched = this.#client.patch(resources.replicasets, nameOfKey(keyOf(set)), {
        type: 'merge',
        body: { metadata: { annotations }, spec: { replicas: to } },
      });
      if (patched.kind === 'error') return 'failed';
      result = 'wrote';
      if (to !== from) this.#noteScale(deployment, { name: set.metadata.name, from, to });
    }
    return result;
  }

  /** Deletes old, empty sets beyond the history limit once the rollout is complete. */
  #prune(deployment: DeploymentView, family: Family): 'wrote' | 'nothing' | 'failed' {
    const limit = deployment.spec.revisionHistoryLimit ?? 10;
    if (family.old.length <= limit) return 'nothing';
    if (!isComplete(deployment, deploymentCounts(family.newSet, family.all))) return 'nothing';
    const empty = family.old
      .filter((set) => (set.spec.replicas ?? 1) === 0 && (set.status?.replicas ?? 0) === 0)
      .sort((a, b) => revisionOf(a) - revisionOf(b));
    for (const set of empty.slice(0, family.old.length - limit)) {
      const gone = this.#client.delete(resources.replicasets, nameOfKey(keyOf(set)), {
        propagationPolicy: 'Background',
      });
      if (gone.kind === 'error' && gone.status.code !== 404) return 'failed';
    }
    return 'wrote';
  }

  #writeStatus(key: string, family: Family): Outcome {
    const object = this.#context.kube.read(resources.deployments, nameOfKey(key));
    if (object === undefined) return undefined;
    const next = nextStatus(asDeployment(object), family, this.#context.kernel.now());
    const waiting =
      next.againInMicros === undefined ? undefined : { againInMicros: next.againInMicros };
    if (next.status === undefined) return waiting;
    const body = withStatus(object, next.status);
    const written = this.#client.update(resources.deployments, body, 'status');
    return written.kind === 'error' && written.status.code !== 404 ? 'retry' : waiting;
  }
}

const withoutHashLabel = ({ metadata, ...template }: PodTemplate): Json => {
  const { [hashLabel]: _hash, ...labels } = metadata?.labels ?? {};
  return { ...template, metadata: { ...metadata, labels } } as Json;
};

const sizeAnnotations = (deployment: DeploymentView): Record<string, string> => {
  const wanted = deployment.spec.replicas ?? 1;
  return {
    [desiredAnnotation]: String(wanted),
    [maxAnnotation]: String(wanted + rollingLimits(deployment).maxSurge),
  };
};
