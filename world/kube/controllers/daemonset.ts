// DaemonSets: one pod per matching node, counts, rolling update of outdated pods. Work is keyed by
// set and node, and counts are kept per node, so that a change of one node never visits the others.
// Upstream: pkg/controller/daemon (Kubernetes 1.32).
import type { JsonObject } from '../../../src/api/json.ts';
import type { StoreChange, WorldClient } from '../../contracts.ts';
import { microsPerSecond } from '../../kernel/index.ts';
import {
  asDaemonSet,
  asNode,
  asPod,
  conditionOf,
  controllerOf,
  countsTheSame,
  type DaemonSetView,
  type EventRecorder,
  isActive,
  isFinished,
  isNamespaceEnding,
  isReady,
  isTerminating,
  keyOf,
  lostController,
  microsOf,
  nameOfKey,
  type Outcome,
  type PodView,
  resources,
  scaled,
  type Worker,
  withStatus,
} from '../actors/index.ts';
import { Claims } from './claims.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { daemonSpec, daemonWants, nodeOfDaemonPod, revisionHashLabel } from './daemon-pod.ts';
import { podFromTemplate } from './pod-template.ts';
import { Revisions, revisionHash, revisionName } from './revisions.ts';

/** What one node contributes to the counts in a set's status. */
interface Share {
  readonly desired: number;
  readonly current: number;
  readonly misscheduled: number;
  readonly ready: number;
  readonly available: number;
  readonly updated: number;
}

const nothing: Share = {
  desired: 0,
  current: 0,
  misscheduled: 0,
  ready: 0,
  available: 0,
  updated: 0,
};
const fields = ['desired', 'current', 'misscheduled', 'ready', 'available', 'updated'] as const;

class Tally {
  readonly shares = new Map<string, Share>();
  readonly total: Record<(typeof fields)[number], number> = { ...nothing };
  set(node: string, share: Share): boolean {
    const old = this.shares.get(node) ?? nothing;
    if (fields.every((field) => old[field] === share[field])) return false;
    for (const field of fields) this.total[field] += share[field] - old[field];
    if (share === nothing) this.shares.delete(node);
    else this.shares.set(node, share);
    return true;
  }
}

