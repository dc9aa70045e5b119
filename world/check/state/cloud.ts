// Instances in their Auto Scaling groups as the oracles see them: the current wait and its start,
// how each hook ended, and the controller's calls about it.
import type { TraceEntry } from '../../../src/api/trace.ts';
import { textOf } from './read.ts';

type Call = Extract<TraceEntry, { kind: 'call' }>;
type Instance = Extract<TraceEntry, { kind: 'instance' }>;
type Lifecycle = Extract<TraceEntry, { kind: 'lifecycle' }>;
export type Scaling = Extract<TraceEntry, { kind: 'scaling' }>;

/** One period in Pending:Wait or Terminating:Wait. */
export interface Wait {
  readonly instanceId: string;
  readonly group: string;
  readonly kind: 'launch' | 'terminate';
  readonly startedAt: number;
  leftAt: number | undefined;
  /**
   * The controller's heartbeats and completions by hook: the last success, and failures since then.
   */
  readonly said: Map<string, { okAt: number | undefined; failures: number }>;
  readonly ended: Map<string, 'completed' | 'timeout'>;
}

export interface InstanceState {
  readonly instanceId: string;
  group: string;
  state: string;
  /** The open wait, or the last one. */
  wait: Wait | undefined;
  /** Purchase option; undefined if the trace does not show it. */
  market: Instance['market'];
  /** As EC2 records it; empty if the trace does not show it. */
  privateDnsName: string;
  addresses: readonly string[];
  /** Time at which EC2 first reported it as not running. */
  deadAt: number | undefined;
}

const deadStates = new Set(['shutting-down', 'terminated', 'stopping', 'stopped']);
const ownFault = /Validation|InvalidRequest|NoActive|Unsupported/;
const hookOperations = new Set(['CompleteLifecycleAction', 'RecordLifecycleActionHeartbeat']);

export const isHookCall = (call: Call): boolean => hookOperations.has(call.operation);

export const isTermination = ({ operation }: Call): boolean =>
  operation === 'TerminateInstanceInAutoScalingGroup' || operation === 'TerminateInstances';

export class Cloud {
  readonly instances = new Map<string, InstanceState>();
  readonly waits: Wait[] = [];
  /** The latest state of each Auto Scaling group, by name. */
  readonly groups = new Map<string, Scaling>();
  /** The controller's calls to Auto Scaling and whether they failed, in order. */
  readonly ownCalls: { readonly at: number; readonly failed: boolean }[] = [];

  lifecycle(entry: Lifecycle): void {
    const { instanceId, state, at } = entry;
    const instance = this.#instance(instanceId);
    if (entry.autoScalingGroupName !== '') instance.group = entry.autoScalingGroupName;
    const { wait } = instance;
    if (entry.hookEnded !== undefined && wait !== undefined) {
      wait.ended.set(entry.hookEnded.name, entry.hookEnded.by);
    }
    if (state === instance.state) return;
    instance.state = state;
    if (wait !== undefined) wait.leftAt ??= at;
    if (state !== 'Terminating:Wait' && state !== 'Pending:Wait') return;
    instance.wait = {
      instanceId,
      group: instance.group,
      kind: state === 'Pending:Wait' ? 'launch' : 'terminate',
      startedAt: at,
      leftAt: undefined,
      said: new Map(),
      ended: new Map(),
    };
    this.waits.push(instance.wait);
  }

  scaling(entry: Scaling): void {
    this.groups.set(entry.autoScalingGroupName, entry);
  }

  /** True if the trace shows EC2 instance states. */
  seesInstances = false;

  instance(entry: Instance): void {
    this.seesInstances = true;
    const instance = this.#instance(entry.instanceId);
    instance.market = entry.market ?? instance.market;
    instance.privateDnsName = entry.privateDnsName ?? instance.privateDnsName;
    instance.addresses = entry.addresses ?? instance.addresses;
    if (deadStates.has(entry.state)) instance.deadAt ??= entry.at;
  }

  ownCall(call: Call, instanceId: string): void {
    if (call.service !== 'autoscaling') return;
    // An invalid call would fail in any condition of the cloud, so it is not counted as a refusal.
    if (call.error !== undefined && ownFault.test(call.error)) return;
    const failed = call.error !== undefined;
    this.ownCalls.push({ at: call.at, failed });
    const wait = this.instances.get(instanceId)?.wait;
    if (wait === undefined || !isHookCall(call)) return;
    const hook = textOf(call.input.LifecycleHookName);
    const said = wait.said.get(hook) ?? { okAt: undefined, failures: 0 };
    wait.said.set(hook, said);
    if (failed) said.failures++;
    else {
      said.okAt = call.at;
      said.failures = 0;
    }
  }

  #instance(instanceId: string): InstanceState {
    const known = this.instances.get(instanceId);
    if (known !== undefined) return known;
    const created: InstanceState = {
      instanceId,
      group: '',
      state: '',
      market: undefined,
      privateDnsName: '',
      addresses: [],
      wait: undefined,
      deadAt: undefined,
    };
    this.instances.set(instanceId, created);
    return created;
  }
}
