// Oracle 6, for Drover's own strategies: one update moves no pod twice and drains no new node.
// Three steps move a pod twice: draining a new node, draining an old node before a new one is
// Ready, and placing a pod on an old node while a new one has room. Rollbacks, operators and the
// cloud are exempt.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import {
  type DisruptionState,
  endsPod,
  type NodeState,
  type PodState,
  type Request,
  succeeded,
} from '../state/book.ts';
import { isFinished } from '../state/pods.ts';
import { keyOf, microsPerMinute, textOf } from '../state/read.ts';
import { isOfUpdate, type UpdateState } from '../state/updates.ts';
import { Wanted } from '../state/wanted.ts';

/** A node that joined this recently may not have existed when the pod was placed. */
const settledMicros = microsPerMinute;

const ownStrategies: ReadonlySet<string> = new Set(['SURGE', 'BLUE_GREEN']);

/** The update with such a strategy whose cause is the only open one of the node. */
const updateOf = ({ book }: Context, one: DisruptionState): UpdateState | undefined => {
  const open = one.causes.filter(
    ({ id, isCancelled }) => !isCancelled && !one.handledBefore.has(id),
  );
  if (open.some(({ kind }) => kind !== 'Update')) return undefined;
  for (const update of book.updates.byName.values()) {
    const isAtWork = update.endedAt === undefined && !update.isEnding;
    if (!ownStrategies.has(update.strategy) || !isAtWork) continue;
    if (open.some((cause) => isOfUpdate(update, cause))) return update;
  }
  return undefined;
};

const isNew = ({ target }: UpdateState, node: NodeState): boolean =>
  target !== undefined &&
  node.image === target.imageId &&
  (target.templateVersion === '' || node.templateVersion === target.templateVersion);

/** An old node of the group that is being updated. */
const isOld = (update: UpdateState, node: NodeState): boolean =>
  node.nodeGroup === update.nodeGroup && !isNew(update, node);

const hasRoom = ({ book }: Context, node: NodeState): boolean => {
  if (node.goneAt !== undefined || !node.ready || node.marks.has('cordon')) return false;
  if (node.taints.size > 0 || node.isOutdated) return false;
  let pods = 0;
  for (const pod of book.pods.on(node.name)) {
    if (pod.goneAt === undefined && !isFinished(pod)) pods++;
  }
  return pods < (node.maxPods ?? 0) / 2;
};

/**
 * The pod asks to be spread; that may outweigh the taint on old nodes in the scheduler's scores.
 */
const asksForSpread = ({ affinity, topologySpreadConstraints }: JsonObject): boolean =>
  objectOr(affinity).podAntiAffinity !== undefined || topologySpreadConstraints !== undefined;

const hasFellow = ({ book }: Context, pod: PodState, node: NodeState): boolean => {
  for (const one of book.pods.on(node.name)) {
    const isThere = one.goneAt === undefined && !isFinished(one);
    if (isThere && one.uid !== pod.uid && one.ownerUid === pod.ownerUid) return true;
  }
  return false;
};

const isRolling = ({ strategy, phase, endedAt }: UpdateState): boolean =>
  ownStrategies.has(strategy) && phase === 'Rolling' && endedAt === undefined;

