// An update moves no pod that was placed on an old node although a new node had room for it.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import {
  endsPod,
  type NodeState,
  type PodState,
  type Request,
  succeeded,
} from '../../state/book.ts';
import { isFinished } from '../../state/pods.ts';
import { keyOf, microsPerMinute, textOf } from '../../state/read.ts';
import type { UpdateState } from '../../state/updates.ts';
import { isNew, isOld, isRolling, updateOf } from './updates.ts';

/** A node that joined this recently may not have existed when the pod was placed. */
const settledMicros = microsPerMinute;

/** By uid of the pod: the new node that had room when the pod was scheduled to an old one. */
type Misplaced = Map<string, string>;

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

/** A new node that had room when the pod was placed elsewhere. */
const freeNode = (
  context: Context,
  update: UpdateState,
  suits: (node: NodeState) => boolean,
): NodeState | undefined => {
  const { book } = context;
  for (const node of book.nodes.byName.values()) {
    const since = Math.max(node.joinedAt, node.readySince ?? book.now);
    if (node.nodeGroup !== update.nodeGroup || !isNew(update, node)) continue;
    const isSettled = book.now - since >= settledMicros;
    if (isSettled && hasRoom(context, node) && suits(node)) return node;
  }
  return undefined;
};

/** Called when a pod is bound to a node. */
const placed = (context: Context, pod: PodState, spec: JsonObject, misplaced: Misplaced): void => {
  const { book } = context;
  const node = book.nodes.byName.get(pod.nodeName);
  if (node === undefined || pod.ownerKind !== 'ReplicaSet' || book.isBlind) return;
  for (const update of book.updates.byName.values()) {
    const since = update.phaseAt.get('Rolling') ?? book.now;
    const isSettled = book.now - since >= settledMicros;
    if (!isRolling(update) || !isSettled || !isOld(update, node)) continue;
    const free = freeNode(context, update, (one) => {
      return !asksForSpread(spec) || !hasFellow(context, pod, one);
    });
    if (free !== undefined) misplaced.set(pod.uid, free.name);
  }
};

const moved = (context: Context, entry: Request, misplaced: Misplaced): void => {
  const { book, saw, report } = context;
  const pod = book.podOf(entry);
  const one = pod && book.disruptionOf(pod);
  const update = one && updateOf(context, one);
  if (pod === undefined || update === undefined) return;
  saw();
  const free = misplaced.get(pod.uid);
  if (free === undefined) return;
  report({ subject: pod.key, message: `sent away once more, and ${free} was free for it` });
};

export const watchMisplaced = (context: Context): Watcher => {
  const { book } = context;
  const misplaced: Misplaced = new Map();
  return {
    object: ({ resource, type, object }) => {
      if (resource !== 'pods' || type === 'DELETED' || !book.matters) return;
      const { namespace, name } = objectOr(object.metadata);
      const pod = book.pods.byKey.get(keyOf(textOf(namespace), textOf(name)));
      if (pod?.boundAt === book.now) placed(context, pod, objectOr(object.spec), misplaced);
    },
    request: (entry) => {
      if (book.isOurs(entry) && succeeded(entry) && endsPod(entry))
        moved(context, entry, misplaced);
    },
  };
};
