// A Deployment's next step for its ReplicaSets: sizes for scaling or rollout, status, conditions.
// Pure decisions; upstream: pkg/controller/deployment (Kubernetes 1.32).
import {
  type Cond,
  conditionOf,
  type DeploymentView,
  type ReplicaSetView,
  scaled,
} from '../actors/index.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
export const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxAnnotation = 'deployment.kubernetes.io/max-replicas';
export const hashLabel = 'pod-template-hash';

export interface Resize {
  readonly set: ReplicaSetView;
  readonly to: number;
}

const sizeOf = (set: ReplicaSetView): number => set.spec.replicas ?? 1;
const availableOf = (set: ReplicaSetView): number => set.status?.availableReplicas ?? 0;
const sum = (sets: readonly ReplicaSetView[], of: (set: ReplicaSetView) => number): number =>
  sets.reduce((total, set) => total + of(set), 0);

/** maxSurge rounds up, maxUnavailable down; both zero means one unavailable. */
export const rollingLimits = (
  deployment: DeploymentView,
): { readonly maxSurge: number; readonly maxUnavailable: number } => {
  if (deployment.spec.strategy?.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = deployment.spec.replicas ?? 1;
  const rolling = deployment.spec.strategy?.rollingUpdate;
  const maxSurge = scaled(rolling?.maxSurge ?? '25%', replicas, 'up');
  const maxUnavailable = scaled(rolling?.maxUnavailable ?? '25%', replicas, 'down');
  if (maxSurge === 0 && maxUnavailable === 0) return { maxSurge, maxUnavailable: 1 };
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
};

/** The next size of the newest set. */
export const newSetSize = (
  deployment: DeploymentView,
  newSet: ReplicaSetView | undefined,
  all: readonly ReplicaSetView[],
): number => {
  const wanted = deployment.spec.replicas ?? 1;
  if (deployment.spec.strategy?.type === 'Recreate') return wanted;
  const size = newSet === undefined ? 0 : sizeOf(newSet);
  if (size >= wanted) return wanted;
  const room = wanted + rollingLimits(deployment).maxSurge - sum(all, sizeOf);
  return room <= 0 ? size : size + Math.min(room, wanted - size);
};

/** The old sets to scale down in a rolling update: unhealthy pods first, then others. */
export const shrinkOldSets = (
  deployment: DeploymentView,
  newSet: ReplicaSetView,
  old: readonly ReplicaSetView[],
): readonly Resize[] => {
  const all = [...old, newSet];
  const minAvailable = (deployment.spec.replicas ?? 1) - rollingLimits(deployment).maxUnavailable;
  const newUnavailable = sizeOf(newSet) - availableOf(newSet);
  const budget = sum(all, sizeOf) - minAvailable - newUnavailable;
  if (budget <= 0) return [];
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]));
  const byAge = [...old].sort((a, b) =>
    a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1,
  );
  let cleaned = 0;
  for (const set of byAge) {
    const broken = sizeOf(set) - availableOf(set);
    const take = Math.min(budget - cleaned, Math.max(broken, 0));
    if (take <= 0) continue;
    sizes.set(set, sizeOf(set) - take);
    cleaned += take;
  }
  let left = sum(all, availableOf) - minAvailable;
  for (const set of byAge) {
    const size = sizes.get(set) ?? 0;
    const take = Math.min(left, size);
    if (take <= 0) continue;
    sizes.set(set, size - take);
    left -= take;
  }
  return old
    .filter((set) => sizes.get(set) !== sizeOf(set))
    .map((set) => ({ set, to: sizes.get(set) ?? 0 }));
};

/** Sizes after spec.replicas changed during a rollout: active sets scale proportionally. */
export const scaleSets = (
  deployment: DeploymentView,
  newSet: ReplicaSetView | undefined,
  old: readonly ReplicaSetView[],
): readonly Resize[] => {
  const wanted = deployment.spec.replicas ?? 1;
  const all = newSet === undefined ? [...old] : [...old, newSet];
  const active = all.filter((set) => sizeOf(set) > 0);
  const only = active.length <= 1 ? (active[0] ?? newSet) : undefined;
  if (only !== undefined) return sizeOf(only) === wanted ? [] : [{ set: only, to: wanted }];
  if (newSet !== undefined && availableOf(newSet) >= wanted && sizeOf(newSet) === wanted) {
    return old.filter((set) => sizeOf(set) > 0).map((set) => ({ set, to: 0 }));
  }
  if (deployment.spec.strategy?.type === 'Recreate') return [];
  const total = sum(active, sizeOf);
  const allowed = wanted > 0 ? wanted + rollingLimits(deployment).maxSurge : 0;
  let left = allowed - total;
  const ordered = [...active].sort((a, b) => sizeOf(b) - sizeOf(a));
  const results = ordered.map((set): { set: ReplicaSetView; to: number } => {
    const share = left === 0 ? 0 : proportion(set, deployment, { allowed, total, left });
    left -= share;
    return { set, to: Math.max(0, sizeOf(set) + share) };
  });
  // Upstream gives the remainder of the rounding to the largest set.
  const first = results[0];
  if (first !== undefined && left !== 0) first.to = Math.max(0, first.to + left);
  return results.filter((one) => one.to !== sizeOf(one.set));
};

