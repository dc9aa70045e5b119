// The contents of a random cluster: groups, applications, budgets. Uses one random stream, so a
// seed always gives the same cluster. Acts on nothing.

import type { DemoGroup } from '../../../world/aws/index.ts';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Random } from '../../ports/index.ts';

/** none; a number or percentage; never: maxUnavailable 0; two: a second budget on the same pods. */
export type BudgetKind = 'none' | 'one' | 'half' | 'allButOne' | 'never' | 'two';

export interface App {
  readonly name: string;
  readonly replicas: number;
  readonly budget: BudgetKind;
  readonly graceSeconds: number;
  readonly stopSeconds: number;
  readonly readySeconds: number;
  /** Further annotations of its pods. */
  readonly annotations?: JsonObject;
  readonly priorityClassName?: string;
}

/** Settings of a managed group beyond EKS' defaults. */
export interface GroupSettings {
  /** Heartbeat timeout of the controller's hooks; absent: EKS' 30 minutes. */
  readonly heartbeatSeconds?: number;
  /** A foreign termination hook on the same group; it ends by timeout. */
  readonly foreignHookSeconds?: number;
  readonly drain?: JsonObject;
}

export interface Scenario {
  readonly groups: readonly DemoGroup[];
  /** By name of the group; groups that are not managed have none. */
  readonly settings: Readonly<Record<string, GroupSettings>>;
  readonly apps: readonly App[];
  /** Run times of Jobs, in seconds. */
  readonly jobs: readonly number[];
  readonly addons: boolean;
  /** Its node groups get version updates. */
  readonly updates: boolean;
}

const pick = <T>(random: Random, items: readonly [T, ...T[]]): T =>
  items[random.below(items.length)] ?? items[0];

const zones = ['a', 'b', 'c'] as const;
/** A kind's frequency is its weight. */
const budgets: readonly [BudgetKind, ...BudgetKind[]] = [
  'none',
  'none',
  'one',
  'one',
  'half',
  'allButOne',
  'never',
  'two',
];

const drawSettings = (random: Random): GroupSettings => {
  const isPlain = random.next() < 0.4;
  const heartbeatSeconds = pick(random, [300, 300, 900, 1800]);
  const foreignHookSeconds = random.next() < 0.3 ? pick(random, [60, 600]) : undefined;
  const timeoutSeconds = pick(random, [300, 900, 2400]);
  const onDeadline = random.next() < 0.25 ? 'fail' : 'force';
  if (isPlain) return {};
  return {
    // A failed drain keeps its hook to the end: 100 heartbeats must fit into a life.
    heartbeatSeconds: onDeadline === 'fail' ? 120 : heartbeatSeconds,
    drain: { timeoutSeconds, onDeadline },
    ...defined({ foreignHookSeconds }),
  };
};

/** The size of a life: world seconds with faults, and the maximum number of nodes. */
export interface LifeSize {
  readonly chaosSeconds: number;
  readonly maxNodes: number;
}

/**
 * Most lives are small and short: most defects need two nodes and less than a quarter of an hour.
 * One in eight is long and two in eight are large, for the other defects.
 */
export const drawSize = (random: Random): LifeSize => ({
  chaosSeconds: pick(random, [150, 150, 150, 200, 200, 300, 300, 900]),
  maxNodes: pick(random, [3, 4, 4, 5, 6, 6, 10, 20]),
});

/** An update takes many minutes; the other lives test everything else without that cost. */
const updatesShare = 0.6;

export const drawScenario = (random: Random, options: { readonly maxNodes: number }): Scenario => {
  const groupCount = 1 + random.below(3);
  const perGroup = Math.max(1, Math.floor(options.maxNodes / groupCount));
  const groups = Array.from({ length: groupCount }, (_, i): DemoGroup => {
    const desired = 1 + random.below(perGroup);
    return {
      name: `g${i + 1}`,
      isManaged: i === 0 || random.next() < 0.75,
      min: 0,
      max: desired + 3,
      desired,
      instanceType: 'm5.large',
      zones: zones.slice(0, 1 + random.below(3)),
      releasesBehind: random.below(2),
    };
  });
  const apps = Array.from({ length: 1 + random.below(5) }, (_, i): App => {
    const graceSeconds = pick(random, [5, 30, 30, 120]);
    return {
      name: `app${i + 1}`,
      replicas: 1 + random.below(6),
      budget: pick(random, budgets),
      graceSeconds,
      stopSeconds: Math.min(graceSeconds, pick(random, [1, 1, 2, 20])),
      readySeconds: pick(random, [0, 1, 5, 30]),
    };
  });
  const addons = random.next() < 0.5;
  const managed = groups.filter(({ isManaged }) => isManaged);
  const settings = Object.fromEntries(managed.map(({ name }) => [name, drawSettings(random)]));
  const updates = random.next() < updatesShare;
  return { groups, apps, jobs: [], addons, settings, updates };
};

/** About a third of the groups, so that most lives with several groups have both markets. */
const spotShare = 0.35;

/** Marks groups that launch spot instances; uses a random stream of its own. */
export const withSpotGroups = (scenario: Scenario, random: Random): Scenario => ({
  ...scenario,
  groups: scenario.groups.map((group) =>
    random.next() < spotShare ? { ...group, capacityType: 'SPOT' } : group,
  ),
});

export const appNamespace = 'life';

const metadataOf = (name: string): JsonObject => ({ name, namespace: appNamespace });

export const deploymentOf = (app: App): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadataOf(app.name),
  spec: {
    replicas: app.replicas,
    selector: { matchLabels: { app: app.name } },
    template: {
      metadata: {
        labels: { app: app.name },
        annotations: {
          'world.drover.dev/stop-seconds': String(app.stopSeconds),
          'world.drover.dev/ready-seconds': String(app.readySeconds),
          ...app.annotations,
        },
      },
      spec: {
        terminationGracePeriodSeconds: app.graceSeconds,
        ...defined({ priorityClassName: app.priorityClassName }),
        containers: [{ name: 'app', image: 'example/app:1' }],
      },
    },
  },
});

const budgetBounds: Readonly<Record<BudgetKind, (replicas: number) => readonly JsonObject[]>> = {
  none: () => [],
  one: () => [{ maxUnavailable: 1 }],
  half: () => [{ minAvailable: '50%' }],
  allButOne: (replicas) => [{ minAvailable: Math.max(0, replicas - 1) }],
  never: () => [{ maxUnavailable: 0 }],
  two: () => [{ maxUnavailable: 1 }, { minAvailable: 1 }],
};

export const budgetsOf = (app: App): readonly JsonObject[] =>
  budgetBounds[app.budget](app.replicas).map((bound, i) => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataOf(i === 0 ? app.name : `${app.name}-${i + 1}`),
    spec: { ...bound, selector: { matchLabels: { app: app.name } } },
  }));
