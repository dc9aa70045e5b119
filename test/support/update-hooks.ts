// Updates with hooks in virtual time: CronJobs whose Jobs have a given duration and outcome, the
// group that runs them, and the created Jobs.
import { expect } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { type KubeObject, resourceTypes } from '../../src/api/kube.ts';
import { GroupLife, type GroupLifeOptions } from './nodegroup-world.ts';
import { makeGroup, runApp } from './update-world.ts';

const namespace = 'default';

export interface Work {
  readonly seconds?: number;
  readonly exit?: number;
}

/** A suspended CronJob whose Jobs have this duration and outcome. */
export const prepare = (
  life: GroupLife,
  name: string,
  { seconds = 30, exit = 0 }: Work = {},
): void => {
  const annotations = {
    'world.drover.dev/run-seconds': String(seconds),
    'world.drover.dev/exit-code': String(exit),
  };
  const container = { name: 'work', image: 'work:1', env: [{ name: 'DROVER_NODE', value: 'x' }] };
  const template = {
    metadata: { annotations },
    spec: { restartPolicy: 'Never', containers: [container] },
  };
  life.make({ group: 'batch', resource: 'cronjobs' }, namespace, {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace },
    spec: {
      schedule: '0 0 1 1 *',
      suspend: true,
      jobTemplate: { spec: { backoffLimit: 0, ttlSecondsAfterFinished: 5, template } },
    },
  });
};

export const hook = (cronJob: string, more: JsonObject = {}): JsonObject => ({
  job: { namespace, cronJob },
  ...more,
});

export const jobsOf = (life: GroupLife): readonly KubeObject[] => [
  ...(life.world.kube.readAll(resourceTypes.jobs) as unknown as Iterable<KubeObject>),
];
export const isDone = ({ ...job }: KubeObject, type: string): boolean =>
  JSON.stringify(objectOr(job as unknown as JsonObject).status ?? {}).includes(`"type":"${type}"`);
export const labelOf = ({ metadata }: KubeObject, key: string): string | undefined =>
  metadata.labels?.[`drover.dev/${key}`];
export const jobFor = (life: GroupLife, kind: string, instanceId: string): KubeObject | undefined =>
  jobsOf(life).find(
    (job) => labelOf(job, 'hook') === kind && labelOf(job, 'instance') === instanceId,
  );

export const beginWithHooks = async (
  hooks: JsonObject,
  options: GroupLifeOptions = {},
  updateConfig: JsonObject = {},
): Promise<GroupLife> => {
  const life = await GroupLife.begin(options);
  await makeGroup(life, { desired: 2 });
  const patched = life.patch({
    spec: { updateConfig: { updateStrategy: 'SURGE', hooks, ...updateConfig } },
  });
  expect(JSON.stringify(patched)).not.toContain('"kind":"error"');
  await runApp(life, 4, 2);
  return life;
};
