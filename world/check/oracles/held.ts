// While every cause of a node says to hold it, the node keeps its pods and its instance. The first
// eviction comes only after the journal says that the node is not held.
import { both, type Context, type Oracle } from '../oracle.ts';
import { type Call, type DisruptionState, endsPod, succeeded } from '../state/book.ts';
import { isTermination } from '../state/cloud.ts';
import { isHeld } from '../state/disruptions.ts';

const waits = ({ book }: Context, one: DisruptionState): boolean =>
  isHeld(one, { at: book.now, lagMicros: book.lagMicros });

/** Recorded for longer than an earlier request may have been in transit. */
const isTold = ({ book }: Context, { heldSince }: DisruptionState): boolean =>
  heldSince !== undefined && book.now - heldSince > book.lagMicros;

/** A scale-in whose drain is complete terminates the instance even if other causes hold it. */
const goesAnyway = ({ causes }: DisruptionState): boolean =>
  causes.some(({ kind, isCancelled }) => kind === 'ScaleIn' && !isCancelled);

const checkTermination = (context: Context, entry: Call): void => {
  const instanceId = context.book.instanceOfCall(entry);
  const one = context.book.disruptions.ofInstance(instanceId);
  if (one === undefined || goesAnyway(one) || !waits(context, one)) return;
  context.report({ subject: instanceId, message: 'terminated although its node was held' });
};

export const held: Oracle = {
  name: 'held-nodes-keep-their-pods',
  what: 'the controller evicts, deletes and terminates nothing on a node whose causes all hold it',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book, saw, report } = context;
    return {
      object: (entry) => {
        const one = book.disruptionIn(entry);
        if (one?.causes.some(({ isHolding }) => isHolding) === true) saw();
      },
      request: (entry) => {
        if (!book.isOurs(entry) || !succeeded(entry) || !endsPod(entry)) return;
        const pod = book.podOf(entry);
        const one = pod && book.disruptionOf(pod);
        if (pod === undefined || one === undefined) return;
        if (waits(context, one)) {
          report({ subject: pod.key, message: `sent away although ${one.name} was held` });
        } else if (isTold(context, one)) {
          const message = `sent away before ${one.name} said that it is held no more`;
          report({ subject: pod.key, message });
        }
      },
      call: (entry) => {
        if (!book.isOurs(entry) || entry.error !== undefined || !isTermination(entry)) return;
        checkTermination(context, entry);
      },
    };
  },
};
