// Oracle 11: every effect has an earlier intent. Before the controller changes a pod, a node or a
// hook, the journal has committed the phase of this episode that allows it.
import { both, type Context, type Oracle } from '../oracle.ts';
import {
  type Call,
  type DisruptionState,
  endsPod,
  isEviction,
  type NodeState,
  type Request,
  succeeded,
} from '../state/book.ts';
import { isHookCall, isTermination } from '../state/cloud.ts';
import { inForce } from '../state/disruptions.ts';
import { TemplateIntent } from './template-intent.ts';

/** Whether one of the phases was committed in this episode. */
const reached = (disruption: DisruptionState, phases: readonly string[]): boolean =>
  phases.some((phase) => disruption.phaseAt.has(phase));

/** A request in flight when the journal closed is not a new effect. */
const isOver = ({ book }: Context, disruption: DisruptionState): boolean => {
  const closedAt = disruption.phaseAt.get('Undoing') ?? disruption.phaseAt.get('Ended');
  return closedAt !== undefined && book.now - closedAt > book.lagMicros;
};

/** No cause is in force, for long enough that the controller could know. */
const isWithdrawn = ({ book }: Context, disruption: DisruptionState): boolean => {
  const { now, lagMicros } = book;
  return inForce(disruption, { at: now, lagMicros }).length === 0;
};

const checkPod = (context: Context, entry: Request): void => {
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

const checkNode = (context: Context, node: NodeState): void => {
  const { book, saw, report } = context;
  if (node.pending.length === 0) return;
  saw();
  const disruption = book.disruptions.ofNode(node);
  if (disruption === undefined) {
    report({ subject: node.name, message: 'marks were changed without a NodeDisruption' });
    return;
  }
  const sets = node.pending.some((change) => change.to !== undefined);
  const wanted = sets ? 'Marking' : 'Undoing';
  if (reached(disruption, [wanted]) || book.episodeBefore(disruption)?.phases.has(wanted)) return;
  report({
    subject: node.name,
    message: `marks were ${sets ? 'set' : 'taken away'} before ${disruption.name} was ${wanted}`,
  });
};

const checkHook = (context: Context, entry: Call): void => {
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

const takesInstance = new Set(['Terminate', 'Replace']);

/**
 * Whether the cause requests the instance. A scale-in terminates what it drained, unless withdrawn.
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
const checkTermination = (context: Context, entry: Call): void => {
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

export const intent: Oracle = {
  name: 'intent-before-effect',
  what:
    'each eviction, deletion, mark, hook call, termination and template was announced in the ' +
    'journal before',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book } = context;
    const templates = new TemplateIntent(context);
    return {
      object: (entry) => templates.object(entry),
      request: (entry) => {
        if (!succeeded(entry) || !book.isOurs(entry)) return;
        if (endsPod(entry)) checkPod(context, entry);
        else if (entry.resource === 'nodes') {
          const node = book.nodes.byName.get(entry.name ?? '');
          if (node !== undefined) checkNode(context, node);
        }
      },
      call: (entry) => {
        if (!book.isOurs(entry) || entry.error !== undefined) return;
        if (isHookCall(entry)) checkHook(context, entry);
        else if (isTermination(entry)) checkTermination(context, entry);
        else templates.call(entry);
      },
    };
  },
};
