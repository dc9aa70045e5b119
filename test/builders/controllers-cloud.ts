// For tests only: a queue with visibility timeouts, Auto Scaling groups and hooks behind the
// CloudApi port, in the test's time. Implements no state machine; the world does.
import { type EpochMs, epochMs } from '../../src/api/brand.ts';
import type {
  CloudInstance,
  ClusterAccess,
  HookCall,
  Image,
  ImpairedInstance,
  InstanceTypeFacts,
  LifecycleHook,
  QueueMessage,
  ScalingActivity,
  ScalingGroup,
  ScalingInstance,
  ScheduledEvent,
  Stack,
  Subnet,
} from '../../src/api/cloud.ts';
import {
  type Clock,
  type CloudApi,
  CloudError,
  type CloudErrorCode,
} from '../../src/ports/index.ts';
import { sleepOrAbort } from '../../src/runtime/index.ts';

interface Queued {
  readonly id: string;
  readonly body: string;
  readonly sentAt: EpochMs;
  receiveCount: number;
  visibleAt: number;
}

type Verb =
  | 'receiveMessages'
  | 'deleteMessage'
  | 'describeGroups'
  | 'describeHooks'
  | 'completeHook'
  | 'heartbeatHook'
  | 'terminateInGroup'
  | 'describeInstances'
  | 'describeScheduledEvents'
  | 'rebootInstance'
  | 'detachFromGroup'
  | 'terminateInstance'
  | 'time'
  | 'updateGroup'
  | 'tagGroup'
  | 'untagGroup'
  | 'installHook'
  | 'removeHook';

/** Tests that need these use the world. */
const unsupported = (): CloudError =>
  new CloudError('Unsupported', 'the fake creates nothing in the cloud');

/** Tags that EKS sets on the group of node group `ng` of cluster `c`. */
const namedTags = { 'eks:nodegroup-name': 'ng', 'eks:cluster-name': 'c' } as const;

/** Account of the groups and messages. */
export const account = '123456789012';
export const region = 'eu-west-1';

const anyInstance = {
  privateDnsName: 'ip-10-0-0-1.ec2.internal',
  instanceType: 'm5.large',
  imageId: 'ami-1',
  availabilityZone: 'eu-west-1a',
} as const;

