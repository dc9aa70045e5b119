// How owners of node groups configure updates: strategy, parallelism, policies for slow drains and
// new nodes, hooks, waves and approval. Draws only configurations that the API server accepts;
// decides nothing.

import type { WorldClient } from '../../../world/contracts.ts';
import type { JsonObject } from '../../api/json.ts';
import { updateStrategies } from '../../api/nodegroup-update.ts';
import { hookFailurePolicies, hookKinds } from '../../api/update-hooks.ts';
import { waveGates } from '../../api/update-pacing.ts';
import { drainTimeoutPolicies, shortagePolicies } from '../../api/update-policy.ts';
import type { Random } from '../../ports/index.ts';
import { type ActionContext, pickOf } from './action.ts';
import { drawPacing } from './pacing-actions.ts';
import { appNamespace } from './scenario.ts';

type Strategy = (typeof updateStrategies)[number];

/** The work of hook Jobs, by CronJob: one succeeds, one fails. */
const works = { work: { seconds: 20, exit: 0 }, broken: { seconds: 5, exit: 1 } } as const;

/** Creates the CronJobs for hooks; they are suspended. */
export const prepareWorks = (user: Pick<WorldClient, 'create'>): void => {
  for (const [name, { seconds, exit }] of Object.entries(works)) {
    const annotations = {
      'world.drover.dev/run-seconds': String(seconds),
      'world.drover.dev/exit-code': String(exit),
    };
    const containers = [{ name: 'work', image: 'example/work:1' }];
    const template = { metadata: { annotations }, spec: { restartPolicy: 'Never', containers } };
    user.create({ group: 'batch', resource: 'cronjobs' }, appNamespace, {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name, namespace: appNamespace },
      spec: {
        schedule: '0 0 1 1 *',
        suspend: true,
        jobTemplate: { spec: { backoffLimit: 0, template } },
      },
    });
  }
};

const drawHook = (random: Random): JsonObject => {
  const cronJob = random.next() < 0.85 ? 'work' : 'broken';
  const isJob = random.next() < 0.3;
  return {
    job: isJob ? { namespace: appNamespace, cronJob } : null,
    webhook: isJob ? null : { url: 'https://ops.example/hook' },
    timeoutSeconds: pickOf(random, [60, 300]) ?? 60,
    onFailure: pickOf(random, hookFailurePolicies) ?? 'Fail',
  };
};

const drawHooks = (random: Random): JsonObject => {
  const asked = new Set([pickOf(random, hookKinds)]);
  if (random.next() < 0.4) asked.add(pickOf(random, hookKinds));
  return Object.fromEntries(
    hookKinds.map((kind) => [kind, asked.has(kind) ? drawHook(random) : null]),
  );
};

const drawWaves = (random: Random): readonly JsonObject[] => [
  {
    percent: pickOf(random, [10, 34, 50]) ?? 34,
    soakSeconds: pickOf(random, [0, 60]) ?? 0,
    gates: random.next() < 0.7 ? [pickOf(random, waveGates) ?? 'Approval'] : [],
  },
];

/** Policies for a drain or a new node that takes too long. */
const drawPolicies = (random: Random, strategy: Strategy): JsonObject => {
  const isSurge = strategy === 'SURGE';
  const policies = drainTimeoutPolicies.filter((one) => isSurge || one !== 'Quarantine');
  const onTimeout = pickOf(random, policies) ?? 'Fail';
  const drain = {
    onTimeout,
    timeoutSeconds: pickOf(random, [120, 300, 900]) ?? 900,
    cooldownSeconds: pickOf(random, [0, 60]) ?? 60,
    forceAfterSeconds: onTimeout === 'Force' ? (pickOf(random, [0, 120]) ?? 0) : null,
  };
  const isLimited = onTimeout === 'Quarantine' && random.next() < 0.5;
  const capacity = {
    onShortage: pickOf(random, shortagePolicies) ?? 'Elsewhere',
    waitSeconds: pickOf(random, [60, 300]) ?? 60,
  };
  return {
    drain,
    maxQuarantined: isLimited ? 1 + random.below(3) : null,
    rollback: random.next() < 0.4 ? { auto: true, failedNewNodes: 1 + random.below(2) } : null,
    capacity: isSurge && random.next() < 0.3 ? capacity : null,
  };
};

export const drawSoak = (random: Random): JsonObject => ({
  soakSeconds: pickOf(random, [0, 120, 600]) ?? 0,
  batchSoakSeconds: pickOf(random, [0, 0, 60]) ?? 0,
});

const none = {
  drain: null,
  maxQuarantined: null,
  rollback: null,
  capacity: null,
  blueGreen: null,
  hooks: null,
} as const;

/** Settings that only Drover's own strategies have. */
const drawOwn = (random: Random, strategy: Strategy | null): JsonObject => {
  if (strategy !== 'SURGE' && strategy !== 'BLUE_GREEN') return none;
  const isSoaked = strategy === 'BLUE_GREEN' && random.next() < 0.9;
  return {
    ...none,
    ...(random.next() < 0.5 ? drawPolicies(random, strategy) : {}),
    ...(isSoaked ? { blueGreen: drawSoak(random) } : {}),
    ...(random.next() < 0.4 ? { hooks: drawHooks(random) } : {}),
  };
};

/** The complete configuration; settings that are not drawn keep their default. */
export const drawUpdateConfig = (context: ActionContext): JsonObject => {
  const { random } = context;
  const strategy = random.next() < 0.8 ? (pickOf(random, updateStrategies) ?? null) : null;
  const most = 1 + random.below(3);
  const percentage = pickOf(random, [10, 34, 50, 100]) ?? 34;
  const isShare = random.next() < 0.3;
  return {
    updateStrategy: strategy,
    maxUnavailable: isShare ? null : most,
    maxUnavailablePercentage: isShare ? percentage : null,
    ...drawOwn(random, strategy),
    waves: random.next() < 0.25 ? drawWaves(random) : null,
    approval: random.next() < 0.08 ? 'Required' : null,
    ...drawPacing(context),
  };
};
