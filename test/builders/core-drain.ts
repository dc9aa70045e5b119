// For tests only: builders of pods, budgets and drains with overrides. Only tests in src import
// this.

import { type EpochMs, epochMs, formatKubeTime, formatTime } from '../../src/api/brand.ts';
import { defined } from '../../src/api/defined.ts';
import type { Pod, PodDisruptionBudget } from '../../src/api/kube.ts';
import { defaultLimits, type Limits } from '../../src/core/drain/account.ts';
import { type Allocation, allocate } from '../../src/core/drain/allocate.ts';
import { BudgetIndex } from '../../src/core/drain/budgets.ts';
import type { Drain } from '../../src/core/drain/candidates.ts';
import { Ledger } from '../../src/core/drain/ledger.ts';
import { selfMovingOf } from '../../src/core/drain/self-moving.ts';

/** 2026-01-01T00:00:00Z, the start time of every test. */
export const t0 = epochMs(Date.UTC(2026, 0, 1));
export const tPlus = (seconds: number): EpochMs => epochMs(t0 + seconds * 1000);
export const timePlus = (seconds: number): string => formatTime(tPlus(seconds));
export const kubeTimePlus = (seconds: number): string => formatKubeTime(tPlus(seconds));

export interface PodOverrides {
  readonly namespace?: string;
  readonly uid?: string;
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** `Kind/name`; empty for no controller. Default: a ReplicaSet. */
  readonly owner?: string;
  readonly phase?: Pod['status']['phase'];
  readonly ready?: boolean;
  readonly graceSeconds?: number;
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly createdAt?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly finalizers?: readonly string[];
  readonly tolerations?: Pod['spec']['tolerations'];
  readonly emptyDir?: boolean;
  readonly resourceVersion?: string;
}

const ownersOf = (owner: string): Pod['metadata']['ownerReferences'] => {
  const [kind = '', name = ''] = owner.split('/');
  const apiVersion = kind === 'Node' ? 'v1' : kind === 'Job' ? 'batch/v1' : 'apps/v1';
  return [{ apiVersion, kind, name, uid: `uid-${name}`, controller: true }];
};

/** A Running, Ready pod `demo/NAME` with label app=web, owned by ReplicaSet web, grace 30 s. */
export const aPod = (name: string, more: PodOverrides = {}): Pod => {
  const owner = more.owner ?? 'ReplicaSet/web';
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers, annotations } = more;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: more.namespace ?? 'demo',
      uid: more.uid ?? `uid-${name}`,
      resourceVersion: more.resourceVersion ?? '1',
      creationTimestamp: more.createdAt ?? kubeTimePlus(-600),
      labels: more.labels ?? { app: 'web' },
      ...(owner === '' ? {} : { ownerReferences: ownersOf(owner) ?? [] }),
      ...defined({ annotations, deletionTimestamp, deletionGracePeriodSeconds, finalizers }),
    },
    spec: {
      nodeName: more.node ?? 'n1',
      terminationGracePeriodSeconds: more.graceSeconds ?? 30,
      ...defined({
        priorityClassName: more.priorityClassName,
        priority: more.priority,
        tolerations: more.tolerations,
      }),
      ...(more.emptyDir === true ? { volumes: [{ name: 'tmp', emptyDir: {} }] } : {}),
    },
    status: {
      phase: more.phase ?? 'Running',
      conditions: [{ type: 'Ready', status: (more.ready ?? true) ? 'True' : 'False' }],
    },
  };
};

export interface BudgetOverrides {
  readonly namespace?: string;
  readonly selector?: PodDisruptionBudget['spec']['selector'] | 'none';
  readonly minAvailable?: number | string;
  readonly maxUnavailable?: number | string;
  readonly allowed?: number;
  readonly healthy?: number;
  readonly desired?: number;
  readonly expected?: number;
  readonly disrupted?: readonly string[];
  /** Seconds after t0 at which the server recorded them. */
  readonly disruptedAt?: number;
  readonly policy?: 'IfHealthyBudget' | 'AlwaysAllow';
  readonly generation?: number;
  readonly observed?: number;
  readonly resourceVersion?: string;
}

/** A budget `demo/NAME` over app=web that currently allows `allowed` (default 1). */
export const aBudget = (name: string, more: BudgetOverrides = {}): PodDisruptionBudget => {
  const { minAvailable, maxUnavailable, policy } = more;
  const selector = more.selector ?? { matchLabels: { app: 'web' } };
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name,
      namespace: more.namespace ?? 'demo',
      uid: `uid-${name}`,
      resourceVersion: more.resourceVersion ?? '1',
      generation: more.generation ?? 1,
      creationTimestamp: kubeTimePlus(-600),
    },
    spec: {
      ...(selector === 'none' ? {} : { selector }),
      ...defined({ minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy }),
    },
    status: {
      observedGeneration: more.observed ?? more.generation ?? 1,
      disruptionsAllowed: more.allowed ?? 1,
      currentHealthy: more.healthy ?? 4,
      desiredHealthy: more.desired ?? 3,
      expectedPods: more.expected ?? 4,
      disruptedPods: Object.fromEntries(
        (more.disrupted ?? []).map((pod) => [pod, timePlus(more.disruptedAt ?? 0)]),
      ),
    },
  };
};

/** A drain of node n1 that may evict, by default without a deadline. */
export const aDrain = (pods: readonly Pod[], more: Partial<Drain> = {}): Drain => ({
  id: 'i-1',
  node: 'n1',
  pods: pods.map((pod) => ({ pod, warnings: [] })),
  mayEvict: true,
  forcing: false,
  selfMoving: selfMovingOf(undefined),
  waits: { startedAt: t0, tiers: [] },
  ...more,
});

export interface Case {
  readonly drains: readonly Drain[];
  readonly budgets?: readonly PodDisruptionBudget[];
  readonly ledger?: Ledger;
  readonly at?: number;
  readonly limits?: Partial<Limits>;
  readonly readyElsewhere?: number;
}

export const run = ({
  drains,
  budgets = [],
  ledger = new Ledger(),
  at = 0,
  ...more
}: Case): Allocation =>
  allocate({
    drains,
    budgets: new BudgetIndex(budgets),
    ledger,
    now: tPlus(at),
    limits: { ...defaultLimits, ...more.limits },
    owners: () => ({ readyElsewhere: more.readyElsewhere ?? 1 }),
  });

export const names = (allocation: Allocation): readonly string[] =>
  allocation.grants.map(({ kind, pod }) => (kind === 'evict' ? pod.name : `delete ${pod.name}`));
export const kinds = (allocation: Allocation, id = 'i-1'): readonly string[] =>
  (allocation.blockers.get(id) ?? []).map(({ kind }) => kind);
export const pods = (count: number, more: PodOverrides = {}): readonly Pod[] =>
  Array.from({ length: count }, (_, i) => aPod(`p${i + 1}`, more));
export const aWindow = (seconds: number, more: Partial<NonNullable<Drain['window']>> = {}) => ({
  startedAt: tPlus(0),
  deadline: tPlus(seconds),
  onDeadline: 'force' as const,
  safetyMs: 10_000,
  ...more,
});