export class FakeCloud implements CloudApi {
  readonly calls: string[] = [];
  readonly completed: (HookCall & { readonly result: string })[] = [];
  readonly #clock: Clock;
  readonly #queue: Queued[] = [];
  readonly #groups = new Map<string, ScalingGroup>();
  readonly #hooks = new Map<string, LifecycleHook[]>();
  readonly #failures: { readonly verb: Verb; readonly code: CloudErrorCode; left: number }[] = [];
  readonly #hanging = new Set<Verb>();
  readonly #states = new Map<string, string>();
  /** Returned until a test changes it. */
  scheduledEvents: readonly ScheduledEvent[] = [];
  impaired: readonly ImpairedInstance[] = [];
  readonly rebooted: string[] = [];
  readonly detached: string[] = [];
  readonly ended: string[] = [];
  /** How far the cloud's clock is ahead of the test's. */
  aheadMs = 0;
  /** Spot Instances according to EC2. */
  readonly spot = new Set<string>();
  #sent = 0;
  #arrived = (): void => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls of this verb never settle, not even when their signal aborts. */
  hang(verb: Verb, hangs = true): void {
    if (hangs) this.#hanging.add(verb);
    else this.#hanging.delete(verb);
  }
  putInstanceState(instanceId: string, state: string): void {
    this.#states.set(instanceId, state);
  }
  fail(verb: Verb, code: CloudErrorCode, times = 1): void {
    this.#failures.push({ verb, code, left: times });
  }
  count(verb: string): number {
    return this.calls.filter((call) => call === verb).length;
  }
  /** Number of messages that have not been deleted. */
  get queued(): number {
    return this.#queue.length;
  }
  /** Number of messages in flight. */
  get inFlight(): number {
    return this.#queue.filter(({ visibleAt }) => visibleAt > this.#clock.now()).length;
  }
  send(body: unknown): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const sentAt = epochMs(this.#clock.now() + this.aheadMs);
    const id = `m${++this.#sent}`;
    this.#queue.push({ id, body: text, sentAt, receiveCount: 0, visibleAt: 0 });
    this.#arrived();
  }
  putGroup(
    name: string,
    more: Partial<Omit<ScalingGroup, 'instances'>> & {
      readonly instances?: readonly (Partial<ScalingInstance> & { readonly instanceId: string })[];
    } = {},
  ): void {
    const instances = (more.instances ?? []).map((instance) => ({
      autoScalingGroupName: name,
      availabilityZone: 'eu-west-1a',
      lifecycleState: 'InService',
      instanceType: 'm5.large',
      protectedFromScaleIn: false,
      ...instance,
    }));
    this.#groups.set(name, {
      name,
      arn: `arn:aws:autoscaling:${region}:${account}:autoScalingGroup:u:autoScalingGroupName/${name}`,
      minSize: 0,
      maxSize: 10,
      desiredCapacity: instances.length,
      createdAt: '2026-01-01T00:00:00Z',
      tags: this.#groups.get(name)?.tags ?? namedTags,
      ...more,
      instances,
    });
  }
  dropGroup(name: string): void {
    this.#groups.delete(name);
  }
  putHook(
    hook: Partial<LifecycleHook> & Pick<LifecycleHook, 'name' | 'autoScalingGroupName'>,
  ): void {
    const known = this.#hooks.get(hook.autoScalingGroupName) ?? [];
    const full: LifecycleHook = {
      transition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      heartbeatTimeoutSeconds: 1800,
      globalTimeoutSeconds: 172_800,
      defaultResult: 'CONTINUE',
      ...hook,
    };
    this.#hooks.set(hook.autoScalingGroupName, [...known, full]);
  }

  async receiveMessages(
    _queueUrl: string,
    options: {
      readonly waitSeconds: number;
      readonly visibilitySeconds: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<readonly QueueMessage[]> {
    await this.#call('receiveMessages');
    const signal = options.signal ?? new AbortController().signal;
    const until = this.#clock.now() + options.waitSeconds * 1000;
    for (;;) {
      const now = this.#clock.now();
      const ready = this.#queue.filter((message) => message.visibleAt <= now).slice(0, 10);
      for (const message of ready) {
        message.receiveCount++;
        message.visibleAt = now + options.visibilitySeconds * 1000;
      }
      if (ready.length > 0 || now >= until) {
        return ready.map(({ id, body, sentAt, receiveCount }) => ({
          id,
          body,
          sentAt,
          receiveCount,
          receiptHandle: `${id}#${receiveCount}`,
        }));
      }
      await this.#nextArrival(until, signal);
      signal.throwIfAborted();
    }
  }
  async deleteMessage(_queueUrl: string, receiptHandle: string): Promise<void> {
    await this.#call('deleteMessage');
    const index = this.#queue.findIndex((message) => receiptHandle.startsWith(`${message.id}#`));
    if (index >= 0) this.#queue.splice(index, 1);
  }
  async changeVisibility(_queueUrl: string, receiptHandle: string, seconds: number): Promise<void> {
    this.calls.push('changeVisibility');
    const message = this.#queue.find(({ id }) => receiptHandle.startsWith(`${id}#`));
    if (message !== undefined) message.visibleAt = this.#clock.now() + seconds * 1000;
  }
  async describeGroups(names?: readonly string[]): Promise<readonly ScalingGroup[]> {
    await this.#call('describeGroups');
    return [...this.#groups.values()].filter((group) => names?.includes(group.name) !== false);
  }
  async describeHooks(autoScalingGroupName: string): Promise<readonly LifecycleHook[]> {
    await this.#call('describeHooks');
    return this.#hooks.get(autoScalingGroupName) ?? [];
  }
  async completeHook(call: HookCall & { readonly result: 'CONTINUE' | 'ABANDON' }): Promise<void> {
    await this.#call('completeHook');
    this.completed.push(call);
  }
  async heartbeatHook(): Promise<void> {
    await this.#call('heartbeatHook');
  }
  /** Changes no state: tests set EC2's view with `putInstanceState`. */
  async terminateInGroup(): Promise<void> {
    await this.#call('terminateInGroup');
  }
  async describeInstances(ids: readonly string[]): Promise<readonly CloudInstance[]> {
    await this.#call('describeInstances');
    return ids.flatMap((instanceId) => {
      const isSpot = this.spot.has(instanceId);
      const state = this.#states.get(instanceId) ?? (isSpot ? 'running' : undefined);
      return state === undefined ? [] : [{ ...anyInstance, instanceId, state, isSpot }];
    });
  }
  async time(): Promise<EpochMs> {
    await this.#call('time');
    return epochMs(this.#clock.now() + this.aheadMs);
  }
  async describeScheduledEvents(): Promise<readonly ScheduledEvent[]> {
    await this.#call('describeScheduledEvents');
    return this.scheduledEvents;
  }
  async describeImpairedInstances(): Promise<readonly ImpairedInstance[]> {
    return this.impaired;
  }
  async rebootInstance(instanceId: string): Promise<void> {
    await this.#call('rebootInstance');
    this.rebooted.push(instanceId);
  }
  async detachFromGroup(instanceId: string): Promise<void> {
    await this.#call('detachFromGroup');
    this.detached.push(instanceId);
  }
  async terminateInstance(instanceId: string): Promise<void> {
    await this.#call('terminateInstance');
    this.ended.push(instanceId);
  }
  async describeLaunchTemplate(): Promise<never> {
    throw new CloudError('Unsupported', 'the fake has no launch templates');
  }
  async findLaunchTemplate(): Promise<undefined> {
    return undefined;
  }
  async createLaunchTemplate(): Promise<never> {
    throw unsupported();
  }
  async addLaunchTemplateVersion(): Promise<never> {
    throw unsupported();
  }
  async deleteLaunchTemplate(): Promise<boolean> {
    return false;
  }
  async findInstanceProfile(): Promise<undefined> {
    return undefined;
  }
  async ensureInstanceProfile(): Promise<never> {
    throw unsupported();
  }
  async deleteInstanceProfile(): Promise<boolean> {
    return false;
  }
  async createGroup(): Promise<never> {
    throw unsupported();
  }
  async setProcesses(change: Parameters<CloudApi['setProcesses']>[0]): Promise<void> {
    const { name, processes, suspended } = change;
    const group = this.#groups.get(name);
    if (group === undefined) return;
    const others = (group.suspendedProcesses ?? []).filter((one) => !processes.includes(one));
    const suspendedProcesses = suspended ? [...others, ...processes] : others;
    this.#groups.set(name, { ...group, suspendedProcesses });
  }
  /** Changes only sizes; starts and terminates no instance. */
  async updateGroup(change: Parameters<CloudApi['updateGroup']>[0]): Promise<void> {
    await this.#call('updateGroup');
    const group = this.#groups.get(change.name);
    if (group === undefined) return;
    const { minSize, maxSize, desiredCapacity } = { ...group, ...change };
    this.#groups.set(change.name, { ...group, minSize, maxSize, desiredCapacity });
  }
  async tagGroup(name: string, tags: Readonly<Record<string, string>>): Promise<void> {
    await this.#call('tagGroup');
    const group = this.#groups.get(name);
    if (group !== undefined) this.#groups.set(name, { ...group, tags: { ...group.tags, ...tags } });
  }
  async untagGroup(name: string, keys: readonly string[]): Promise<void> {
    await this.#call('untagGroup');
    const group = this.#groups.get(name);
    if (group === undefined) return;
    const kept = Object.entries(group.tags).filter(([key]) => !keys.includes(key));
    this.#groups.set(name, { ...group, tags: Object.fromEntries(kept) });
  }
  async installHook(
    autoScalingGroupName: string,
    hook: Parameters<CloudApi['installHook']>[1],
  ): Promise<void> {
    await this.#call('installHook');
    this.putHook({ ...hook, autoScalingGroupName });
  }
  async removeHook(autoScalingGroupName: string, hookName: string): Promise<boolean> {
    await this.#call('removeHook');
    const known = this.#hooks.get(autoScalingGroupName) ?? [];
    const kept = known.filter(({ name }) => name !== hookName);
    this.#hooks.set(autoScalingGroupName, kept);
    return kept.length < known.length;
  }
  async deleteGroup(name: string): Promise<boolean> {
    return this.#groups.delete(name);
  }
  async describeActivities(): Promise<readonly ScalingActivity[]> {
    return [];
  }
  async describeSubnets(): Promise<readonly Subnet[]> {
    return [];
  }
  async describeInstanceTypes(): Promise<readonly InstanceTypeFacts[]> {
    return [];
  }
  async describeImages(): Promise<readonly Image[]> {
    return [];
  }
  async findImage(): Promise<Image | undefined> {
    return undefined;
  }
  async describeTargetGroups(): Promise<readonly never[]> {
    return [];
  }
  async describeTargets(): Promise<readonly never[]> {
    return [];
  }
  async describeCluster(): Promise<ClusterAccess | undefined> {
    return undefined;
  }
  async hasKeyPair(): Promise<boolean> {
    return false;
  }
  async findSecurityGroups(): Promise<readonly never[]> {
    return [];
  }
  async createSecurityGroup(): Promise<never> {
    throw unsupported();
  }
  async allowIngress(): Promise<never> {
    throw unsupported();
  }
  async deleteSecurityGroup(): Promise<boolean> {
    return false;
  }
  async findAccessEntry(): Promise<undefined> {
    return undefined;
  }
  async createAccessEntry(): Promise<never> {
    throw unsupported();
  }
  async deleteAccessEntry(): Promise<boolean> {
    return false;
  }
  async consoleOutput(): Promise<string> {
    return '';
  }
  async listStacks(): Promise<readonly Stack[]> {
    return [];
  }

  async #call(verb: Verb): Promise<void> {
    await undefined;
    this.calls.push(verb);
    if (this.#hanging.has(verb)) await new Promise<never>(() => undefined);
    const failure = this.#failures.find((entry) => entry.verb === verb && entry.left > 0);
    if (failure === undefined) return;
    failure.left--;
    throw new CloudError(failure.code, `told to fail: ${failure.code}`);
  }

  /** Resolves on a new message, a message that becomes visible again, or at `until`. */
  async #nextArrival(until: number, signal: AbortSignal): Promise<void> {
    const next = Math.min(until, ...this.#queue.map((message) => message.visibleAt));
    const woken = new AbortController();
    const stop = (): void => woken.abort();
    signal.addEventListener('abort', stop, { once: true });
    const before = this.#arrived;
    this.#arrived = () => {
      before();
      stop();
    };
    await sleepOrAbort(this.#clock, next - this.#clock.now(), woken.signal);
    signal.removeEventListener('abort', stop);
  }
}
