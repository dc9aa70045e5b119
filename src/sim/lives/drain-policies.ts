// Drain policies of groups, and the pods that they are about: pods that must not be evicted, pods
// of Jobs, critical pods. Draws only what the API server accepts, from a random stream of its own.
import type { JsonObject } from '../../api/json.ts';
import type { Random } from '../../ports/index.ts';
import { pickOf } from './action.ts';
import { type App, appNamespace, type Scenario } from './scenario.ts';

/** The random stream of this file. */
export const drainPolicies = 'life.drain-policies';

const critical = 2_000_000_000;
const drawWait = (random: Random): JsonObject | null =>
  random.next() < 0.5 ? { waitSeconds: pickOf(random, [0, 30, 120, 600]) ?? 0 } : null;

const drawTiers = (random: Random): readonly JsonObject[] | null => {
  if (random.next() < 0.5) return null;
  if (random.next() < 0.2) return [];
  const waitSeconds = pickOf(random, [0, 30, 120]) ?? 0;
  const first = random.next() < 0.7 ? { priority: 0, waitSeconds } : { priority: 0 };
  return [first, { priority: critical }];
};

/** Fields that are not drawn are null, which removes them. */
export const drawDrainPolicy = (random: Random): JsonObject => ({
  doNotEvict: drawWait(random),
  jobs: drawWait(random),
  tiers: drawTiers(random),
  forceIntervalSeconds: random.next() < 0.3 ? (pickOf(random, [5, 20]) ?? 0) : null,
  volumes: drawWait(random),
  loadBalancers:
    random.next() < 0.5
      ? { beforeSeconds: pickOf(random, [0, 10, 60]) ?? 0, afterSeconds: 60 }
      : null,
  lateNodes: random.next() < 0.2 ? { withinSeconds: 0 } : null,
});

const annotations: readonly JsonObject[] = [
  { 'karpenter.sh/do-not-disrupt': 'true' },
  { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' },
  { 'drover.dev/do-not-evict': '3m' },
];

const marked = (app: App, random: Random): App => {
  const drawn = random.next();
  if (drawn < 0.15) return { ...app, annotations: pickOf(random, annotations) ?? {} };
  return drawn < 0.25 ? { ...app, priorityClassName: 'system-cluster-critical' } : app;
};

/** Half of the lives have such pods, and a third of the groups a policy. */
export const withDrainPolicies = (scenario: Scenario, random: Random): Scenario => {
  const hasPods = random.next() < 0.5;
  const settings = Object.entries(scenario.settings).map(([name, one]) => {
    if (random.next() >= 0.33) return [name, one] as const;
    return [name, { ...one, drain: { ...one.drain, ...drawDrainPolicy(random) } }] as const;
  });
  const jobs = [10, 60, 400].filter(() => hasPods && random.next() < 0.3);
  return {
    ...scenario,
    settings: Object.fromEntries(settings),
    apps: hasPods ? scenario.apps.map((app) => marked(app, random)) : scenario.apps,
    jobs,
  };
};

/** A Job that runs for `seconds` per pod. */
export const jobOf = (seconds: number): JsonObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: `job-${seconds}`, namespace: appNamespace },
  spec: {
    parallelism: 2,
    completions: 6,
    template: {
      metadata: { annotations: { 'world.drover.dev/run-seconds': String(seconds) } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'example/work:1' }] },
    },
  },
});