export class DaemonSetController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #revisions: Revisions;
  readonly #claims: Claims;
  /** Keys `namespace/name/node`. */
  readonly #pods: Worker;
  /** Keys `namespace/name`. */
  readonly #status: Worker;
  readonly #tallies = new Map<string, Tally>();
  /** Set key to node to uids of its pods there, bound to the node or targeting it. */
  readonly #placed = new Map<string, Map<string, Set<string>>>();
  readonly #podKeys = new Map<string, string>();

  constructor(context: ControllerContext) {
    this.#context = context;
    const { client, events } = controllerClient(context, 'daemon-set-controller');
    this.#client = client;
    this.#events = events;
    const { kube } = context;
    this.#revisions = new Revisions({ kube, client, hashLabel: revisionHashLabel });
    this.#pods = newWorker(context, 'daemonset', (key) => this.#reconcile(key));
    this.#status = newWorker(context, 'daemonset-status', (key) => this.#reconcileSet(key));
    this.#claims = new Claims({
      kube,
      client,
      parents: resources.daemonsets,
      kind: 'DaemonSet',
      children: resources.pods,
      mark: (key) => this.#status.mark(key),
    });
    context.kube.onChange(resources.daemonsets, (change) => this.#setChanged(change));
    context.kube.onChange(resources.nodes, (change) => this.#nodeChanged(change));
    context.kube.onChange(resources.pods, (change) => this.#podChanged(change));
  }

  resume(): void {
    this.#claims.resume();
    for (const object of this.#context.kube.readAll(resources.pods))
      this.#place(asPod(object), true);
    for (const object of this.#context.kube.readAll(resources.daemonsets)) {
      const set = asDaemonSet(object);
      for (const node of this.#context.kube.readAll(resources.nodes)) {
        this.#tally(keyOf(set)).set(node.metadata.name, this.#share(set, node.metadata.name));
      }
      this.#markAll(keyOf(set));
    }
  }

  #setChanged(change: StoreChange): void {
    const key = keyOf(change.object);
    if (change.type === 'DELETED') {
      this.#tallies.delete(key);
      return;
    }
    const specChanged = change.object.metadata.generation !== change.previous?.metadata.generation;
    if (specChanged) this.#markAll(key);
    else this.#status.mark(key);
  }

  #markAll(key: string): void {
    for (const node of this.#context.kube.readAll(resources.nodes)) {
      this.#pods.mark(`${key}/${node.metadata.name}`);
    }
    for (const node of this.#placed.get(key)?.keys() ?? []) this.#pods.mark(`${key}/${node}`);
    this.#status.mark(key);
  }

  /** Ignores heartbeats and similar updates; only fields that affect placement count. */
  #nodeChanged({ type, object, previous }: StoreChange): void {
    const now = asNode(object);
    const old = previous === undefined ? undefined : asNode(previous);
    const same =
      type === 'MODIFIED' &&
      now.metadata.labels === old?.metadata.labels &&
      now.spec?.taints === old?.spec?.taints;
    if (same) return;
    for (const set of this.#context.kube.readAll(resources.daemonsets)) {
      this.#pods.mark(`${keyOf(set)}/${now.metadata.name}`);
    }
  }

  #podChanged(change: StoreChange): void {
    const pod = asPod(change.object);
    const before = change.previous && asPod(change.previous);
    if (change.type === 'MODIFIED' && before && countsTheSame(before, pod)) return;
    const left = before && lostController(before, pod) ? this.#place(before, false) : undefined;
    const place = this.#place(pod, change.type !== 'DELETED');
    for (const key of [left, place]) if (key !== undefined) this.#pods.mark(key);
  }

  /** Maintains the index of placed pods; returns the work key of the pod's node. */
  #place(pod: PodView, exists: boolean): string | undefined {
    const owner = controllerOf(pod);
    const node = nodeOfDaemonPod(pod);
    if (owner?.kind !== 'DaemonSet' || node === undefined) return undefined;
    const key = `${pod.metadata.namespace ?? ''}/${owner.name}`;
    const nodes = this.#placed.get(key) ?? new Map<string, Set<string>>();
    const uids = nodes.get(node) ?? new Set<string>();
    if (exists) {
      uids.add(pod.metadata.uid);
      this.#podKeys.set(pod.metadata.uid, keyOf(pod));
    } else {
      uids.delete(pod.metadata.uid);
      this.#podKeys.delete(pod.metadata.uid);
    }
    if (uids.size === 0) nodes.delete(node);
    else nodes.set(node, uids);
    this.#placed.set(key, nodes);
    return `${key}/${node}`;
  }

  #podsAt(set: DaemonSetView, node: string): PodView[] {
    const pods: PodView[] = [];
    for (const uid of this.#placed.get(keyOf(set))?.get(node) ?? []) {
      const key = this.#podKeys.get(uid);
      const object = key && this.#context.kube.read(resources.pods, nameOfKey(key));
      if (!object || object.metadata.uid !== uid) continue;
      const pod = asPod(object);
      if (controllerOf(pod)?.uid === set.metadata.uid) pods.push(pod);
    }
    return pods;
  }

  #read(key: string): DaemonSetView | undefined {
    const object = this.#context.kube.read(resources.daemonsets, nameOfKey(key));
    return object === undefined ? undefined : asDaemonSet(object);
  }

  #tally(key: string): Tally {
    const known = this.#tallies.get(key);
    if (known !== undefined) return known;
    const fresh = new Tally();
    this.#tallies.set(key, fresh);
    return fresh;
  }

  #reconcile(key: string): Outcome {
    const slash = key.lastIndexOf('/');
    const setKey = key.slice(0, slash);
    const nodeName = key.slice(slash + 1);
    const set = this.#read(setKey);
    if (set === undefined) return undefined;
    const outcome = isTerminating(set) ? undefined : this.#settle(set, nodeName);
    if (this.#tally(setKey).set(nodeName, this.#share(set, nodeName))) this.#status.mark(setKey);
    return outcome;
  }

  #settle(set: DaemonSetView, nodeName: string): Outcome {
    const object = this.#context.kube.read(resources.nodes, { name: nodeName });
    // The pod garbage collector handles pods of a deleted node.
    if (object === undefined) return undefined;
    const { run, keep } = daemonWants(set, asNode(object));
    const pods = this.#podsAt(set, nodeName);
    const failed = pods.filter((pod) => isFinished(pod) && !isTerminating(pod));
    const active = pods.filter(isActive);
    const surplus = keep ? active.slice(1) : active;
    for (const pod of [...failed, ...surplus]) {
      if (!this.#delete(set, pod)) return 'retry';
    }
    // Upstream waits until the old pod is deleted: two daemons never share a node.
    if (run && pods.length === 0) return this.#create(set, nodeName) ? undefined : 'retry';
    return undefined;
  }

  #create(set: DaemonSetView, nodeName: string): boolean {
    const body = podFromTemplate(set, set.spec.template, {
      labels: {
        [revisionHashLabel]: revisionHash(set),
        'pod-template-generation': String(set.metadata.generation ?? 1),
      },
      spec: daemonSpec(set, nodeName),
    });
    const made = this.#client.create(resources.pods, set.metadata.namespace, body);
    if (made.kind === 'error') return isNamespaceEnding(made.status);
    this.#events.record({
      about: set,
      reason: 'SuccessfulCreate',
      message: `Created pod: ${made.object.metadata.name}`,
    });
    return true;
  }

  #delete(set: DaemonSetView, pod: PodView): boolean {
    const gone = this.#client.delete(resources.pods, nameOfKey(keyOf(pod)), {
      uid: pod.metadata.uid,
    });
    if (gone.kind === 'error') return gone.status.code === 404;
    this.#events.record({
      about: set,
      reason: 'SuccessfulDelete',
      message: `Deleted pod: ${pod.metadata.name}`,
    });
    return true;
  }

  #share(set: DaemonSetView, nodeName: string): Share {
    const object = this.#context.kube.read(resources.nodes, { name: nodeName });
    if (object === undefined) return nothing;
    const { run } = daemonWants(set, asNode(object));
    const pods = this.#podsAt(set, nodeName).filter((pod) => !isTerminating(pod));
    if (!run) return pods.length === 0 ? nothing : { ...nothing, misscheduled: 1 };
    const [pod] = pods;
    if (pod === undefined) return { ...nothing, desired: 1 };
    const ready = isReady(pod);
    return {
      desired: 1,
      current: 1,
      misscheduled: 0,
      ready: ready ? 1 : 0,
      available: ready && this.#availableIn(set, pod) <= 0 ? 1 : 0,
      updated: pod.metadata.labels?.[revisionHashLabel] === revisionHash(set) ? 1 : 0,
    };
  }

  #availableIn(set: DaemonSetView, pod: PodView): number {
    const wait = (set.spec.minReadySeconds ?? 0) * microsPerSecond;
    if (wait === 0) return 0;
    const since = microsOf(conditionOf(pod.status?.conditions, 'Ready')?.lastTransitionTime) ?? 0;
    const left = since + wait - this.#context.kernel.now();
    if (left > 0) this.#pods.markAfter(`${keyOf(set)}/${nodeOfDaemonPod(pod) ?? ''}`, left);
    return left;
  }

  /** Updates the status and takes the next step of a rolling update. */
  #reconcileSet(key: string): Outcome {
    const object = this.#context.kube.read(resources.daemonsets, nameOfKey(key));
    if (object === undefined) return undefined;
    const set = asDaemonSet(object);
    if (!this.#claims.settle(set)) return 'retry';
    const { total } = this.#tally(key);
    if (!this.#recordRevision(set, total)) return 'retry';
    if (!isTerminating(set) && total.updated < total.current) this.#roll(set, this.#tally(key));
    const status: JsonObject = {
      currentNumberScheduled: total.current,
      numberMisscheduled: total.misscheduled,
      desiredNumberScheduled: total.desired,
      numberReady: total.ready,
      observedGeneration: set.metadata.generation ?? 1,
      ...(total.updated === 0 ? {} : { updatedNumberScheduled: total.updated }),
      ...(total.available === 0 ? {} : { numberAvailable: total.available }),
      ...(total.desired === total.available
        ? {}
        : { numberUnavailable: total.desired - total.available }),
    };
    const old = set.status ?? {};
    const names = new Set([...Object.keys(status), ...Object.keys(old)]);
    names.delete('collisionCount');
    if ([...names].every((name) => (old[name] ?? 0) === (status[name] ?? 0)) && set.status) {
      return undefined;
    }
    const written = this.#client.update(resources.daemonsets, withStatus(object, status), 'status');
    return written.kind === 'error' && written.status.code !== 404 ? 'retry' : undefined;
  }

  /** Deletes old revisions once no pod uses them; false when the API server refused. */
  #recordRevision(set: DaemonSetView, total: Tally['total']): boolean {
    if (isTerminating(set)) return true;
    const name = { namespace: set.metadata.namespace ?? '', name: revisionName(set) };
    const seen = set.status?.observedGeneration === set.metadata.generation;
    // The common path looks up one name; listing the revisions is only for new templates.
    const known = this.#context.kube.read(resources.controllerrevisions, name);
    if ((known === undefined || !seen) && !this.#revisions.ensure(set)) return false;
    const rolled = (set.status?.updatedNumberScheduled ?? 0) !== total.updated;
    if (rolled && total.updated === total.current) {
      this.#revisions.truncate(set, new Set([name.name]));
    }
    return true;
  }

  #roll(set: DaemonSetView, tally: Tally): void {
    if (set.spec.updateStrategy?.type === 'OnDelete') return;
    const limit = scaled(
      set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1,
      tally.total.desired,
      'up',
    );
    let room = limit - (tally.total.desired - tally.total.available);
    for (const [node, share] of tally.shares) {
      if (share.current === 0 || share.updated === 1) continue;
      // Replacing an outdated pod that is unavailable reduces no availability.
      if (share.available === 1 && room-- <= 0) continue;
      for (const pod of this.#podsAt(set, node)) if (isActive(pod)) this.#delete(set, pod);
    }
  }
}
