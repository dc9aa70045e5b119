// Oracle 3, second half: we complete a termination hook only when no pod is left on its node, a
// deleted Node object included, or its forcing deadline has come; a launch hook only when its node
// is Ready. A drain without a hook is Drained only when its node is empty, too.
import { objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { Call, DisruptionState, NodeState, PodState } from '../state/book.ts';
import { microsPerMinute, microsPerSecond, textOf } from '../state/read.ts';

/** A pod may be bound between the last look at the node and what follows from it. */
const lookMicros = microsPerSecond;
/** The journal's deadline in milliseconds, and a call that was on its way. */
const slackMicros = microsPerSecond;
/** A pod that was there so long before the end had its forced-at time; its grace comes besides. */
const forceMicros = 30 * microsPerSecond;
/** A drain that may not force keeps its hook to shortly before the hook's own end. */
const lastMomentMicros = microsPerMinute;

/**
 * A pod whose kubelet is dead was told to stop so long before, less a second that Kubernetes does
 * not write.
 */
const unstoppableMicros = 29 * microsPerSecond;

/** Its owner, or who started it by hand, puts it back whatever we do; the journal says so. */
const isBoomerang = (pod: PodState, owners: ReadonlySet<string>): boolean =>
  owners.has(pod.ownerUid === '' ? `pod/${pod.key}` : pod.ownerUid);

/** Whether its kubelet was silent then, as far as could be known. */
const wasSilent = (node: NodeState, at: number, lagMicros: number): boolean => {
  const { silentSince, heardAgainAt } = node;
  if (silentSince === undefined || silentSince > at) return false;
  return heardAgainAt === undefined || at - heardAgainAt <= lagMicros;
};

/** Its instance stays after the drain, and with it what runs there. */
const staysAfterwards = ({ causes }: DisruptionState): boolean =>
  causes.every(({ kind, followUp }) => kind === 'Manual' && followUp === 'Release');

/** Told to stop long ago, and no kubelet does it: only the end of the instance can. */
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
  /** When the drain was decided to be over. */
  readonly at: number;
}

/**
 * Pods for whose sake the instance has to stay; also those that are still stopping. Who comes after
 * Completing stands in the journal comes to a node that is given up: dying between that write and
 * the call does not take it back.
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

/** It empties its node by force, and the time for that has come. */
const isForced = ({ book }: Context, disruption: DisruptionState): boolean => {
  const deadlineAt = book.forcingDeadline(disruption);
  const now = book.now + (book.facts.clockSkew ?? 0);
  return deadlineAt !== undefined && now >= deadlineAt - slackMicros;
};

/**
 * The forcing deadline has come; where nothing forces by then, a hook of the drain is about to end.
 */
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

/** Forced pods are told to stop before their instance goes; these had time for it. */
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

/** Decided by the episode before, by somebody who cannot have known yet that another has opened. */
const isOfEpisodeBefore = ({ book }: Context, one: DisruptionState): boolean =>
  book.episodeBefore(one)?.phases.has('Completing') === true;

/**
 * Decided when there was no node, which has registered since: pods whose node is deleted are there
 * for a while yet, and are found on it again. Who stood still between its decision and the call
 * need not have seen it.
 */
const wasThereNone = ({ book }: Context, node: NodeState, one: DisruptionState): boolean => {
  const decidedAt = one.phaseAt.get('Completing') ?? book.now;
  if (one.outcome !== 'NothingToDrain' || node.joinedAt <= decidedAt) return false;
  return book.now - node.joinedAt <= book.lagMicros;
};

/** The instance's node, or the one that was deleted under it while its name is still its own. */
const nodeUnder = ({ book: { nodes } }: Context, instanceId: string): NodeState | undefined => {
  const last = nodes.lastOfInstance(instanceId);
  return last !== undefined && nodes.byName.get(last.name) === last ? last : undefined;
};

/** A completion that looks too early; undefined = it is in order. */
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

/** The write with which a drain says that it is done, and what still stood against it. */
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
      // What was Ready, or was there, a moment ago was so when we looked.
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
          // Where the trace has no EC2 states, the journal is believed that EC2 had ended it.
          const outcome = book.disruptions.ofInstance(instanceId)?.outcome;
          if (!book.cloud.seesInstances && outcome === 'InstanceGone') continue;
          report({ at, subject: instanceId, message });
        }
      },
    };
  },
};
