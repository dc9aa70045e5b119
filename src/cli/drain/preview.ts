// What a drain would do, decided by the controller's own functions on a live read: labels and
// taints, evictions in order, pods that stay, blockers. Sends nothing, reads no clock.

import { durationMs, type EpochMs, formatTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import {
  type DisruptionCause,
  marks,
  type NodeDisruption,
  type NodeDisruptionStatus,
  type WaitingOn,
} from '../../api/disruption.ts';
import type { Node, Pod, PodDisruptionBudget } from '../../api/kube.ts';
import type { PodRef, Step } from '../../api/plan.ts';
import {
  allocate,
  BudgetIndex,
  type Classified,
  classifyPods,
  type Drain,
  defaultLimits,
  type Grant,
  Ledger,
  type Limits,
  ownerName,
  type PodWarning,
  podRef,
  type SkipReason,
} from '../../core/drain/index.ts';
import {
  type Compat,
  causesInForce,
  decideDisruption,
  defaultDrainTimeoutSeconds,
  demandOf,
  drainOf,
  mergeCause,
  noMemory,
  type Observation,
  phaseOf,
} from '../../core/termination/index.ts';
import { subjectOf } from './record.ts';

/** One step for a pod. Steps of all nodes are in the order in which the allocator grants them. */
export type PodStep =
  | {
      readonly kind: 'Evict';
      readonly node: string;
      readonly pod: PodRef;
      /** The budget whose token this eviction takes; absent when it needs none. */
      readonly budget?: string;
      /** The request is a signal to the application, which moves its pod itself. */
      readonly signal?: true;
    }
  | {
      readonly kind: 'DeletePod';
      readonly node: string;
      readonly pod: PodRef;
      /** Absent = the pod's own grace. */
      readonly graceSeconds?: number;
      /**
       * In addition to the uid, where the decision is valid for exactly this version of the pod.
       */
      readonly resourceVersion?: string;
      readonly why: string;
    };

/** The patches of one node, then the evictions of its pods. */
export interface DrainPlan {
  readonly subject: string;
  readonly steps: readonly (Step | PodStep)[];
  readonly waitingOn: readonly WaitingOn[];
}

/** The data read for one node. */
export interface NodeRead {
  readonly node: Node;
  readonly pods: readonly Pod[];
  readonly disruption: NodeDisruption | undefined;
  /** The cause that the drain would record. */
  readonly cause: DisruptionCause;
}

export interface PreviewInput {
  readonly reads: readonly NodeRead[];
  readonly budgets: readonly PodDisruptionBudget[];
  /** Uids of the DaemonSets that exist; undefined when they could not be read. */
  readonly daemonSets: ReadonlySet<string> | undefined;
  readonly now: EpochMs;
  readonly compat: Compat;
}

export interface PreviewPod {
  readonly pod: PodRef;
  readonly owner?: string;
  readonly warnings: readonly PodWarning[];
}

export interface NodePreview {
  readonly node: string;
  readonly disruption: string;
  /** Steps and blockers of the controller: first the patches, then the evictions. */
  readonly plan: DrainPlan;
  readonly pods: readonly PreviewPod[];
  readonly stays: readonly {
    readonly pod: PodRef;
    readonly owner?: string;
    readonly reason: SkipReason;
  }[];
  /** Blockers that waiting cannot remove, in a drain without a deadline. */
  readonly refusals: readonly WaitingOn[];
  /** Other causes that also take the node out of service. */
  readonly others: readonly DisruptionCause[];
}

/** The disruption as it would be once the cause is recorded. */
const recorded = ({ node, disruption, cause }: NodeRead): NodeDisruption => {
  if (disruption !== undefined) {
    const ended = phaseOf(disruption) === 'Ended';
    const spec = mergeCause(disruption.spec, cause, disruption.status?.handledCauses);
    if (!ended || disruption.status === undefined) return { ...disruption, spec };
    const { node: on, ownedMarks, handledCauses, episode } = disruption.status;
    const status: NodeDisruptionStatus = {
      episode: episode + 1,
      phase: 'Pending',
      ...(ownedMarks === undefined || on === undefined ? {} : { ownedMarks, node: on }),
      ...defined({ handledCauses }),
    };
    return { ...disruption, spec, status };
  }
  const { name, ...subject } = subjectOf(node);
  return {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name, uid: '', resourceVersion: '', creationTimestamp: cause.receivedAt },
    spec: { ...subject, causes: [cause] },
  };
};

const observe = (read: NodeRead, input: PreviewInput): Observation => {
  const { now, compat, daemonSets } = input;
  return {
    disruption: recorded(read),
    node: read.node,
    pods: read.pods,
    ...(daemonSets === undefined ? {} : { daemonSetIsGone: (uid: string) => !daemonSets.has(uid) }),
    blockers: [],
    group: undefined,
    memory: noMemory,
    now,
    options: { compat, drainTimeoutMs: defaultDrainTimeoutMs },
  };
};

/** The node as it would be with Drover's labels and taints. */
const marked = (node: Node): Node => ({
  ...node,
  metadata: {
    ...node.metadata,
    labels: { ...node.metadata.labels, [marks.excludeFromLoadBalancers]: 'true' },
    annotations: { ...node.metadata.annotations, [marks.annotation]: '{}' },
  },
  spec: {
    ...node.spec,
    unschedulable: true,
    taints: [...(node.spec.taints ?? []), { key: marks.disruptedTaint, effect: 'NoSchedule' }],
  },
});

