// Each finding of a plan comes true once it is waived. The update fails or is delayed with the same
// code, budget or pod, node and minute. Once its cause is fixed, the plan reports nothing and the
// update succeeds. This file has the checks of budgets and drains.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import {
  app,
  budget,
  expectNear,
  odd,
  playMended,
  playRow,
  type Row,
  type Story,
} from '../support/plan-stories.ts';

/** The drain of the reported node ends the update at the reported minute. */
const stops = ({ found, outcome }: Story): void => {
  const { node, minute, text } = found.consequence;
  expect(text).toContain('after 15 minutes PodEvictionFailure');
  expect(outcome.status).toBe('Failed');
  expect(outcome.codes).toEqual(['PodEvictionFailure']);
  expect(outcome.message).toContain('Reached max retries while trying to evict pods');
  expect(outcome.failed?.node).toBe(node);
  expectNear(minute, outcome.failed?.seconds);
};

const stopsAtBudget = (story: Story): void => {
  stops(story);
  expect(story.outcome.message).toContain(`budget ${story.found.object.name}`);
};

const stopsAtPod = (story: Story): void => {
  stops(story);
  expect(story.outcome.message).toMatch(new RegExp(`Held by ${story.found.consequence.pod}[ .]`));
};

const neverReady = { annotations: { 'world.drover.dev/never-ready': 'true' } };

/** Pods of a controller without a scale subresource: their expected number is unknown. */
const foreign = Array.from({ length: 2 }, (_, i) => ({
  resource: { group: '', resource: 'pods' },
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `game-${i}`,
      namespace: 'default',
      labels: { app: 'game' },
      ownerReferences: [
        { apiVersion: 'example.com/v1', kind: 'Game', name: 'g', uid: 'g', controller: true },
      ],
    },
    spec: { containers: [{ name: 'app', image: 'app:1' }] },
  } satisfies JsonObject,
}));

const long = (seconds: number) =>
  odd(
    { terminationGracePeriodSeconds: seconds },
    { annotations: { 'world.drover.dev/stop-seconds': String(seconds) } },
  );

const database = (maxUnavailable: number) =>
  app({ name: 'db', kind: 'StatefulSet', replicas: 9, maxUnavailable, readySeconds: 500 });

const healing = (more: JsonObject) => [
  odd({}, { ...neverReady, replicas: 3 }),
  budget('unready', 'odd', { maxUnavailable: 1, ...more }),
];

/** One healthy pod that the budget protects, and two unhealthy pods of the same budget. */
const halfWell = (annotations: JsonObject) => [
  odd({}, { name: 'odd' }),
  odd({}, { name: 'ill', replicas: 2, labels: { app: 'odd', of: 'ill' }, annotations }),
  budget('half', 'odd', { minAvailable: 1 }),
];

const rows: readonly Row[] = [
  {
    check: 'budget-misconfigured',
    severity: 'blocker',
    object: /^default\/game$/,
    scene: { objects: [...foreign, budget('game', 'game', { maxUnavailable: 1 })] },
    happens: stopsAtBudget,
    mended: { objects: foreign },
  },
  {
    check: 'budget-misconfigured',
    severity: 'warning',
    object: /^default\/half$/,
    scene: { objects: halfWell(neverReady.annotations) },
    happens: stopsAtBudget,
    mended: { objects: halfWell({}) },
  },
  {
    check: 'several-budgets',
    severity: 'blocker',
    object: /^default\/odd-/,
    scene: {
      objects: [
        odd({}),
        budget('one', 'odd', { maxUnavailable: 1 }),
        budget('two', 'odd', { maxUnavailable: 1 }),
      ],
    },
    happens: stopsAtPod,
    mended: { objects: [odd({}), budget('one', 'odd', { maxUnavailable: 1 })] },
  },
  {
    check: 'budget-never-allows',
    severity: 'blocker',
    object: /^default\/never$/,
    scene: { objects: [budget('never', 'web', { maxUnavailable: 0 })] },
    happens: stopsAtBudget,
    mended: { objects: [budget('never', 'web', { maxUnavailable: 1 })] },
  },
  {
    check: 'single-replica-budget',
    severity: 'blocker',
    object: /^default\/one$/,
    scene: { objects: [odd({}), budget('one', 'odd', { minAvailable: 1 })] },
    happens: stopsAtBudget,
    mended: { objects: [odd({}, { replicas: 2 }), budget('one', 'odd', { minAvailable: 1 })] },
  },
  {
    check: 'unready-pods-held',
    severity: 'warning',
    object: /^default\/unready$/,
    scene: { objects: healing({}) },
    happens: stopsAtBudget,
    mended: { objects: healing({ unhealthyPodEvictionPolicy: 'AlwaysAllow' }) },
  },
  {
    check: 'drain-too-slow',
    severity: 'blocker',
    object: /^default\/db$/,
    scene: { apps: [database(1)] },
    happens: stopsAtBudget,
    mended: { apps: [database(3)] },
  },
  {
    check: 'grace-too-long',
    severity: 'blocker',
    object: /^default\/odd$/,
    scene: { objects: [long(1800)] },
    happens: stopsAtPod,
    mended: { objects: [long(600)] },
  },
  {
    check: 'new-node-capacity',
    severity: 'blocker',
    object: /^ng$/,
    scene: { apps: [app({ replicas: 9, maxUnavailable: 1 })], strategy: 'MINIMAL' },
    happens: stops,
    mended: { apps: [app({ replicas: 9, maxUnavailable: 1 })], strategy: 'SURGE' },
  },
];

describe('what a plan predicts of budgets and drains', () => {
  it.each(rows)('$check, a $severity, happens as it was told', playRow);

  it.each(rows)('$check: fixed, a $severity is not told and does not happen', playMended);
});
