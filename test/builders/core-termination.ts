// For tests only: builders of disruptions, nodes and observations, and a small model in which a
// plan's steps take effect. Only tests in src import this.

import { durationMs, type EpochMs, formatTime } from '../../src/api/brand.ts';
import { defined } from '../../src/api/defined.ts';
import type {
  DisruptionCause,
  HookRef,
  NodeDisruption,
  NodeDisruptionStatus,
} from '../../src/api/disruption.ts';
import { isObject, type JsonObject } from '../../src/api/json.ts';
import type { Node, Pod, Taint } from '../../src/api/kube.ts';
import type { NodeGroup, NodeGroupSpec } from '../../src/api/nodegroup.ts';
import type { Plan, Step } from '../../src/api/plan.ts';
import { decideDisruption } from '../../src/core/termination/decide.ts';
import { hookKey } from '../../src/core/termination/hooks.ts';
import {
  type HookMemory,
  type Memory,
  noMemory,
  type Observation,
} from '../../src/core/termination/observation.ts';
import { aPod, t0, timePlus, tPlus } from './core-drain.ts';

export { aPod, kubeTimePlus, timePlus, tPlus } from './core-drain.ts';

export const anId = 'i-0123456789abcdef0';

export const aHook = (more: Partial<HookRef> = {}): HookRef => ({
  autoScalingGroupName: 'asg-1',
  name: 'Terminate-LC-Hook',
  token: 'token-1',
  startedAt: timePlus(0),
  heartbeatTimeoutSeconds: 1800,
  globalTimeoutSeconds: 172_800,
  ...more,
});

export const confirmedByCloud = {
  confirmation: { state: 'Confirmed', at: timePlus(0), reason: 'the cloud says so' },
} as const;

/** EKS' terminate hook as recorded by intake: force, 15 minutes. */
export const aHookCause = (more: Partial<DisruptionCause> = {}): DisruptionCause => ({
  kind: 'LifecycleHook',
  ...confirmedByCloud,
  id: 'hook/asg-1/Terminate-LC-Hook/token-1',
  receivedAt: timePlus(0),
  deadline: timePlus(900),
  onDeadline: 'force',
  followUp: 'Release',
  hook: aHook(),
  ...more,
});

export const aManualCause = (more: Partial<DisruptionCause> = {}): DisruptionCause => ({
  kind: 'Manual',
  id: 'manual/1',
  receivedAt: timePlus(0),
  onDeadline: 'fail',
  followUp: 'Release',
  requestedBy: 'somebody',
  ...more,
});

export const aDisruption = (
  causes: readonly DisruptionCause[] = [aHookCause()],
  status?: NodeDisruptionStatus,
): NodeDisruption => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeDisruption',
  metadata: {
    name: anId,
    uid: 'uid-d',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: timePlus(0),
  },
  spec: { instanceId: anId, nodeGroup: 'ng', nodeName: 'n1', causes },
  ...defined({ status }),
});

export const exclude = 'node.kubernetes.io/exclude-from-external-load-balancers';
export const marksAnnotation = 'drover.dev/marks';

export interface NodeOverrides {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly unschedulable?: boolean;
  readonly taints?: readonly Taint[];
  readonly ready?: boolean;
}

export const aNode = (more: NodeOverrides = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'n1',
    uid: more.uid ?? 'uid-n1',
    resourceVersion: more.resourceVersion ?? '7',
    creationTimestamp: timePlus(-3600),
    labels: more.labels ?? {},
    annotations: more.annotations ?? {},
  },
  spec: {
    providerID: `aws:///eu-west-1a/${anId}`,
    ...defined({ unschedulable: more.unschedulable, taints: more.taints }),
  },
  status: { conditions: [{ type: 'Ready', status: (more.ready ?? true) ? 'True' : 'Unknown' }] },
});

export const aMarkedNode = (more: NodeOverrides = {}): Node =>
  aNode({ labels: { [exclude]: 'true' }, unschedulable: true, ...more });

export const aGroup = (drain: NodeGroupSpec['drain']): NodeGroup => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroup',
  metadata: {
    name: 'ng',
    uid: 'uid-ng',
    resourceVersion: '1',
    creationTimestamp: timePlus(-3600),
  },
  spec: {
    clusterName: 'c',
    autoScalingGroupName: 'asg-1',
    amiType: 'AL2023_x86_64_STANDARD',
    capacityType: 'ON_DEMAND',
    instanceTypes: ['m5.large'],
    version: '1.33',
    releaseVersion: '1.33.1-20260101',
    nodeRole: 'role',
    subnets: ['subnet-1'],
    scaling: { minSize: 0, maxSize: 10 },
    ...defined({ drain }),
  },
});

export const observe = (more: Partial<Observation> = {}): Observation => ({
  disruption: aDisruption(),
  node: aNode(),
  pods: [],
  blockers: [],
  group: undefined,
  memory: noMemory,
  now: t0,
  options: { compat: 'eks', drainTimeoutMs: durationMs(900_000) },
  ...more,
});

/** `Step kind` or, for a status, the phase that it writes. */
export const stepNames = (plan: Plan): readonly string[] =>
  plan.steps.map((step) => (step.kind === 'WriteStatus' ? step.status.phase : step.kind));

export const statusIn = (plan: Plan): NodeDisruptionStatus | undefined =>
  plan.steps.flatMap((step) => (step.kind === 'WriteStatus' ? [step.status] : []))[0];

