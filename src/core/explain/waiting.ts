// Renders each blocker as one line of plain text: which pod and owner, which budget, since when,
// what frees it, when it is forced. The CLI, events and the status share it.
import type { WaitingOn } from '../../api/disruption.ts';
import { criticalPriority, unreadyPodText } from '../drain/index.ts';

type Of<K extends WaitingOn['kind']> = Extract<WaitingOn, { kind: K }>;

const owned = (pod: string, owner: string | undefined): string =>
  owner === undefined ? `pod ${pod}` : `pod ${pod} of ${owner}`;

/** ", since T"; empty when the time is unknown. */
const since = (at: string | undefined): string => (at === undefined ? '' : `, since ${at}`);

const ending = (forceAt: string | undefined): string =>
  forceAt === undefined ? '; never forced' : `; forced at ${forceAt}`;

const pdb = (waiting: Of<'pdb'>): string => {
  const { pod, owner, budgets, message, neverAllows, freedBy, unready, forceAt } = waiting;
  const frees = neverAllows
    ? 'this budget never allows an eviction: only changing or deleting it, or the pod, helps'
    : freedBy === 'scaleUp'
      ? 'every replica is needed: one more replica, or a lower minAvailable, frees it'
      : unready === undefined
        ? 'a Ready replacement frees it'
        : `it waits for ${unreadyPodText(unready)}`;
  const what = `${owned(pod, owner)} waits for budget ${budgets.join(', ')}`;
  return `${what} (${message})${since(waiting.since)}; ${frees}${ending(forceAt)}`;
};

const selfMoving = (waiting: Of<'selfMoving'>): string => {
  const { pod, owner, webhook, message, requests, requestAgainAt, forceAt } = waiting;
  const count = `${requests} ${requests === 1 ? 'request' : 'requests'}`;
  const by = webhook === undefined ? 'refused' : `denied by webhook ${webhook}`;
  const words = message === '' ? 'without a message' : message;
  const asked = `${count} to evict it ${by} (${words})${since(waiting.since)}`;
  const what = `${owned(pod, owner)} is moved by its own application: ${asked}`;
  return `${what}; requested again at ${requestAgainAt}${ending(forceAt)}`;
};

const multiplePdbs = ({ pod, owner, budgets, since: at, forceAt }: Of<'multiplePdbs'>): string =>
  `${owned(pod, owner)} is selected by ${budgets.length} budgets (${budgets.join(', ')}), which ` +
  `Kubernetes refuses to evict${since(at)}; one budget per pod frees it${ending(forceAt)}`;

const budgetHeld = ({ pod, budget, until, forceAt }: Of<'budgetHeld'>): string =>
  `pod ${pod} waits for budget ${budget}, held until ${until} by an eviction that found its pod ` +
  `replaced${ending(forceAt)}`;

const whyStillThere: Readonly<Record<Of<'termination'>['why'], string>> = {
  grace: 'is stopping',
  kubelet: 'should have stopped; its kubelet does not confirm it',
  finalizers: 'has stopped but is kept by finalizers',
};

const termination = (waiting: Of<'termination'>): string => {
  const { pod, why, graceEndsAt, finalizers = [] } = waiting;
  const names = finalizers.length === 0 ? '' : ` ${finalizers.join(', ')}`;
  const grace = `grace ${why === 'grace' ? 'ends' : 'ended'} at ${graceEndsAt}`;
  return `pod ${pod} ${whyStillThere[why]}${names}${since(waiting.since)}; ${grace}`;
};

const evictionError = (waiting: Of<'evictionError'>): string => {
  const { pod, code, message, retryAt, forceAt } = waiting;
  const again = retryAt === undefined ? '' : `; tried again at ${retryAt}`;
  const failed = `pod ${pod} could not be evicted: ${code}: ${message}`;
  return `${failed}${since(waiting.since)}${again}${ending(forceAt)}`;
};