const proportion = (
  set: ReplicaSetView,
  deployment: DeploymentView,
  room: { readonly allowed: number; readonly total: number; readonly left: number },
): number => {
  const before = Number(set.metadata.annotations?.[maxAnnotation] ?? room.total) || room.total;
  const after = (deployment.spec.replicas ?? 1) + rollingLimits(deployment).maxSurge;
  const exact = Math.round((sizeOf(set) * after) / before) - sizeOf(set);
  return room.left > 0
    ? Math.max(0, Math.min(exact, room.left))
    : Math.min(0, Math.max(exact, room.left));
};

export interface DeploymentCounts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly unavailableReplicas: number;
}

export const deploymentCounts = (
  newSet: ReplicaSetView | undefined,
  all: readonly ReplicaSetView[],
): DeploymentCounts => {
  const replicas = sum(all, (set) => set.status?.replicas ?? 0);
  const availableReplicas = sum(all, availableOf);
  return {
    replicas,
    updatedReplicas: newSet?.status?.replicas ?? 0,
    readyReplicas: sum(all, (set) => set.status?.readyReplicas ?? 0),
    availableReplicas,
    unavailableReplicas: Math.max(0, sum(all, sizeOf) - availableReplicas),
  };
};

export const isComplete = (deployment: DeploymentView, counts: DeploymentCounts): boolean => {
  const wanted = deployment.spec.replicas ?? 1;
  return (
    counts.updatedReplicas === wanted &&
    counts.replicas === wanted &&
    counts.availableReplicas === wanted
  );
};

/** The Available condition's content. */
export const availableCondition = (
  deployment: DeploymentView,
  counts: DeploymentCounts,
): {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
} => {
  const wanted = deployment.spec.replicas ?? 1;
  const enough = counts.availableReplicas >= wanted - rollingLimits(deployment).maxUnavailable;
  return enough
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
};

/** Progress since the last status: more updated, fewer old, more ready or available. */
const hasProgressed = (deployment: DeploymentView, counts: DeploymentCounts): boolean => {
  const old = deployment.status;
  const oldOld = (old?.replicas ?? 0) - (old?.updatedReplicas ?? 0);
  return (
    counts.updatedReplicas > (old?.updatedReplicas ?? 0) ||
    counts.replicas - counts.updatedReplicas < oldOld ||
    counts.readyReplicas > (old?.readyReplicas ?? 0) ||
    counts.availableReplicas > (old?.availableReplicas ?? 0)
  );
};

/** The Progressing condition's next content; undefined leaves it as it is. */
export const progressingCondition = (
  deployment: DeploymentView,
  counts: DeploymentCounts,
  facts: { readonly newSetName: string | undefined; readonly timedOut: boolean },
): { readonly status: string; readonly reason: string; readonly message: string } | undefined => {
  const old: Cond | undefined = conditionOf(deployment.status?.conditions, 'Progressing');
  const about =
    facts.newSetName === undefined
      ? `Deployment "${deployment.metadata.name}"`
      : `ReplicaSet "${facts.newSetName}"`;
  const done = old?.reason === 'NewReplicaSetAvailable';
  if (isComplete(deployment, counts)) {
    return {
      status: 'True',
      reason: 'NewReplicaSetAvailable',
      message: `${about} has successfully progressed.`,
    };
  }
  // A complete rollout that lost a pod does not restart (upstream keeps the reason).
  if (done && (old?.message ?? '').startsWith(about)) return undefined;
  if (hasProgressed(deployment, counts)) {
    return { status: 'True', reason: 'ReplicaSetUpdated', message: `${about} is progressing.` };
  }
  if (facts.timedOut) {
    return {
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: `${about} has timed out progressing.`,
    };
  }
  if (old === undefined || done) {
    return {
      status: 'True',
      reason: 'NewReplicaSetCreated',
      message: `Created new replica set "${facts.newSetName ?? ''}"`,
    };
  }
  return undefined;
};
