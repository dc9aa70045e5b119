// What a plan says will stop an update does stop it once it is waived: the same code, at that pod, on that node, at
// that minute. Each cluster carries one cause.
import { describe, expect, it } from 'vitest';
import { planOf, settle } from '../../bench/support/calibration.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { UpdateStrategy } from '../../src/api/nodegroup-update.ts';
import type { UpdatePlan } from '../../src/core/update/plan/index.ts';
import type { RolloutApp, RolloutCluster } from '../../src/sim/rollout/cluster.ts';
import { runRollout } from '../../src/sim/rollout/run.ts';
import type { WorkloadObject } from '../../src/sim/rollout/workload.ts';

/** The order of nodes is one of chance, and three are updated one by one: two of them may come first. */
const toleranceMinutes = 3;

const app = (more: Partial<RolloutApp>): RolloutApp => ({
  name: 'web',
  kind: 'Deployment',
  replicas: 3,
  readySeconds: 10,
  stopSeconds: 3,
  ...more,
});

const clusterOf = (...apps: readonly RolloutApp[]): RolloutCluster => ({
  name: 'three nodes',
  nodes: 3,
  zones: ['a'],
  maxUnavailable: 1,
  apps,
});

const budget = (name: string, of: string, spec: JsonObject): WorkloadObject => ({
  resource: { group: 'policy', resource: 'poddisruptionbudgets' },
  object: {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default' },
    spec: { ...spec, selector: { matchLabels: { app: of } } },
  },
});

/** One pod that is as `pod` says, kept by a Deployment. */
const odd = (pod: JsonObject, annotations: JsonObject = {}): WorkloadObject => ({
  resource: { group: 'apps', resource: 'deployments' },
  object: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'odd', namespace: 'default' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'odd' } },
      template: {
        metadata: { labels: { app: 'odd' }, annotations },
        spec: { containers: [{ name: 'app', image: 'app:1' }], ...pod },
      },
    },
  },
});

interface Case {
  readonly check: string;
  readonly apps?: readonly RolloutApp[];
  readonly objects?: readonly WorkloadObject[];
  readonly strategy?: UpdateStrategy;
  /** Whose pods hold the node. */
  readonly of: string;
}

const cases: readonly Case[] = [
  {
    check: 'budget-never-allows',
    objects: [budget('never', 'web', { maxUnavailable: 0 })],
    of: 'web',
  },
  {
    check: 'single-replica-budget',
    objects: [odd({}), budget('one', 'odd', { minAvailable: 1 })],
    of: 'odd',
  },
  {
    check: 'several-budgets',
    objects: [
      odd({}),
      budget('one', 'odd', { maxUnavailable: 1 }),
      budget('two', 'odd', { maxUnavailable: 1 }),
    ],
    of: 'odd',
  },
  {
    check: 'grace-too-long',
    objects: [
      odd({ terminationGracePeriodSeconds: 1800 }, { 'world.drover.dev/stop-seconds': '1500' }),
    ],
    of: 'odd',
  },
  {
    check: 'drain-too-slow',
    apps: [
      app({ name: 'db', kind: 'StatefulSet', replicas: 9, maxUnavailable: 1, readySeconds: 500 }),
    ],
    of: 'db',
  },
  {
    check: 'new-node-capacity',
    apps: [app({ replicas: 9, maxUnavailable: 1 })],
    strategy: 'MINIMAL',
    of: 'web',
  },
];

const tell = async ({ apps = [app({})], objects = [], strategy = 'DEFAULT' }: Case) => {
  const cluster = clusterOf(...apps);
  let plan: UpdatePlan | undefined;
  const outcome = await runRollout({
    cluster,
    strategy,
    seed: 1,
    settle,
    objects,
    before: async (sources) => {
      plan = await planOf(sources, strategy);
      return undefined;
    },
  });
  return { plan, outcome };
};

describe('what a plan calls a blocker', () => {
  it.each(cases)('$check happens when it is waived', async (one) => {
    const { plan, outcome } = await tell(one);
    const blockers = plan?.findings.filter(({ severity }) => severity === 'blocker') ?? [];
    expect(plan?.verdict).toBe('blocked');
    const [found] = blockers.filter(({ check }) => check === one.check);
    const { consequence } = found ?? {};
    expect(consequence?.text).toContain('PodEvictionFailure');
    expect(outcome.status).toBe('Failed');
    expect(outcome.message).toContain('Reached max retries while trying to evict pods');
    expect(outcome.message).toContain(`default/${one.of}-`);
    if (one.of === 'odd') expect(outcome.failed?.node).toBe(consequence?.node);
    const minute = (outcome.failed?.seconds ?? 0) / 60;
    expect(Math.abs(minute - (consequence?.minute ?? 0))).toBeLessThan(toleranceMinutes);
  });
});
