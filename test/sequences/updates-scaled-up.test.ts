// Users and autoscalers that request more nodes while an update terminates some: the spec and the
// group end with exactly the requested size.
import { describe, expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  latest,
  makeGroup,
  namesOf,
  newest,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

type Strategy = 'SURGE' | 'BLUE_GREEN';

const until = (life: GroupLife, phase: string): Promise<void> =>
  life.until(phase, () => latest(life)?.status?.phase === phase, 7200);

/** Three nodes in three zones, and an update of them that has started. */
const begin = async (updateStrategy: Strategy, maxSize: number): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 3, zones: 3, maxSize });
  const blueGreen = updateStrategy === 'SURGE' ? {} : { blueGreen: { soakSeconds: 120 } };
  life.patch({ spec: { updateConfig: { updateStrategy, maxUnavailable: 1, ...blueGreen } } });
  await runApp(life, 9, 2);
  askFor(life, newest);
  return life;
};

const expectSize = async (life: GroupLife, status: string, desired: number): Promise<void> => {
  await untilOver(life);
  await untilAtRest(life, desired);
  expect(latest(life)?.status?.status).toBe(status);
  expect(life.group()?.spec.scaling.desired).toBe(desired);
  expect(life.group()?.status?.surge).toBeUndefined();
  expect(namesOf(life)).toHaveLength(desired);
  expect(life.check().violations).toEqual([]);
  await life.end();
};

describe('a scale-up while old nodes retire', () => {
  it.each([
    ['SURGE', 'Rolling', 1, 8],
    ['SURGE', 'Rolling', 5, 8],
    ['SURGE', 'Rolling', 60, 8],
    ['SURGE', 'Rolling', 5, 5],
    ['BLUE_GREEN', 'ScalingDown', 5, 8],
    ['BLUE_GREEN', 'ScalingDown', 5, 5],
  ] as const)(
    'stands with %s in %s after %d s, at most %d',
    async (strategy, phase, after, max) => {
      const life = await begin(strategy, max);
      await until(life, phase);
      await life.driver.advance(after);
      life.patch({ spec: { scaling: { desired: 5 } } });
      await expectSize(life, 'Successful', 5);
    },
  );
});

describe('an autoscaler that adds one while blue/green goes back', () => {
  it.each([10, 120])('gets one after %d s, and no surplus with it', async (after) => {
    const life = await begin('BLUE_GREEN', 12);
    await until(life, 'Soaking');
    await life.driver.advance(20);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await until(life, 'Restoring');
    await life.driver.advance(after);
    const [group] = life.autoScalingGroups();
    life.fromOutside('SetDesiredCapacity', {
      AutoScalingGroupName: String(group?.AutoScalingGroupName),
      DesiredCapacity: Number(group?.DesiredCapacity) + 1,
    });
    await expectSize(life, 'Cancelled', 4);
  });
});

it('old nodes that a user asks for before the new template is used have new ones too', async () => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 1, zones: 3, maxSize: 4 });
  const blueGreen = { soakSeconds: 120 };
  const updateConfig = { updateStrategy: 'BLUE_GREEN', maxUnavailable: 1, blueGreen };
  life.patch({ spec: { updateConfig } });
  await runApp(life, 3, 1);
  life.faults = {
    cloudCall: (operation) =>
      operation === 'UpdateAutoScalingGroup'
        ? { kind: 'refused', code: 'Throttled' }
        : { kind: 'ok' },
  };
  askFor(life, newest);
  await until(life, 'ScalingUp');
  const [group] = life.autoScalingGroups();
  life.fromOutside('SetDesiredCapacity', {
    AutoScalingGroupName: String(group?.AutoScalingGroupName),
    DesiredCapacity: 3,
  });
  await life.until('they have been started', () => life.nodes().length === 3);
  life.faults = {};
  await expectSize(life, 'Successful', 3);
});
