// A cache of what the cloud reports about managed Auto Scaling groups: their instances and their
// hooks. A burst of questions costs one call. Decides nothing.

import type { LifecycleHook, ScalingGroup, ScalingInstance } from '../api/cloud.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../api/nodegroup.ts';
import { holdsGroup } from '../core/nodegroup/index.ts';
import type { Owner } from '../core/termination/index.ts';
import type { Clock, CloudApi } from '../ports/index.ts';
import type { Informer } from '../runtime/index.ts';
import { groupsNaming } from './informers.ts';

/** Hooks change when an operator edits a group; their timeouts matter only for new actions. */
const hooksKeptMs = 300_000;

/** How long a cached state that shows a termination is used without asking the cloud again. */
const stateKeptMs = 5_000;

/** A newly created hook may be missing from an answer; the cloud is asked again after this time. */
const missingHookKeptMs = 1_000;

interface HooksAnswer {
  readonly askedAt: number;
  readonly hooks: Promise<readonly LifecycleHook[]>;
}

interface Snapshot {
  readonly askedAt: number;
  readonly groups: ReadonlyMap<string, ScalingGroup>;
  readonly instances: ReadonlyMap<string, ScalingInstance>;
}

export class GroupDirectory {
  readonly #cloud: CloudApi;
  readonly #clock: Clock;
  readonly #nodeGroups: Informer<NodeGroup>;
  #snapshot: Snapshot | undefined;
  #asking: Promise<Snapshot> | undefined;
  readonly #hooks = new Map<string, HooksAnswer>();

  constructor(deps: {
    readonly cloud: CloudApi;
    readonly clock: Clock;
    readonly nodeGroups: Informer<NodeGroup>;
  }) {
    this.#cloud = deps.cloud;
    this.#clock = deps.clock;
    this.#nodeGroups = deps.nodeGroups;
  }

  /**
   * All managed groups, read at `notBefore` (epoch ms) or later. Groups that the cloud does not
   * know are missing. Throws CloudError.
   */
  async groups(notBefore: number, signal: AbortSignal): Promise<ReadonlyMap<string, ScalingGroup>> {
    return (await this.#current(notBefore, signal)).groups;
  }

  /**
   * The managed group that contains the instance. A cached positive answer is used. A negative one
   * is used only if it was read at `notBefore` or later. Throws CloudError.
   */
  async groupOfInstance(
    instanceId: string,
    notBefore: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const known = this.#snapshot?.instances.get(instanceId);
    if (known !== undefined) return known.autoScalingGroupName;
    const { instances } = await this.#current(notBefore, signal);
    return instances.get(instanceId)?.autoScalingGroupName;
  }

  /**
   * EC2 Auto Scaling's state of the instance, read at `notBefore` or later; undefined if it is in
   * no managed group. A state that `suffices` may be a few seconds older, so that many requests
   * cost one call. Throws CloudError.
   */
  async stateOf(
    instanceId: string,
    from: { readonly notBefore: number; readonly suffices: (state: string) => boolean },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const known = this.#snapshot?.instances.get(instanceId)?.lifecycleState;
    const age = this.#clock.now() - (this.#snapshot?.askedAt ?? 0);
    if (known !== undefined && age < stateKeptMs && from.suffices(known)) return known;
    const { instances } = await this.#current(from.notBefore, signal);
    return instances.get(instanceId)?.lifecycleState;
  }

  /** Account and region of a group, from the last answer. */
  ownerOf(autoScalingGroupName: string): Owner | undefined {
    const arn = this.#snapshot?.groups.get(autoScalingGroupName)?.arn;
    // arn:aws:autoscaling:REGION:ACCOUNT:autoScalingGroup:...
    const [, , , region, account] = arn?.split(':') ?? [];
    return region === undefined || account === undefined ? undefined : { account, region };
  }

  /**
   * The NodeGroup that owns this Auto Scaling group according to the last answer. A NodeGroup that
   * names a group of another owner does not count. If the cloud does not know the group: the
   * NodeGroup that names it.
   */
  holderOf(autoScalingGroupName: string): NodeGroup | undefined {
    const known = this.#snapshot?.groups.get(autoScalingGroupName);
    const naming = groupsNaming(this.#nodeGroups, autoScalingGroupName);
    return known === undefined ? naming[0] : naming.find((group) => holdsGroup(group, known.tags));
  }

  /** The group's hooks; queried again when they are old or `name` is not among them. */
  async hooks(
    autoScalingGroupName: string,
    signal: AbortSignal,
    name?: string,
  ): Promise<readonly LifecycleHook[]> {
    const known =
      this.#hooks.get(autoScalingGroupName) ?? this.#askHooks(autoScalingGroupName, signal);
    const hooks = await known.hooks;
    const complete = name === undefined || hooks.some((hook) => hook.name === name);
    const keptMs = complete ? hooksKeptMs : missingHookKeptMs;
    if (this.#clock.now() - known.askedAt < keptMs) return hooks;
    const newer = this.#hooks.get(autoScalingGroupName);
    const again =
      newer === undefined || newer === known ? this.#askHooks(autoScalingGroupName, signal) : newer;
    return again.hooks;
  }

  #askHooks(autoScalingGroupName: string, signal: AbortSignal): HooksAnswer {
    const hooks = this.#cloud.describeHooks(autoScalingGroupName, { signal });
    const answer: HooksAnswer = { askedAt: this.#clock.now(), hooks };
    this.#hooks.set(autoScalingGroupName, answer);
    // Every waiting caller gets the failure, and it is not cached.
    hooks.catch(() => {
      if (this.#hooks.get(autoScalingGroupName) === answer) {
        this.#hooks.delete(autoScalingGroupName);
      }
    });
    return answer;
  }

  async #current(notBefore: number, signal: AbortSignal): Promise<Snapshot> {
    if (this.#snapshot !== undefined && this.#snapshot.askedAt >= notBefore) return this.#snapshot;
    // A shared call may have been sent before `notBefore`; then one more call is made.
    const shared = await this.#ask(signal);
    return shared.askedAt >= notBefore ? shared : await this.#ask(signal);
  }

  #ask(signal: AbortSignal): Promise<Snapshot> {
    this.#asking ??= this.#describe(signal).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #describe(signal: AbortSignal): Promise<Snapshot> {
    const askedAt = this.#clock.now();
    const names = [...new Set(this.#nodeGroups.list().map(autoScalingGroupNameOf))];
    const found = names.length === 0 ? [] : await this.#cloud.describeGroups(names, { signal });
    const groups = new Map(found.map((group) => [group.name, group]));
    const instances = new Map<string, ScalingInstance>();
    this.#snapshot = { askedAt, groups, instances };
    for (const group of found) {
      if (this.holderOf(group.name) === undefined) continue;
      for (const instance of group.instances) instances.set(instance.instanceId, instance);
    }
    return this.#snapshot;
  }
}