class Moves {
  readonly #context: Context;
  readonly wanted = new Wanted();
  /** Pods that were placed on an old node although a new node was free: pod -> that new node. */
  readonly #misplaced = new Map<string, string>();
  /** `disruption cause` of nodes that an update began to drain. */
  readonly #begun = new Set<string>();
  /** Updates with at least one new node that has been Ready. */
  readonly #joined = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  node(name: string): void {
    const node = this.#context.book.nodes.byName.get(name);
    if (node?.ready !== true) return;
    for (const update of this.#context.book.updates.byName.values()) {
      const isOf = node.nodeGroup === update.nodeGroup && isNew(update, node);
      if (update.endedAt === undefined && isOf) this.#joined.add(update.name);
    }
  }

  /** Called when a pod is bound to a node. */
  placed(pod: PodState, spec: JsonObject): void {
    const { book } = this.#context;
    const node = book.nodes.byName.get(pod.nodeName);
    if (node === undefined || pod.ownerKind !== 'ReplicaSet' || book.isBlind) return;
    for (const update of book.updates.byName.values()) {
      const since = update.phaseAt.get('Rolling') ?? book.now;
      const isSettled = book.now - since >= settledMicros;
      if (!isRolling(update) || !isSettled || !isOld(update, node)) continue;
      const free = this.#freeOne(update, (one) => {
        return !asksForSpread(spec) || !hasFellow(this.#context, pod, one);
      });
      if (free !== undefined) this.#misplaced.set(pod.uid, free.name);
    }
  }

  /** Called when an update begins to drain a node. */
  begun(one: DisruptionState): void {
    const { book, saw, report } = this.#context;
    const update = updateOf(this.#context, one);
    const cause = one.causes.find((each) => update !== undefined && isOfUpdate(update, each));
    if (update === undefined || cause === undefined || cause.isHolding) return;
    const key = `${one.name} ${cause.id}`;
    if (this.#begun.has(key) || !isRolling(update)) return;
    this.#begun.add(key);
    saw();
    const node = book.nodes.ofInstance(one.instanceId);
    if (node === undefined || book.now - node.joinedAt <= book.lagMicros) return;
    const told = (message: string) => report({ subject: node.name, message });
    if (isNew(update, node)) told('is emptied, and it is new');
    else if (this.#isTooEarly(update, node)) told('is emptied before any new node has been Ready');
  }

  /**
   * Nodes above the desired size may be drained first: an earlier update's surplus, or a lowered
   * size.
   */
  #isTooEarly(update: UpdateState, node: NodeState): boolean {
    if (!node.ready || update.surge === 0 || this.#joined.has(update.name)) return false;
    const { book } = this.#context;
    let old = 0;
    for (const each of book.nodes.byName.values()) {
      if (each.goneAt !== undefined || !each.ready || each.nodeGroup !== update.nodeGroup) continue;
      // A node that was Ready before an update back to its revision appears in no later change.
      if (isNew(update, each)) return false;
      old++;
    }
    const wanted = this.wanted.least(update.nodeGroup, book.now - book.lagMicros);
    return old <= Math.min(update.original?.desired ?? 0, wanted);
  }

  sentAway(entry: Request): void {
    const { book, saw, report } = this.#context;
    const pod = book.podOf(entry);
    const one = pod && book.disruptionOf(pod);
    const update = one && updateOf(this.#context, one);
    if (pod === undefined || update === undefined) return;
    saw();
    const free = this.#misplaced.get(pod.uid);
    if (free === undefined) return;
    report({ subject: pod.key, message: `sent away once more, and ${free} was free for it` });
  }

  /** A new node that had room when the pod was placed elsewhere. */
  #freeOne(update: UpdateState, suits: (node: NodeState) => boolean): NodeState | undefined {
    const { book } = this.#context;
    for (const node of book.nodes.byName.values()) {
      const since = Math.max(node.joinedAt, node.readySince ?? book.now);
      if (node.nodeGroup !== update.nodeGroup || !isNew(update, node)) continue;
      const isSettled = book.now - since >= settledMicros;
      if (isSettled && hasRoom(this.#context, node) && suits(node)) return node;
    }
    return undefined;
  }
}

export const surgeMoves: Oracle = {
  name: 'surge-moves-pods-once',
  what: 'in one update of Drover’s strategies no pod has to move twice',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book } = context;
    const moves = new Moves(context);
    return {
      object: (entry) => {
        const { resource, type, object } = entry;
        if (resource === 'nodegroups' && type !== 'DELETED') moves.wanted.take(object, entry.at);
        if (resource === 'nodes' && type !== 'DELETED') {
          moves.node(textOf(objectOr(object.metadata).name));
        }
        const one = book.disruptionIn(entry);
        if (one !== undefined) moves.begun(one);
        if (resource !== 'pods' || type === 'DELETED' || !book.matters) return;
        const { namespace, name } = objectOr(object.metadata);
        const pod = book.pods.byKey.get(keyOf(textOf(namespace), textOf(name)));
        if (pod?.boundAt === book.now) moves.placed(pod, objectOr(object.spec));
      },
      request: (entry) => {
        if (book.isOurs(entry) && succeeded(entry) && endsPod(entry)) moves.sentAway(entry);
      },
    };
  },
};
