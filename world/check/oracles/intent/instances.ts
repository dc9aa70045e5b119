// A hook is completed, and an instance terminated, only for a drain that the journal records and
// that has reached that phase.
import type { Context } from '../../oracle.ts';
import type { Call, DisruptionState } from '../../state/book.ts';
import { reached } from './phases.ts';

export const checkHook = (context: Context, entry: Call): void => {
  const { book, saw, report } = context;
  const instanceId = book.instanceOfCall(entry);
  const wait = book.cloud.instances.get(instanceId)?.wait;
  if (wait?.kind !== 'terminate') return;
  saw();
  const disruption = book.disruptions.ofInstance(instanceId);
  if (disruption === undefined) {
    report({ subject: instanceId, message: `${entry.operation} without a NodeDisruption` });
  } else if (entry.operation === 'CompleteLifecycleAction') {
    if (reached(disruption, ['Draining', 'Completing'])) return;
    report({ subject: instanceId, message: 'its hook was completed before it was Draining' });
  }
};

const takesInstance = new Set(['Terminate', 'Replace', 'Detach']);

/**
 * Whether the cause requests the termination. A scale-in terminates what it drained, unless it was
 * withdrawn.
 */
const asksFor = (cause: DisruptionState['causes'][number], book: Context['book']): boolean => {
  if (takesInstance.has(cause.followUp)) return true;
  const { cancelledSeenAt } = cause;
  const isOpen = cancelledSeenAt === undefined || book.now - cancelledSeenAt <= book.lagMicros;
  return cause.kind === 'ScaleIn' && isOpen;
};

/** Drained by this episode, or by the previous one while the controller may not know this one. */
const wasDrained = ({ book }: Context, disruption: DisruptionState): boolean => {
  if (reached(disruption, ['Completing'])) return true;
  const { causes, handledBefore } = disruption;
  if (book.episodeBefore(disruption) === undefined) return false;
  return causes.some((cause) => handledBefore.has(cause.id) && asksFor(cause, book));
};

/** The controller terminates an instance only for a cause, and only after the drain. */
export const checkTermination = (context: Context, entry: Call): void => {
  const { book, saw, report } = context;
  const instanceId = book.instanceOfCall(entry);
  saw();
  const disruption = book.disruptions.ofInstance(instanceId);
  const told = (why: string) => report({ subject: instanceId, message: `terminated ${why}` });
  if (disruption === undefined) told('without a NodeDisruption');
  else if (!disruption.causes.some((cause) => asksFor(cause, book))) {
    told('although no cause asks for the instance');
  } else if (!wasDrained(context, disruption)) told('before its node was drained');
};
