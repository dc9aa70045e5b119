// Oracle 6, of Drover's own strategy: in one update no pod is sent away twice, and nothing new is ended. A pod is
// sent away twice where we empty a node of the new revision for the update, or where a pod that came after the update
// had begun had to take an old node although a new one had room. Being set back after a failure is another
// matter, and so is what people and the cloud do.
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
import { microsPerMinute } from '../state/read.ts';
import { isOfUpdate, type UpdateState } from '../state/updates.ts';

/** A node that joined so lately may not have been there when the pod was placed. */
const settledMicros = microsPerMinute;

/** The update of this strategy that alone wants the node empty. */
const updateOf = ({ book }: Context, one: DisruptionState): UpdateState | undefined => {
  const open = one.causes.filter(
    ({ id, isCancelled }) => !isCancelled && !one.handledBefore.has(id),
  );
  if (open.some(({ kind }) => kind !== 'Update')) return undefined;
  for (const update of book.updates.byName.values()) {
    const isAtWork = update.endedAt === undefined && !update.isEnding;
    if (update.strategy !== 'SURGE' || !isAtWork) continue;
    if (open.some((cause) => isOfUpdate(update, cause))) return update;
  }
  return undefined;
};

const isNew = ({ target }: UpdateState, node: NodeState): boolean =>
  target !== undefined &&
  node.image === target.imageId &&
  (target.templateVersion === '' || node.templateVersion === target.templateVersion);

const hasRoom = ({ book }: Context, node: NodeState): boolean => {
  if (node.goneAt !== undefined || !node.ready || node.marks.has('cordon')) return false;
  if (node.taints.size > 0 || node.isOutdated) return false;
  let pods = 0;
  for (const pod of book.pods.on(node.name)) {
    if (pod.goneAt === undefined && !isFinished(pod)) pods++;
  }
  return pods < (node.maxPods ?? 0) / 2;
};

/** A new node that stood free when the pod was placed elsewhere. */
const freeOne = (context: Context, update: UpdateState, at: number): NodeState | undefined => {
  for (const node of context.book.nodes.byName.values()) {
    const since = Math.max(node.joinedAt, node.readySince ?? context.book.now);
    if (!isNew(update, node) || at - since < settledMicros) continue;
    if (hasRoom(context, node)) return node;
  }
  return undefined;
};

export const surgeMoves: Oracle = {
  name: 'surge-moves-pods-once',
  what: 'in one update of Drover’s strategy no pod is sent away twice, and no node of the new revision is emptied',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book, saw, report } = context;
    /** Pods that were placed on an old node beside a free new one: pod -> that node. */
    const misplaced = new Map<string, string>();
    const placed = (pod: PodState): void => {
      const node = book.nodes.byName.get(pod.nodeName);
      if (node === undefined || pod.ownerKind !== 'ReplicaSet') return;
      const group = [...book.updates.byName.values()].filter(
        (update) =>
          update.strategy === 'SURGE' && update.phase === 'Rolling' && update.endedAt === undefined,
      );
      for (const update of group) {
        const since = update.phaseAt.get('Rolling') ?? book.now;
        if (!node.isOutdated || book.now - since < settledMicros || book.isBlind) continue;
        const free = freeOne(context, update, book.now);
        if (free !== undefined) misplaced.set(pod.uid, free.name);
      }
    };
    const sentAway = (entry: Request): void => {
      const pod = book.podOf(entry);
      const node = pod && book.nodes.byName.get(pod.nodeName);
      const one = pod && book.disruptionOf(pod);
      if (pod === undefined || node === undefined || one === undefined) return;
      const update = updateOf(context, one);
      if (update === undefined) return;
      saw();
      const told = (message: string) => report({ subject: pod.key, message });
      const isKnown = book.now - node.joinedAt > book.lagMicros;
      if (isNew(update, node) && isKnown) told(`sent away from ${node.name}, which is new`);
      const free = misplaced.get(pod.uid);
      if (free !== undefined) told(`sent away once more, and ${free} was free for it`);
    };
    return {
      object: ({ resource, type, object }) => {
        if (resource !== 'pods' || type !== 'MODIFIED' || !book.matters) return;
        const { namespace, name } = object.metadata as { namespace?: string; name?: string };
        const pod = book.pods.byKey.get(`${namespace ?? ''}/${name ?? ''}`);
        if (pod !== undefined && pod.boundAt === book.now) placed(pod);
      },
      request: (entry) => {
        if (book.isOurs(entry) && succeeded(entry) && endsPod(entry)) sentAway(entry);
      },
    };
  },
};
