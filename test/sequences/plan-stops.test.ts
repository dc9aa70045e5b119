// How long pods take to stop, in the plan of an update. The plan guesses for owners without
// measurements, and uses measured times once an update has drained their pods.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import type { UpdatePlan } from '../../src/core/update/plan/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { planOfLife } from '../support/plan-of-life.ts';
import {
  askFor,
  latest,
  makeGroup,
  newest,
  older,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const nodes = 4;

interface Slow {
  readonly name: string;
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly replicas: number;
  readonly grace: number;
  readonly stop: number;
}

/** Pods that use their grace period, such as queue workers that finish their current job. */
const slow: readonly Slow[] = [
  { name: 'web', kind: 'Deployment', replicas: 4, grace: 60, stop: 60 },
  { name: 'worker', kind: 'Deployment', replicas: 4, grace: 120, stop: 110 },
  { name: 'db', kind: 'StatefulSet', replicas: 2, grace: 90, stop: 75 },
];

const make = (life: GroupLife, { name, kind, replicas, grace, stop }: Slow): void => {
  const labels = { app: name };
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: labels },
  };
  const template: JsonObject = {
    metadata: { labels, annotations: { 'world.drover.dev/stop-seconds': String(stop) } },
    spec: {
      nodeSelector: { 'eks.amazonaws.com/nodegroup': 'ng' },
      terminationGracePeriodSeconds: grace,
      topologySpreadConstraints: [spread],
      containers: [{ name: 'app', image: 'app:1' }],
    },
  };
  const resource = kind === 'Deployment' ? 'deployments' : 'statefulsets';
  const spec = { replicas, selector: { matchLabels: labels }, template };
  life.make({ group: 'apps', resource }, 'default', {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: 'default' },
    spec: kind === 'StatefulSet' ? { ...spec, serviceName: name } : spec,
  });
};

const embedded = { isEmbedded: true };

/** Plans the update and runs it; returns the plan and the minutes that the update took. */
const update = async (
  life: GroupLife,
  releaseVersion: string,
): Promise<{ readonly plan: UpdatePlan; readonly minutes: number }> => {
  const plan = await planOfLife(life, { releaseVersion }, embedded);
  const before = life.seconds;
  const count = life.updates().length + 1;
  askFor(life, releaseVersion);
  await life.until('it has begun', () => life.updates().length === count);
  await untilOver(life);
  expect(latest(life)?.status?.status).toBe('Successful');
  const minutes = (life.seconds - before) / 60;
  await untilAtRest(life, nodes);
  return { plan, minutes };
};

describe.each(['MINIMAL', 'SURGE', 'DEFAULT'])(
  '%s where pods use their grace',
  (updateStrategy) => {
    it('is planned by what one update has seen of them', async () => {
      const life = await GroupLife.begin();
      await makeGroup(life, { desired: nodes, maxSize: 12 });
      life.patch({ spec: { updateConfig: { updateStrategy } } });
      for (const app of slow) make(life, app);
      const isUp = (): boolean =>
        slow.every(({ name, replicas }) => life.runningPods(name) === replicas);
      await life.until('its pods run', isUp, 300);
      await life.driver.advance(60);

      const first = await update(life, newest);
      const learned = latest(life)?.status?.stopTimes ?? [];
      expect(learned.map(({ owner }) => owner.split('/')[0]).toSorted()).toEqual([
        'ReplicaSet',
        'ReplicaSet',
        'StatefulSet',
      ]);
      const second = await update(life, older);
      const { p50, p90 } = second.plan.minutes;
      // Without measurements, the update took more than twice as long as planned.
      expect(first.minutes).toBeGreaterThan(2 * first.plan.minutes.p90);
      const said = second.plan.assumptions.filter(({ what }) => what.startsWith('stop of a pod'));
      expect(said.map(({ p50Seconds, source }) => [p50Seconds, source])).toEqual([
        [110, 'measured on 4 stops'],
        [75, 'measured on 2 stops'],
        [60, 'measured on 4 stops'],
      ]);
      expect(second.minutes).toBeGreaterThan(0.9 * p50);
      expect(second.minutes).toBeLessThan(1.1 * p90);
      await life.end();
    }, 120_000);
  },
);
