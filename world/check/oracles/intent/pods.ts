// A pod is evicted or deleted only from a node whose drain is Draining and not withdrawn.
import type { Context } from '../../oracle.ts';
import { type DisruptionState, isEviction, type Request } from '../../state/book.ts';
import { inForce } from '../../state/disruptions.ts';
import { reached } from './phases.ts';

/** A request that was in transit when the journal closed is not a new effect. */
const isOver = ({ book }: Context, disruption: DisruptionState): boolean => {
  const closedAt = disruption.phaseAt.get('Undoing') ?? disruption.phaseAt.get('Ended');
  return closedAt !== undefined && book.now - closedAt > book.lagMicros;
};

/** No cause is in force, for long enough that the controller could know. */
const isWithdrawn = ({ book }: Context, disruption: DisruptionState): boolean => {
  const { now, lagMicros } = book;
  return inForce(disruption, { at: now, lagMicros }).length === 0;
};

export const checkPod = (context: Context, entry: Request): void => {
  const { book, saw, report } = context;
  const pod = book.podOf(entry);
  if (pod === undefined || pod.nodeName === '') return;
  saw();
  const what = isEviction(entry) ? 'evicted' : 'deleted';
  const disruption = book.disruptionOf(pod);
  const before = disruption && book.episodeBefore(disruption);
  const told = (why: string) => report({ subject: pod.key, message: `${what} ${why}` });
  if (disruption === undefined || disruption.goneAt !== undefined) {
    told(`from ${pod.nodeName} without a NodeDisruption`);
  } else if (!reached(disruption, ['Draining']) && !before?.phases.has('Draining')) {
    told(`before ${disruption.name} was Draining`);
  } else if (isOver(context, disruption)) {
    told(`after ${disruption.name} had come to its end`);
  } else if (isWithdrawn(context, disruption)) {
    told(`although every cause of ${disruption.name} had been withdrawn`);
  } else if (!isEviction(entry) && !disruption.forcingSince && !before?.forcingSince) {
    told(`before ${disruption.name} said that it forces`);
  }
};