const merge = (target: JsonObject, patch: JsonObject): JsonObject => {
  const out: Record<string, JsonObject[string]> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const below = out[key];
    if (value === null) delete out[key];
    else if (isObject(value)) out[key] = merge(isObject(below) ? below : {}, value);
    else out[key] = value;
  }
  return out;
};

/** One disruption and its environment, in which each step of a plan takes effect at once. */
export class Model {
  observation: Observation;
  readonly done: string[] = [];
  /** Answers of the cloud and the API server. */
  instanceGone = false;
  instanceLeaving = false;
  replacement = { rebalances: true, serving: 3, desired: 3 };
  deleted = false;
  #revision = 100;

  constructor(observation: Observation) {
    this.observation = observation;
  }

  get status(): NodeDisruptionStatus | undefined {
    return this.observation.disruption.status;
  }
  change(more: Partial<Observation>): void {
    this.observation = { ...this.observation, ...more };
  }
  at(seconds: number): void {
    this.change({ now: tPlus(seconds) });
  }
  /** Changes the spec like intake and the command line. */
  causes(causes: readonly DisruptionCause[]): void {
    const { disruption } = this.observation;
    this.#put({ ...disruption, spec: { ...disruption.spec, causes } });
  }
  forget(): void {
    this.change({ memory: noMemory });
  }

  /** Decides and applies until nothing remains to do; returns the steps. */
  settle(): readonly string[] {
    const from = this.done.length;
    for (let pass = 0; pass < 20; pass++) {
      const plan = decideDisruption(this.observation);
      if (plan.steps.length === 0 || this.deleted) return this.done.slice(from);
      for (const step of plan.steps) this.apply(step);
    }
    throw new Error(`it never settles: ${this.done.slice(-6).join(', ')}`);
  }

  apply(step: Step): void {
    const { now, memory } = this.observation;
    this.done.push(step.kind === 'WriteStatus' ? step.status.phase : step.kind);
    switch (step.kind) {
      case 'WriteStatus': {
        const { disruption } = this.observation;
        this.#put({ ...disruption, status: step.status });
        return;
      }
      case 'PatchNode': {
        const { node } = this.observation;
        if (node === undefined || !isObject(step.body)) return;
        const { uid: _uid, ...body } = step.body;
        const merged = merge(JSON.parse(JSON.stringify(node)) as JsonObject, body);
        const patched = merged as JsonObject & Node;
        const resourceVersion = this.#next();
        this.change({ node: { ...patched, metadata: { ...patched.metadata, resourceVersion } } });
        return;
      }
      case 'HeartbeatHook':
        this.#hook(step, { lastHeartbeatAt: now, lastAttemptAt: now, failures: 0 });
        return;
      case 'CompleteHook':
        this.#hook(step, { result: 'Completed', lastAttemptAt: now, failures: 0 });
        return;
      case 'Confirm':
        this.#remember(step.what, now);
        return;
      case 'TerminateInstance':
        this.change({ memory: { ...memory, terminate: { at: now, done: true, failures: 0 } } });
        return;
      case 'RebootInstance':
        this.change({ memory: { ...memory, reboot: { at: now, done: true, failures: 0 } } });
        return;
      case 'WithdrawCause': {
        const { causes } = this.observation.disruption.spec;
        const cancelledAt = formatTime(now);
        this.causes(causes.map((one) => (one.id === step.causeId ? { ...one, cancelledAt } : one)));
        return;
      }
      case 'DeleteDisruption':
        this.deleted = true;
        return;
    }
  }

  #remember(what: Extract<Step, { kind: 'Confirm' }>['what'], at: EpochMs): void {
    const { memory } = this.observation;
    const pods: readonly Pod[] = this.observation.pods ?? [];
    const answers: Readonly<Record<typeof what, Partial<Memory>>> = {
      nodeEmpty: { listed: { at, pods } },
      noNode: { nodeListed: { at, found: this.observation.node !== undefined } },
      instance: { instance: { at, gone: this.instanceGone } },
      replacement: { replacement: { at, ...this.replacement } },
      leaving: { leaving: { at, found: this.instanceLeaving } },
    };
    this.change({ memory: { ...memory, ...answers[what] } });
  }
  #hook(step: Extract<Step, { kind: 'HeartbeatHook' | 'CompleteHook' }>, seen: HookMemory): void {
    const { memory } = this.observation;
    const key = hookKey({ ...step, name: step.hookName });
    const hooks = new Map(memory.hooks).set(key, { ...memory.hooks.get(key), ...seen });
    this.change({ memory: { ...memory, hooks } });
  }
  #put(disruption: NodeDisruption): void {
    const metadata = { ...disruption.metadata, resourceVersion: this.#next() };
    this.change({ disruption: { ...disruption, metadata } });
  }
  #next(): string {
    this.#revision++;
    return String(this.#revision);
  }
}

/** A pod that its budget blocks, in the allocation's form. */
export const blocked = [
  {
    kind: 'pdb' as const,
    pod: 'demo/p1',
    budgets: ['demo/web'],
    message: 'needs 3 healthy pods and has 3',
    neverAllows: false,
  },
];

/** Brings a new disruption to Draining at t0 with `pods` on its node. */
export const draining = (causes: readonly DisruptionCause[], pods = [aPod('p1')]): Model => {
  const model = new Model(observe({ disruption: aDisruption(causes), pods }));
  model.settle();
  if (model.status?.phase !== 'Draining') throw new Error(`it is ${model.status?.phase}`);
  return model;
};