const hook = ({ hookName, autoScalingGroupName, message, retryAt }: Of<'hook'>): string => {
  const again = retryAt === undefined ? '' : `; tried again at ${retryAt}`;
  return `hook ${hookName} of ${autoScalingGroupName}: ${message}${again}`;
};

const tier = ({
  pod,
  priority = criticalPriority,
  podsBefore,
  until,
  forceAt,
}: Of<'tier'>): string => {
  const what = priority >= criticalPriority ? 'is system-critical' : `is of tier ${priority}`;
  const others = `${podsBefore} other ${podsBefore === 1 ? 'pod' : 'pods'}`;
  const latest = until === undefined ? '' : `, or from ${until}`;
  return `pod ${pod} ${what} and goes after ${others}${latest}${ending(forceAt)}`;
};

const deregistration = (waiting: Of<'deregistration'>): string => {
  const { node, stage, targetGroups, until } = waiting;
  const what =
    stage === 'evictions'
      ? `load balancers still send to node ${node}`
      : `the pods are gone; load balancers still drain connections of node ${node}`;
  const groups = `target groups ${targetGroups.join(', ')}; Classic Load Balancers are not read`;
  return `${what} (${groups}); waits at most until ${until}`;
};

const renderers: { readonly [K in WaitingOn['kind']]: (waiting: Of<K>) => string } = {
  pdb,
  selfMoving,
  multiplePdbs,
  budgetHeld,
  termination,
  evictionError,
  hook,
  tier,
  doNotEvict: ({ pod, owner, annotation, until, forceAt }) =>
    `${owned(pod, owner)} has ${annotation}; it is evicted at ${until} if it is still here` +
    `${forceAt === undefined ? '' : ending(forceAt)}`,
  job: ({ pod, owner, until, forceAt }) =>
    `${owned(pod, owner)} may complete; it is evicted at ${until} if it has not` +
    `${forceAt === undefined ? '' : ending(forceAt)}`,
  replacement: ({ pod, owner, forceAt }) =>
    `pod ${pod} is among the last of ${owner}; a Ready replacement frees it${ending(forceAt)}`,
  boomerang: ({ pod, owner }) =>
    `${owned(pod, owner)} was put back on the node after its marks; it was evicted once and stays`,
  marks: ({ node }) => `node ${node} does not show its marks yet`,
  batch: ({ nodes, until }) =>
    nodes.length === 0
      ? `more nodes are being asked for, which are marked first; at most until ${until}`
      : `nodes of the same batch are being marked first: ${nodes.join(', ')}; at most until ` +
        `${until}`,
  settling: ({ until }) =>
    `the node is empty; pods already on their way are awaited until ${until}`,
  deregistration,
  surge: ({ pod, owner, message, until, forceAt }) =>
    `pod ${pod} is replaced before it goes: ${owner} ${message}; evicted at ${until} if it is ` +
    `still here${forceAt === undefined ? '' : ending(forceAt)}`,
  volumes: ({ node, volumes, until }) =>
    `the pods are gone; node ${node} still has ${volumes.length} attached ` +
    `${volumes.length === 1 ? 'volume' : 'volumes'} (${volumes.join(', ')}); waits at most until ` +
    `${until}`,
  cooldown: ({ until }) =>
    `drained; load balancers let go of the node until ${until}, then its instance is terminated`,
  terminationHold: ({ by }) =>
    `drained; the instance is terminated when ${by} lets it go, which runs its hooks first`,
  hold: ({ by }) => `the node is marked and waits for its turn in ${by}`,
  turn: ({ message }) => `waits for its turn: ${message}`,
  api: ({ what, message }) => `${what}: ${message}`,
  instance: ({ message }) => `instance: ${message}`,
};

/** Looks the renderer up by the value's own kind, which the type of the table guarantees to fit. */
export const explainWaiting = (waiting: WaitingOn): string => {
  const render: (waiting: never) => string = renderers[waiting.kind];
  return render(waiting as never);
};