const draining = (observation: Observation, node: Node): NodeDisruption => {
  const { disruption, now } = observation;
  const { deadline } = demandOf(observation);
  const at = formatTime(now);
  return {
    ...disruption,
    status: {
      episode: 1,
      ...disruption.status,
      phase: 'Draining',
      startedAt: disruption.status?.startedAt ?? at,
      markedAt: disruption.status?.markedAt ?? at,
      node: { name: node.metadata.name, uid: node.metadata.uid },
      ...(deadline === undefined ? {} : { deadline: formatTime(deadline) }),
    },
  };
};

const classify = (observation: Observation): Classified => {
  const { pods = [], daemonSetIsGone, disruption } = observation;
  const boomerangs = disruption.status?.boomerangs;
  return classifyPods(pods, {
    ...defined({ daemonSetIsGone, boomerangs }),
  });
};

interface Observed {
  readonly observation: Observation;
  readonly classified: Classified;
  readonly drain: Drain | undefined;
}

const toObserved = (read: NodeRead, input: PreviewInput): Observed => {
  const observation = observe(read, input);
  const classified = classify(observation);
  const node = marked(read.node);
  const drain = drainOf({
    disruption: draining(observation, node),
    node,
    classified,
    demand: demandOf(observation),
    compat: input.compat,
    group: observation.group,
  });
  return { observation, classified, drain };
};

const stepOf = (grant: Grant): PodStep => {
  const { node, pod } = grant;
  if (grant.kind === 'evict') {
    const [budget] = grant.budgets;
    if (grant.isSignal) return { kind: 'Evict', node, pod, signal: true };
    return { kind: 'Evict', node, pod, ...defined({ budget }) };
  }
  const { graceSeconds, resourceVersion, why } = grant;
  return {
    kind: 'DeletePod',
    node,
    pod,
    why,
    ...defined({ graceSeconds, resourceVersion }),
  };
};

/** More rounds than any combination of tiers and batches needs; an endless loop is a defect. */
const maxRounds = 10_000;

interface Rounds {
  readonly grants: readonly Grant[];
  readonly blockers: ReadonlyMap<string, readonly WaitingOn[]>;
}

/**
 * Every eviction that the current tokens allow, in order. A granted eviction uses its token and its
 * pod counts as gone, until nothing more is granted. The other pods wait for a change.
 */
const allocateAll = (
  observed: readonly Observed[],
  input: PreviewInput,
  limits: Limits,
): Rounds => {
  const budgets = new BudgetIndex(input.budgets);
  const ledger = new Ledger();
  const grants: Grant[] = [];
  const gone = new Set<string>();
  for (let round = 0; round < maxRounds; round++) {
    const drains = observed.flatMap(({ drain }) =>
      drain === undefined
        ? []
        : [{ ...drain, pods: drain.pods.filter(({ pod }) => !gone.has(pod.metadata.uid)) }],
    );
    const { now } = input;
    const allocation = allocate({ drains, budgets, ledger, now, limits });
    if (allocation.grants.length === 0) return { grants, blockers: allocation.blockers };
    for (const grant of allocation.grants) {
      grants.push(grant);
      gone.add(grant.pod.uid);
      const { drain, pod, budgets: taken, budgetVersions } = grant;
      const how = grant.kind;
      const emulated = grant.kind === 'delete' && grant.why === 'emulate';
      ledger.sent({ drain, pod, how, budgets: taken, emulated, budgetVersions }, now);
      ledger.succeeded(pod.uid, now, 'done');
    }
  }
  throw new Error('the preview of the drain did not come to an end');
};

/** EKS' limit, for causes without a deadline; a manual drain has none. */
const defaultDrainTimeoutMs = durationMs(defaultDrainTimeoutSeconds * 1000);

const neverFrees = (waiting: WaitingOn): boolean =>
  waiting.kind === 'multiplePdbs' || (waiting.kind === 'pdb' && waiting.neverAllows);

const withOwner = (pod: Pod): { readonly pod: PodRef; readonly owner?: string } => {
  const owner = ownerName(pod);
  return { pod: podRef(pod), ...defined({ owner }) };
};

const previewOf = (read: NodeRead, observed: Observed, rounds: Rounds): NodePreview => {
  const { observation, classified } = observed;
  const { disruption } = observation;
  const subject = disruption.metadata.name;
  const decided = decideDisruption(observation);
  const patches = decided.steps.filter(({ kind }) => kind === 'PatchNode');
  const evictions = rounds.grants.filter(({ drain }) => drain === subject).map(stepOf);
  const waitingOn = rounds.blockers.get(subject) ?? [];
  const bounded = demandOf(observation).deadline !== undefined;
  return {
    node: read.node.metadata.name,
    disruption: subject,
    plan: { subject, steps: [...patches, ...evictions], waitingOn },
    pods: classified.evict.map(({ pod, warnings }) => ({ ...withOwner(pod), warnings })),
    stays: classified.skip.map(({ pod, reason }) => ({ ...withOwner(pod), reason })),
    refusals: bounded ? [] : waitingOn.filter(neverFrees),
    others: causesInForce(disruption).filter(({ id }) => id !== read.cause.id),
  };
};

/** Previews of all nodes together, because they share budgets. */
export const previewDrains = (
  input: PreviewInput,
  limits: Limits = defaultLimits,
): readonly NodePreview[] => {
  const observed = input.reads.map((read) => toObserved(read, input));
  const rounds = allocateAll(observed, input, limits);
  return input.reads.flatMap((read, i) => {
    const one = observed[i];
    return one === undefined ? [] : [previewOf(read, one, rounds)];
  });
};
