// Oracle 14, at the end: once the world has settled without faults, no drain is open and no
// instance waits. Exempt are drains that name a pod and its blocking budgets. Every Deployment is
// healthy, unless the cluster has no room for it. For node groups see group-ends.ts.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { DisruptionState } from '../state/book.ts';
import { inForce, isHeld } from '../state/disruptions.ts';
import { isHealthy, type PodState } from '../state/pods.ts';
import { microsPerMinute, numberOf, selectorMatch, textOf } from '../state/read.ts';
import { GroupEnds } from './group-ends.ts';
import { UpdateEnds } from './update-ends.ts';

/** A pod that was bound this recently may still be starting. */
const startMicros = 2 * microsPerMinute;

/** Time that a drain may continue after its forcing deadline, for a few restarts and refusals. */
const overdueMicros = 5 * microsPerMinute;
const everyMicros = microsPerMinute;

/**
 * A forcing deadline ends a drain, whatever the budgets say. Before Draining, a watch without the
 * marks may delay it: no pod has been touched yet, and the hook is extended.
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

/** The named blockers are true: the pod exists, and the named budgets cover it. */
const isBlockedAsTold = ({ book }: Context, disruption: DisruptionState): boolean =>
  disruption.waitingOn.some(({ kind, pod, budgets }) => {
    if (kind !== 'pdb' && kind !== 'multiplePdbs') return false;
    const state = book.pods.byKey.get(pod);
    if (state === undefined || state.goneAt !== undefined || budgets.length === 0) return false;
    const covering = book.pods.budgetsOf(state).map((budget) => budget.key);
    return budgets.every((name) => covering.includes(name));
  });

/** Only the owner of the cause can end this wait; the node keeps its marks and its pods. */
const waitsForItsTurn = ({ book }: Context, one: DisruptionState): boolean =>
  one.phase === 'Draining' &&
  one.heldSince !== undefined &&
  isHeld(one, { at: book.now, lagMicros: book.lagMicros });

/** Advice, or maintenance ahead, for an unmarked node: maxUnavailable does not allow it yet. */
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
    // The controller's hook has ended; the instance waits for a hook of others.
    if (hooks > 0 && disruption?.phase === 'Ended') continue;
    report({ subject: instance.instanceId, message: 'still in Terminating:Wait' });
  }
};

/** EKS includes this many host-network pods in maxPods; the other pods need an IP address. */
const hostNetworkPods = 2;

/** Without its DaemonSets, a node accepts more pods than it has addresses. */
const lacksAddress = ({ book }: Context, pod: PodState): boolean => {
  const { maxPods } = book.nodes.byName.get(pod.nodeName) ?? {};
  if (maxPods === undefined) return false;
  const holders = [...book.pods.on(pod.nodeName)].filter(
    (one) => one.goneAt === undefined && !one.isOnHostNetwork,
  );
  return holders.length > maxPods - hostNetworkPods;
};

/** Excusable reasons why a pod is not Ready: no room, no node, no address, or still starting. */
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
