// A termination hook is completed only if the node has no pod left or the forcing deadline has
// passed. Pods of a deleted Node object count.
import type { Context, Watcher } from '../../oracle.ts';
import type { DisruptionState, NodeState, PodState } from '../../state/book.ts';
import { microsPerMinute, microsPerSecond } from '../../state/read.ts';
import { managedInstanceOf } from './calls.ts';
import { completionExemptions } from './exemptions.ts';
import { holding } from './holding.ts';

/** The journal's deadline has milliseconds, and a call takes time. */
const slackMicros = microsPerSecond;
/**
 * A pod bound this long before the end could still be deleted by force; its grace period is added
 * to this time.
 */
const forceMicros = 30 * microsPerSecond;
/** A drain that may not force keeps its hook open until this long before the hook's own end. */
const lastMomentMicros = microsPerMinute;

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

/** The instance's node, even if deleted, unless another node has taken its name. */
const nodeUnder = ({ book: { nodes } }: Context, instanceId: string): NodeState | undefined => {
  const last = nodes.lastOfInstance(instanceId);
  return last !== undefined && nodes.byName.get(last.name) === last ? last : undefined;
};

/** What the controller failed to do on the node; undefined: the completion is correct. */
const complaint = (
  context: Context,
  node: NodeState,
  disruption: DisruptionState | undefined,
): string | undefined => {
  if (disruption !== undefined && isTimeUp(context, disruption)) {
    const pod = forgotten(context, node, disruption);
    if (pod === undefined) return undefined;
    return `completed at its deadline, and ${pod.key} had not been told to stop`;
  }
  const pods = holding(context, node, disruption);
  const [first] = pods;
  if (first === undefined) return undefined;
  const more = pods.length > 1 ? ` and ${pods.length - 1} more` : '';
  return `completed while ${first.key}${more} still ran on ${node.name}`;
};

interface Doubt {
  readonly at: number;
  readonly instanceId: string;
  readonly message: string;
}

/** The reason why a completion looks too early; undefined: it is correct. */
const doubtOf = (context: Context, instanceId: string): Doubt | undefined => {
  const { book, isExempt } = context;
  const node = nodeUnder(context, instanceId);
  const isDead = book.cloud.instances.get(instanceId)?.deadAt !== undefined;
  if (node === undefined || isDead) return undefined;
  const disruption = book.disruptions.ofInstance(instanceId);
  const message = complaint(context, node, disruption);
  if (message === undefined) return undefined;
  if (isExempt(completionExemptions, { book, node, disruption })) return undefined;
  return { at: book.now, instanceId, message };
};

export const watchTerminations = (context: Context): Watcher => {
  const { book, saw, report } = context;
  const doubts: Doubt[] = [];
  return {
    call: (entry) => {
      const instance = managedInstanceOf(book, entry);
      if (instance?.wait?.kind !== 'terminate') return;
      saw();
      const doubt = doubtOf(context, instance.instanceId);
      if (doubt !== undefined) doubts.push(doubt);
    },
    end: () => {
      for (const { at, instanceId, message } of doubts) {
        // Without EC2 states in the trace, the journal's outcome counts as proof that the instance
        // ended.
        const outcome = book.disruptions.ofInstance(instanceId)?.outcome;
        if (!book.cloud.seesInstances && outcome === 'InstanceGone') continue;
        report({ at, subject: instanceId, message });
      }
    },
  };
};
