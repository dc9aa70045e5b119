// Computes a Deployment's status: counts, Available and Progressing, and when to check again. Pure;
// upstream: pkg/controller/deployment/progress.go and sync.go (Kubernetes 1.32).
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import { type Micros, microsPerSecond } from '../../kernel/index.ts';
import {
  type Cond,
  conditionOf,
  type DeploymentView,
  kubeTime,
  microsOf,
  type ReplicaSetView,
  withCondition,
} from '../actors/index.ts';
import { availableCondition, deploymentCounts, progressingCondition } from './rollout.ts';

/** A Deployment's ReplicaSets: the one of the current template, and the others. */
export interface Family {
  readonly newSet: ReplicaSetView | undefined;
  readonly old: readonly ReplicaSetView[];
  readonly all: readonly ReplicaSetView[];
}

/** `status` is undefined when the stored one is correct. */
export const nextStatus = (
  deployment: DeploymentView,
  family: Family,
  nowMicros: Micros,
): { readonly status: JsonObject | undefined; readonly againInMicros: Micros | undefined } => {
  const counts = deploymentCounts(family.newSet, family.all);
  const now = kubeTime(nowMicros);
  const left = untilDeadline(deployment, nowMicros);
  const conditions = nextConditions(deployment, family, {
    now,
    timedOut: left !== undefined && left <= 0,
  });
  const old = deployment.status;
  const same =
    old !== undefined &&
    conditions === old.conditions &&
    old.observedGeneration === deployment.metadata.generation &&
    Object.entries(counts).every(
      ([field, value]) => (old[field as keyof typeof counts] ?? 0) === value,
    );
  const againInMicros = left === undefined || left <= 0 ? undefined : left;
  if (same) return { status: undefined, againInMicros };
  const status: JsonObject = {
    observedGeneration: deployment.metadata.generation ?? 1,
    ...Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== 0)),
    conditions,
    ...defined({ collisionCount: old?.collisionCount }),
  };
  return { status, againInMicros };
};

const nextConditions = (
  deployment: DeploymentView,
  family: Family,
  facts: { readonly now: string; readonly timedOut: boolean },
): readonly Cond[] => {
  const { now } = facts;
  const counts = deploymentCounts(family.newSet, family.all);
  const available = keepUpdateTime(deployment, availableCondition(deployment, counts), now);
  const conditions = withCondition(deployment.status?.conditions ?? [], available, now);
  const progressing = progressingCondition(deployment, counts, {
    newSetName: family.newSet?.metadata.name,
    timedOut: facts.timedOut,
  });
  if (progressing === undefined) return conditions;
  const next = { type: 'Progressing', ...progressing };
  // A repeated progress report renews its update time; a repeated final state does not.
  const fresh = progressing.reason === 'ReplicaSetUpdated';
  const timed = fresh ? { ...next, lastUpdateTime: now } : keepUpdateTime(deployment, next, now);
  return withCondition(conditions, timed, now);
};

/** Microseconds until the progress deadline; undefined when none applies. */
const untilDeadline = (deployment: DeploymentView, now: Micros): Micros | undefined => {
  const progressing = conditionOf(deployment.status?.conditions, 'Progressing');
  if (progressing === undefined || progressing.reason === 'NewReplicaSetAvailable')
    return undefined;
  if (progressing.reason === 'ProgressDeadlineExceeded') return undefined;
  const since = microsOf(progressing.lastUpdateTime) ?? now;
  const seconds = deployment.spec.progressDeadlineSeconds ?? 600;
  return since + seconds * microsPerSecond - now;
};

const keepUpdateTime = (
  deployment: DeploymentView,
  next: Omit<Cond, 'lastTransitionTime'>,
  now: string,
): Omit<Cond, 'lastTransitionTime'> => {
  const old = conditionOf(deployment.status?.conditions, next.type);
  const same =
    old?.status === next.status && old.reason === next.reason && old.message === next.message;
  return { ...next, lastUpdateTime: same ? (old.lastUpdateTime ?? now) : now };
};
