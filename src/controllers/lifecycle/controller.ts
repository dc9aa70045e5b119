// The level-triggered backstop. Every 30 s it reads the instances of managed groups that wait in a
// lifecycle hook: it records terminations without a message, and completes launch hooks when the
// node is Ready. Every minute it reads EC2's scheduled events. Completes no terminate hook and
// changes no hook of others.
import { type EpochMs, epochMs, instanceIdOfProviderId, parseTime } from '../../api/brand.ts';
import type { LifecycleHook, ScalingInstance } from '../../api/cloud.ts';
import { isReady } from '../../api/conditions.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { launchHookName, terminateHookName } from '../../core/nodegroup/index.ts';
import {
  decideLifecycle,
  decideScheduled,
  type LifecycleAction,
  launchKey,
  type OwnsHook,
  ownHooks,
  type ScheduledAction,
  type ScheduledInstance,
  type WaitingInstance,
} from '../../core/termination/index.ts';
import { CloudError } from '../../ports/index.ts';
import {
  allSynced,
  type Change,
  describeError,
  type Informer,
  NotLeader,
  WorkQueue,
} from '../../runtime/index.ts';
import type { BaseDeps } from '../base-deps.ts';
import { recordCause, withdrawCause } from '../causes.ts';
import { GroupDirectory } from '../group-directory.ts';
import { nodeOfInstance } from '../informers.ts';
import { journalAction, journalScheduled } from './events.ts';

export interface LifecycleDeps extends BaseDeps {
  readonly disruptions: Informer<NodeDisruption>;
  /** Which hooks Drover completes; default: the two that EKS creates. */
  readonly ownsHook?: OwnsHook;
}

export interface LifecycleController {
  run(signal: AbortSignal): Promise<void>;
}

const pollEveryMs = 30_000;
/** EC2 announces maintenance days, at least minutes ahead: one call per minute for all groups. */
const scheduledEveryMs = 60_000;
/** Many nodes become Ready together: one poll covers those within a second. */
const gatherMs = 1_000;

export const createLifecycleController = (deps: LifecycleDeps): LifecycleController => {
  const lifecycle = new Lifecycle(deps);
  return { run: (signal) => lifecycle.run(signal) };
};

class Lifecycle {
  readonly #deps: LifecycleDeps;
  readonly #directory: GroupDirectory;
  readonly #ownsHook: OwnsHook;
  /** Reading all groups and reading EC2's events fail and are retried independently. */
  readonly #queue: WorkQueue<'look' | 'scheduled'>;
  readonly #triedAt = new Map<string, number>();

  constructor(deps: LifecycleDeps) {
    this.#deps = deps;
    this.#directory = new GroupDirectory(deps);
    this.#ownsHook = deps.ownsHook ?? ownHooks();
    this.#queue = new WorkQueue({ ...deps, name: 'lifecycle', concurrency: 2 });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nodeGroups, nodes, disruptions, clock } = this.#deps;
    if (!(await allSynced([nodeGroups, nodes, disruptions], signal))) return;
    const soon = (): void => this.#queue.addAfter('look', epochMs(clock.now() + gatherMs));
    const stopListening = [
      nodes.onChange((change) => {
        if (mayServe(change)) soon();
      }),
      nodeGroups.onChange((change) => {
        if (change.kind === 'added') soon();
      }),
    ];
    this.#queue.add('look');
    this.#queue.add('scheduled');
    await this.#queue.run(
      (key, inner) => (key === 'look' ? this.#look(inner) : this.#lookAtEvents(inner)),
      signal,
    );
    for (const stop of stopListening) stop();
  }

  async #look(signal: AbortSignal): Promise<{ readonly nextAt: ReturnType<typeof epochMs> }> {
    const { clock } = this.#deps;
    const waiting = await this.#observe(signal);
    this.#forgetOthers(waiting);
    const actions = decideLifecycle(waiting, this.#triedAt, clock.now());
    for (const action of actions) await this.#apply(action, signal);
    return { nextAt: epochMs(clock.now() + pollEveryMs) };
  }

