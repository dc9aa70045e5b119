// Oracle 14, at the end: once faults are off and things have settled, no drain is open and no
// instance waits, unless a pod and the budgets that hold it are named; and every Deployment is
// whole again, unless the cluster has no room for it. Of node groups: group-ends.ts.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { DisruptionState } from '../state/book.ts';
import { inForce, isHeld } from '../state/disruptions.ts';
import { isHealthy, type PodState } from '../state/pods.ts';
import { microsPerMinute, numberOf, selectorMatch, textOf } from '../state/read.ts';
import { GroupEnds } from './group-ends.ts';
import { UpdateEnds } from './update-ends.ts';

/** A pod that came to its node so lately may still be starting. */
const startMicros = 2 * microsPerMinute;

/** How long a drain may go on after its forcing deadline: a few restarts and refusals. */
const overdueMicros = 5 * microsPerMinute;
const everyMicros = microsPerMinute;

/**
 * A deadline that forces is an end, whatever the budgets say. Before Draining a watch that shows no
 * marks may hold it up: nothing was done to any pod then, and its hook is kept.
 */
const checkDeadlines = (context: Context, told: Set<string>): void => {
  const { book, saw, report } = context;
  for (const one of book.disruptions.living()) {
    if (one.phase !== 'Draining') continue;
    const deadlineAt = book.forcingDeadline(one);
    if (deadlineAt === undefined || book.now - deadlineAt < overdueMicros) continue;
    saw();
    const key = `${one.name} ${one.episode}`;
    if (told.has(key)) continue;
    told.add(key);
    const message = `still Draining 5 min after its forcing deadline`;
    report({ subject: one.name, message });
  }
};

/** Named blockers that are true: the pod is there, and something of that name covers it. */
const isBlockedAsTold = ({ book }: Context, disruption: DisruptionState): boolean =>
  disruption.waitingOn.some(({ kind, pod, budgets }) => {
    if (kind !== 'pdb' && kind !== 'multiplePdbs') return false;
    const state = book.pods.byKey.get(pod);
    if (state === undefined || state.goneAt !== undefined || budgets.length === 0) return false;
    const covering = book.pods.budgetsOf(state).map((budget) => budget.key);
    return budgets.every((name) => covering.includes(name));
  });

/** Nobody but the owner of the cause can end that; the node shows its marks and keeps its pods. */
const waitsForItsTurn = ({ book }: Context, one: DisruptionState): boolean =>
  one.phase === 'Draining' &&
  one.heldSince !== undefined &&
  isHeld(one, { at: book.now, lagMicros: book.lagMicros });

/**
 * Advice, or maintenance to come, on a node that is not marked: its group has no room for it yet.
 */
const waitsForRoom = ({ book }: Context, one: DisruptionState): boolean =>
  one.phase === 'Pending' &&
  one.waitingOn.some(({ kind }) => kind === 'turn') &&
  inForce(one, { at: book.now, lagMicros: book.lagMicros }).every(
    ({ kind }) => kind === 'RebalanceRecommendation' || kind === 'Maintenance',
  );

const checkDrains = (context: Context): void => {
  const { book, saw, report } = context;
  for (const one of book.disruptions.living()) {
    saw();
    const waits = [isBlockedAsTold, waitsForItsTurn, waitsForRoom];
    if (one.phase === 'Ended' || waits.some((isTrue) => isTrue(context, one))) continue;
    const kinds = [...new Set(one.waitingOn.map((waiting) => waiting.kind))].join(', ');
    report({
      subject: one.name,
      message: `still ${one.phase || 'Pending'}, waiting for ${kinds || 'nothing that it names'}`,
    });
  }
};

const checkInstances = (context: Context): void => {
  const { book, saw, report } = context;
  for (const instance of book.cloud.instances.values()) {
    if (!book.isManaged(instance.group)) continue;
    saw();
    if (instance.state !== 'Terminating:Wait') continue;
    const hooks = instance.wait?.ended.size ?? 0;
    const disruption = book.disruptions.ofInstance(instance.instanceId);
    if (disruption !== undefined && isBlockedAsTold(context, disruption)) continue;
    // Our hook has ended; what it still waits for is somebody else's.
    if (hooks > 0 && disruption?.phase === 'Ended') continue;
    report({ subject: instance.instanceId, message: 'still in Terminating:Wait' });
  }
};

/**
 * EKS counts this many pods of the host's network into the pods of a node: the others take
 * addresses.
 */
const hostNetworkPods = 2;

/** Where its own DaemonSets are missing a node takes more pods than it has addresses for. */
const lacksAddress = ({ book }: Context, pod: PodState): boolean => {
  const { maxPods } = book.nodes.byName.get(pod.nodeName) ?? {};
  if (maxPods === undefined) return false;
  const holders = [...book.pods.on(pod.nodeName)].filter(
    (one) => one.goneAt === undefined && !one.isOnHostNetwork,
  );
  return holders.length > maxPods - hostNetworkPods;
};

/** Why a pod that is not Ready is nobody's fault: no room, no node, or it has just begun. */
const isExcused = (context: Context, pod: PodState): boolean =>
  pod.nodeName === '' ||
  context.book.nodes.byName.get(pod.nodeName)?.ready !== true ||
  context.book.now - pod.boundAt < startMicros ||
  lacksAddress(context, pod);

const checkDeployment = (context: Context, deployment: JsonObject): void => {
  const { book, saw, report } = context;
  const { namespace, name } = objectOr(deployment.metadata);
  const spec = objectOr(deployment.spec);
  const wanted = numberOf(spec.replicas) ?? 1;
  const matches = selectorMatch(spec.selector);
  saw();
  let healthy = 0;
  for (const pod of book.pods.byKey.values()) {
    if (pod.namespace !== namespace || pod.goneAt !== undefined || !matches(pod.labels)) continue;
    if (isHealthy(pod)) healthy++;
    else if (pod.terminatingAt === undefined && isExcused(context, pod)) return;
  }
  if (healthy >= wanted) return;
  report({
    subject: `${textOf(namespace)}/${textOf(name)}`,
    message: `${healthy} of ${wanted} pods are Ready, and there is room for the others`,
  });
};

export const liveness: Oracle = {
  name: 'everything-ends',
  what:
    'drains end by their deadlines, and once settled nothing is open or unhealthy without a ' +
    'named reason',
  strategies: both,
  needs: ['object', 'lifecycle'],
  watch: (context) => {
    const { book } = context;
    const told = new Set<string>();
    const groups = new GroupEnds();
    const updates = new UpdateEnds(context);
    let next = 0;
    const tick = (): void => {
      if (book.now < next) return;
      next = book.now + everyMicros;
      checkDeadlines(context, told);
      updates.tick();
    };
    return {
      object: (entry) => {
        groups.take(entry);
        updates.take(entry);
        const one = book.disruptionIn(entry);
        if (one !== undefined) updates.disruption(one);
        tick();
      },
      lifecycle: (entry) => updates.moved(entry),
      end: () => {
        checkDeadlines(context, told);
        if (!book.facts.settled) return;
        checkDrains(context);
        checkInstances(context);
        groups.check(context);
        updates.check();
        for (const deployment of book.deployments.values()) checkDeployment(context, deployment);
      },
    };
  },
};
