// An update whose new nodes do not become Ready is rolled back automatically if its group requests
// that, in virtual time. It is reported as a rollback with its cause, and happens once.
import { describe, expect, it } from 'vitest';
import type { NodeGroupUpdate } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  imageOf,
  makeGroup,
  namesOf,
  newest,
  older,
  untilAtRest,
  untilOver,
  updatesOf,
} from '../support/update-world.ts';

const begin = async (zones: number, failedNewNodes = 1): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 3, maxSize: 9, zones });
  const rollback = { auto: true, failedNewNodes };
  const updateConfig = { updateStrategy: 'SURGE', maxUnavailable: 1, rollback };
  expect(life.patch({ spec: { updateConfig } }).kind).not.toBe('error');
  return life;
};

const zonesOf = (life: GroupLife): readonly string[] =>
  Object.keys(life.group()?.status?.perZone ?? {});
const wayBack = (life: GroupLife): NodeGroupUpdate | undefined =>
  life.updates().find(({ spec }) => spec.action === 'Rollback');

const expectBack = async (life: GroupLife): Promise<void> => {
  await untilAtRest(life, 3);
  const [first, back, ...more] = updatesOf(life);
  expect(more).toEqual([]);
  expect(first?.status).toMatchObject({
    status: 'Failed',
    errors: [{ code: 'NodeCreationFailure' }],
    goesBack: '1 new node did not become Ready',
  });
  expect(first?.status?.message).toMatch(/the group rolls back/);
  expect(back?.metadata.name).toBe(`${first?.metadata.name}-rollback`);
  expect(back?.spec).toMatchObject({
    action: 'Rollback',
    reason: `update ${first?.metadata.name}: 1 new node did not become Ready`,
    change: { releaseVersion: older },
  });
  expect(back?.status).toMatchObject({ status: 'Successful' });
  expect(life.group()?.spec.releaseVersion).toBe(older);
  expect(life.group()?.status?.releaseVersion).toBe(older);
  expect(new Set(life.nodes().map(imageOf)).size).toBe(1);
  expect(life.group()?.status?.surge).toBeUndefined();
  expect(life.check().violations).toEqual([]);
  await life.end();
};

describe('an update that may go back by itself', () => {
  it('moves no pod when one of its first new nodes does not join', async () => {
    const life = await begin(3);
    const before = namesOf(life);
    const [zone = ''] = zonesOf(life);
    life.world.faults.inject('never-join', { zone });
    askFor(life, newest);
    await life.until('it goes back', () => wayBack(life) !== undefined, 7200);
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(namesOf(life).toSorted()).toEqual(before.toSorted());
    await expectBack(life);
  });

  it('continues where fewer fail than it names', async () => {
    const life = await begin(3, 2);
    const [zone = ''] = zonesOf(life);
    life.world.faults.inject('never-join', { zone });
    askFor(life, newest);
    const isBegun = () => (updatesOf(life)[0]?.status?.progress?.done ?? 0) > 0;
    await life.until('a node is done', isBegun, 7200);
    expect(wayBack(life)).toBeUndefined();
    await life.end();
  });

  it('replaces again what it has replaced when a later one does not join', async () => {
    const life = await begin(1);
    askFor(life, newest);
    const isBegun = () => (updatesOf(life)[0]?.status?.progress?.done ?? 0) > 0;
    await life.until('one is done', isBegun, 3600);
    life.world.faults.inject('never-join', {
      group: String(life.group()?.status?.autoScalingGroupName),
    });
    const goesBack = () => updatesOf(life)[0]?.status?.goesBack !== undefined;
    await life.until('it goes back', goesBack, 7200);
    life.world.faults.clear();
    await untilOver(life);
    await expectBack(life);
  });

  it('goes back once: what fails on the way back is left to people', async () => {
    const life = await begin(1);
    askFor(life, newest);
    const isBegun = () => (updatesOf(life)[0]?.status?.progress?.done ?? 0) > 0;
    await life.until('one is done', isBegun, 3600);
    life.world.faults.inject('never-join', {
      group: String(life.group()?.status?.autoScalingGroupName),
    });
    await life.until('it goes back', () => wayBack(life) !== undefined, 7200);
    await untilOver(life);
    await life.driver.advance(3600);
    expect(life.updates()).toHaveLength(2);
    expect(wayBack(life)?.status).toMatchObject({
      status: 'Failed',
      errors: [{ code: 'NodeCreationFailure' }],
    });
    expect(wayBack(life)?.status?.goesBack).toBeUndefined();
    await life.end();
  });

  it('and goes nowhere where nothing is said of it', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 2, maxSize: 9 });
    life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE' } } });
    life.world.faults.inject('never-join', {
      group: String(life.group()?.status?.autoScalingGroupName),
    });
    askFor(life, newest);
    await untilOver(life);
    await untilAtRest(life, 2);
    await life.driver.advance(1800);
    expect(life.updates()).toHaveLength(1);
    await life.end();
  });
});