  /** Every instance in a wait state, with its context. Throws CloudError. */
  async #observe(signal: AbortSignal): Promise<readonly WaitingInstance[]> {
    const { clock, nodes, disruptions } = this.#deps;
    const groups = await this.#directory.groups(clock.now(), signal);
    const found: WaitingInstance[] = [];
    for (const { name, instances } of groups.values()) {
      const group = this.#directory.holderOf(name);
      const waiting = instances.filter((instance) => instance.lifecycleState.endsWith(':Wait'));
      if (group === undefined || waiting.length === 0) continue;
      const hooks = await this.#ownHooksOf(group, name, waiting, signal);
      const untold = waiting.filter((instance) => this.#isUntold(instance));
      const since = await this.#terminations(name, untold, signal);
      for (const instance of waiting) {
        const { instanceId } = instance;
        const node = nodeOfInstance(nodes, instanceId);
        const at = since.get(instanceId);
        const started = at === undefined ? {} : { terminatingSince: at };
        const disruption = disruptions.get(instanceId);
        found.push({ instance, group, hooks, node, disruption, ...started });
      }
    }
    return found;
  }

  /**
   * Reads hooks again if an instance waits and no known hook explains it: one may have been
   * installed since.
   */
  async #ownHooksOf(
    holder: NodeGroup,
    group: string,
    waiting: readonly ScalingInstance[],
    signal: AbortSignal,
  ): Promise<readonly LifecycleHook[]> {
    const own = (all: readonly LifecycleHook[]) =>
      all.filter(({ name }) => this.#ownsHook(name, holder));
    const known = own(await this.#directory.hooks(group, signal));
    const isExplained = ({ lifecycleState }: ScalingInstance): boolean =>
      known.some(({ transition }) => transition === transitionOf(lifecycleState));
    const odd = waiting.find((instance) => !isExplained(instance));
    if (odd === undefined) return known;
    const isEnding = transitionOf(odd.lifecycleState) === 'autoscaling:EC2_INSTANCE_TERMINATING';
    const name = isEnding ? terminateHookName : launchHookName;
    return own(await this.#directory.hooks(group, signal, name));
  }

  /** The instance waits to be terminated, and no hook of its group is recorded. */
  #isUntold({ instanceId, lifecycleState, autoScalingGroupName }: ScalingInstance): boolean {
    const causes = this.#deps.disruptions.get(instanceId)?.spec.causes ?? [];
    const isTold = causes.some(({ hook }) => hook?.autoScalingGroupName === autoScalingGroupName);
    return lifecycleState === 'Terminating:Wait' && !isTold;
  }

  /**
   * When the terminations began. A hook that is found late ends earlier than the time of its
   * discovery suggests. Unknown if the cloud does not answer; the termination is recorded
   * regardless.
   */
  async #terminations(
    group: string,
    untold: readonly ScalingInstance[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, EpochMs>> {
    const { cloud, log } = this.#deps;
    const began = new Map<string, EpochMs>();
    if (untold.length === 0) return began;
    try {
      const activities = await cloud.describeActivities(group, { signal });
      for (const { instanceId } of untold) {
        const ends = `Terminating EC2 instance: ${instanceId}`;
        const activity = activities.find(({ description }) => description.startsWith(ends));
        const at = parseTime(activity?.startedAt);
        if (at !== undefined) began.set(instanceId, at);
      }
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      log.warn('terminations not dated', { group, error: describeError(error) });
    }
    return began;
  }

  /** A failed action must not prevent the others; the next pass repeats it. */
  async #apply(action: LifecycleAction, signal: AbortSignal): Promise<void> {
    const { journal, log, clock, cloud } = this.#deps;
    try {
      if (action.kind === 'record') {
        const written = await recordCause(this.#deps, action, signal);
        if (written === 'recorded') return;
        if (written === 'refused') {
          const facts = { instance: action.subject.name, cause: action.cause.id };
          log.error('a cause has no place among those in force', facts);
          return;
        }
      } else {
        this.#triedAt.set(launchKey(action.call), clock.now());
        await cloud.completeHook(action.call, { signal });
      }
      journalAction(journal, action);
    } catch (error) {
      if (signal.aborted || error instanceof NotLeader) throw error;
      // Another system completed the hook, or it timed out.
      if (error instanceof CloudError && error.code === 'NoActiveLifecycleAction') return;
      log.warn('lifecycle action failed, trying again at the next look', {
        action: action.kind,
        instance: action.kind === 'record' ? action.subject.name : action.call.instanceId,
        error: describeError(error),
      });
    }
  }

  /**
   * EC2's list of scheduled events, the second source beside AWS Health's messages. Throws
   * CloudError.
   */
  async #lookAtEvents(signal: AbortSignal): Promise<{ readonly nextAt: EpochMs }> {
    const { clock, cloud } = this.#deps;
    const since = clock.now();
    const isAlone = this.#deps.nodeGroups.list().length === 0;
    const events = isAlone ? [] : await cloud.describeScheduledEvents({ signal });
    const found: ScheduledInstance[] = [];
    for (const event of events) {
      // The next pass finds members that joined since; this keeps events of unmanaged instances
      // cheap.
      const seen = since - scheduledEveryMs;
      const name = await this.#directory.groupOfInstance(event.instanceId, seen, signal);
      const group = name === undefined ? undefined : this.#directory.holderOf(name);
      if (group === undefined) continue;
      const { instanceId } = event;
      const node = nodeOfInstance(this.#deps.nodes, instanceId);
      const disruption = this.#deps.disruptions.get(instanceId);
      found.push({ event, group, node, disruption });
    }
    for (const action of decideScheduled(found, clock.now())) {
      await this.#applyScheduled(action, signal);
    }
    return { nextAt: epochMs(since + scheduledEveryMs) };
  }

  /** Like `#apply`: the next pass repeats a failed action. */
  async #applyScheduled(action: ScheduledAction, signal: AbortSignal): Promise<void> {
    const { journal, log } = this.#deps;
    const instance = action.subject.name;
    try {
      if (action.kind === 'withdraw') {
        await withdrawCause(this.#deps, { name: instance, causeId: action.causeId }, signal);
      } else {
        const written = await recordCause(this.#deps, action, signal);
        if (written === 'recorded') return;
        if (written === 'refused') {
          log.error('a cause has no place among those in force', {
            instance,
            cause: action.cause.id,
          });
          return;
        }
      }
      journalScheduled(journal, action);
    } catch (error) {
      if (signal.aborted || error instanceof NotLeader) throw error;
      const facts = { action: action.kind, instance, error: describeError(error) };
      log.warn('scheduled event not taken in, trying again at the next look', facts);
    }
  }

  #forgetOthers(waiting: readonly WaitingInstance[]): void {
    const known = new Set(waiting.map(({ instance }) => instance.instanceId));
    for (const key of this.#triedAt.keys()) {
      if (!known.has(key.slice(0, key.indexOf('/')))) this.#triedAt.delete(key);
    }
  }
}

const transitionOf = (state: string): LifecycleHook['transition'] =>
  state.startsWith('Terminating')
    ? 'autoscaling:EC2_INSTANCE_TERMINATING'
    : 'autoscaling:EC2_INSTANCE_LAUNCHING';

/** Whether the node lost a taint other than that of a cordon. */
const hasLostTaint = (previous: Node, node: Node): boolean => {
  const keys = new Set((node.spec.taints ?? []).map(({ key }) => key));
  keys.add('node.kubernetes.io/unschedulable');
  return (previous.spec.taints ?? []).some(({ key }) => !keys.has(key));
};

const mayServe = (change: Change<Node>): boolean => {
  if (change.kind === 'removed' || !isReady(change.object)) return false;
  if (instanceIdOfProviderId(change.object.spec.providerID) === undefined) return false;
  if (change.kind === 'added') return true;
  const { previous } = change;
  // A startup taint may have been the last thing that the launch hook waited for.
  if (hasLostTaint(previous, change.object)) return true;
  // The cloud controller may set providerID after the node is Ready.
  return !isReady(previous) || previous.spec.providerID === undefined;
};
