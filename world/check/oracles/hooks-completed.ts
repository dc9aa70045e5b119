// Oracle 3, second half: the controller completes a termination hook only if its node has no pod
// left or its forcing deadline has passed. Pods of a deleted Node object count. It completes a
// launch hook only if the node is Ready. A drain without a hook is Drained only if its node is
// empty.
import { objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { Call, DisruptionState, NodeState, PodState } from '../state/book.ts';
import { microsPerMinute, microsPerSecond, textOf } from '../state/read.ts';

/** A pod may be bound between the last check of the node and the write that follows. */
const lookMicros = microsPerSecond;
/** The journal's deadline has milliseconds, and a call takes time. */
const slackMicros = microsPerSecond;
/** A pod bound this long before the end had its forced-at time; its grace period comes on top. */
const forceMicros = 30 * microsPerSecond;
/** A drain that may not force keeps its hook until this long before the hook's own end. */
const lastMomentMicros = microsPerMinute;

/**
 * Minimum time since the deletion of a pod whose kubelet does not answer: 30 s, minus one second
 * because Kubernetes writes whole seconds.
 */
const unstoppableMicros = 29 * microsPerSecond;

/**
 * The journal names the pod's owner, or the bare pod itself, as returning to the node after every
 * eviction.
 */
const isBoomerang = (pod: PodState, owners: ReadonlySet<string>): boolean =>
  owners.has(pod.ownerUid === '' ? `pod/${pod.key}` : pod.ownerUid);

/** Whether the kubelet was silent at that time, as far as the controller could know. */
const wasSilent = (node: NodeState, at: number, lagMicros: number): boolean => {
  const { silentSince, heardAgainAt } = node;
  if (silentSince === undefined || silentSince > at) return false;
  return heardAgainAt === undefined || at - heardAgainAt <= lagMicros;
};

/** The instance keeps running after the drain, and so do its pods. */
const staysAfterwards = ({ causes }: DisruptionState): boolean =>
  causes.every(({ kind, followUp }) => kind === 'Manual' && followUp === 'Release');

/** Deleted long ago, and no kubelet stops it: only the end of the instance can. */
const isUnstoppable = (
  { book }: Pick<Context, 'book'>,
  { pod, node, disruption, at }: Held,
): boolean => {
  if (disruption === undefined || staysAfterwards(disruption)) return false;
  const { terminatingAt } = pod;
  const least = unstoppableMicros - (book.facts.clockSkew ?? 0);
  if (terminatingAt === undefined || at - terminatingAt < least) return false;
  return wasSilent(node, at, book.lagMicros);
};

interface Held {
  readonly pod: PodState;
  readonly node: NodeState;
  readonly disruption: DisruptionState | undefined;
  /** When the drain was decided to be complete. */
  readonly at: number;
}

/**
 * Pods for which the instance must stay, including pods that are still stopping. A pod bound after
 * the journal recorded Completing does not count: a crash between that write and the call does not
 * undo the decision.
 */
const holding = (
  { book }: Pick<Context, 'book'>,
  node: NodeState,
  disruption: DisruptionState | undefined,
): readonly PodState[] => {
  const found: PodState[] = [];
  const decidedAt = Math.min(book.now, disruption?.phaseAt.get('Completing') ?? book.now);
  for (const pod of book.pods.on(node.name)) {
    if (!book.isDrainable(pod) || decidedAt - pod.boundAt < lookMicros) continue;
    if (isBoomerang(pod, disruption?.boomerangOwners ?? new Set())) continue;
    if (isUnstoppable({ book }, { pod, node, disruption, at: decidedAt })) continue;
    found.push(pod);
  }
  return found;
};

/** The drain forces, and its deadline has passed. */
const isForced = ({ book }: Context, disruption: DisruptionState): boolean => {
  const deadlineAt = book.forcingDeadline(disruption);
  const now = book.now + (book.facts.clockSkew ?? 0);
  return deadlineAt !== undefined && now >= deadlineAt - slackMicros;
};

/** The forcing deadline has passed; if nothing forces, a hook of the drain is about to end. */
const isTimeUp = (context: Context, disruption: DisruptionState): boolean => {
  const { book } = context;
  if (isForced(context, disruption)) return true;
  const mayForce = book.forcingDeadline(disruption) !== undefined;
  const now = book.now + (book.facts.clockSkew ?? 0);
  return disruption.causes.some(
    ({ hook, isForcing }) =>
      !(mayForce && isForcing) &&
      hook?.endsAt !== undefined &&
      now >= hook.endsAt - lastMomentMicros,
  );
};

/** A pod that had time to be deleted by force before its instance ends, and was not. */
const forgotten = (
  context: Context,
  node: NodeState,
  disruption: DisruptionState,
): PodState | undefined => {
  const { book } = context;
  if (!isForced(context, disruption) || book.isBlind) return undefined;
  if (!node.ready || node.goneAt !== undefined) return undefined;
  const enoughMicros = forceMicros + 2 * (book.facts.clockSkew ?? 0);
  return holding(context, node, disruption).find(
    (pod) => pod.terminatingAt === undefined && book.now - pod.boundAt > enoughMicros,
  );
};

interface Doubt {
  readonly at: number;
  readonly instanceId: string;
  readonly message: string;
}

/** Decided in the previous episode, by a controller that could not know of this one. */
const isOfEpisodeBefore = ({ book }: Context, one: DisruptionState): boolean =>
  book.episodeBefore(one)?.phases.has('Completing') === true;

/**
 * The completion was decided while the instance had no node, and one has registered since. Pods of
 * a deleted node exist for a while and are on it again. A controller that was paused between
 * decision and call may not have seen the node.
 */
const wasThereNone = ({ book }: Context, node: NodeState, one: DisruptionState): boolean => {
  const decidedAt = one.phaseAt.get('Completing') ?? book.now;
  if (one.outcome !== 'NothingToDrain' || node.joinedAt <= decidedAt) return false;
  return book.now - node.joinedAt <= book.lagMicros;
};

/** The instance's node, even if deleted, unless another node has taken its name. */
const nodeUnder = ({ book: { nodes } }: Context, instanceId: string): NodeState | undefined => {
  const last = nodes.lastOfInstance(instanceId);
  return last !== undefined && nodes.byName.get(last.name) === last ? last : undefined;
};

/** The reason why a completion looks too early; undefined: it is in order. */
const terminationDoubt = (context: Context, instanceId: string): Doubt | undefined => {
  const { book } = context;
  const node = nodeUnder(context, instanceId);
  const isDead = book.cloud.instances.get(instanceId)?.deadAt !== undefined;
  if (node === undefined || isDead) return undefined;
  const disruption = book.disruptions.ofInstance(instanceId);
  if (disruption !== undefined && isOfEpisodeBefore(context, disruption)) return undefined;
  if (disruption !== undefined && wasThereNone(context, node, disruption)) return undefined;
  if (disruption !== undefined && isTimeUp(context, disruption)) {
    const pod = forgotten(context, node, disruption);
    if (pod === undefined) return undefined;
    const message = `completed at its deadline, and ${pod.key} had not been told to stop`;
    return { at: book.now, instanceId, message };
  }
  const pods = holding(context, node, disruption);
  const [first] = pods;
  if (first === undefined) return undefined;
  const more = pods.length > 1 ? ` and ${pods.length - 1} more` : '';
  return {
    at: book.now,
    instanceId,
    message: `completed while ${first.key}${more} still ran on ${node.name}`,
  };
};

/** The pod that still runs when the journal first records the drain as Drained. */
const falselyDrained = (
  { book }: Pick<Context, 'book'>,
  one: DisruptionState,
): { readonly node: NodeState; readonly pod: PodState } | undefined => {
  const before = objectOr(objectOr(one.previous).status);
  if (one.phase !== 'Completing' || one.outcome !== 'Drained') return undefined;
  if (before.phase === 'Completing') return undefined;
  const byInstance = book.nodes.ofInstance(one.instanceId);
  const node = byInstance ?? book.nodes.byName.get(one.nodeName);
  if (node === undefined || node.goneAt !== undefined) return undefined;
  const pods = holding({ book }, node, one);
  const pod = pods.find(({ boundAt }) => book.now - boundAt > book.lagMicros);
  return pod === undefined ? undefined : { node, pod };
};

export const hooksCompleted: Oracle = {
  name: 'hooks-complete-when-empty',
  what:
    'we complete a termination, and a drain is Drained, once its node is empty, and a launch ' +
    'once its node is Ready',
  strategies: both,
  needs: ['lifecycle', 'call', 'object'],
  watch: (context) => {
    const { book, saw, report } = context;
    const doubts: Doubt[] = [];
    const launch = (instanceId: string): void => {
      const node = book.nodes.lastOfInstance(instanceId);
      // A node that just turned unready or was deleted was Ready when the controller checked.
      const lostAt = node?.goneAt ?? node?.unreadySince;
      const isOld = lostAt === undefined || book.now - lostAt > book.lagMicros;
      if (node !== undefined && (!isOld || (node.ready && node.goneAt === undefined))) return;
      report({
        subject: instanceId,
        message: 'its launch was completed before its node was Ready',
      });
    };
    const complete = (entry: Call): void => {
      const instanceId = book.instanceOfCall(entry);
      const instance = book.cloud.instances.get(instanceId);
      if (instance === undefined || !book.isManaged(textOf(entry.input.AutoScalingGroupName)))
        return;
      saw();
      if (instance.wait?.kind === 'terminate') {
        const doubt = terminationDoubt(context, instanceId);
        if (doubt !== undefined) doubts.push(doubt);
      } else if (entry.input.LifecycleActionResult === 'CONTINUE') launch(instanceId);
    };
    return {
      object: ({ type, resource, object }) => {
        if (resource !== 'nodedisruptions' || type === 'DELETED' || !book.isNewVersion) return;
        const name = textOf(objectOr(object.metadata).name);
        const one = book.disruptions.byName.get(name);
        const left = one === undefined ? undefined : falselyDrained(context, one);
        if (left === undefined) return;
        const { pod, node } = left;
        const message = `told as Drained while ${pod.key} still ran on ${node.name}`;
        report({ subject: name, message });
      },
      call: (entry) => {
        if (entry.operation !== 'CompleteLifecycleAction' || entry.error !== undefined) return;
        if (book.isOurs(entry)) complete(entry);
      },
      end: () => {
        for (const { at, instanceId, message } of doubts) {
          // Without EC2 states in the trace, the journal's outcome counts as proof that the
          // instance ended.
          const outcome = book.disruptions.ofInstance(instanceId)?.outcome;
          if (!book.cloud.seesInstances && outcome === 'InstanceGone') continue;
          report({ at, subject: instanceId, message });
        }
      },
    };
  },
};
