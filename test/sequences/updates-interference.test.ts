// Actions of users and other programs on a group during its update. Each time the update ends in a
// defined state, and the oracles report nothing.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { updateStatusOf } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  areOver,
  askFor,
  type GroupWish,
  imageOf,
  instanceOf,
  isCordoned,
  latest,
  makeGroup,
  namesOf,
  newest,
  older,
  phasesOf,
  runApp,
  untilAtRest,
  untilOver,
  updatesOf,
} from '../support/update-world.ts';

/** Three nodes, one release behind, with an application on them. */
const begin = async (wish: GroupWish = {}, allowed = 1): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 3, ...wish });
  await runApp(life, 6, allowed);
  return life;
};

const untilPhase = (life: GroupLife, phase: string): Promise<void> =>
  life.until(phase, () => latest(life)?.status?.phase === phase, 3600);

const progress = (life: GroupLife) => latest(life)?.status?.progress;

const held = (life: GroupLife, before: readonly string[]): readonly JsonObject[] =>
  life.nodes().filter((node) => isCordoned(node) && before.includes(nameOf(node)));

const nameOf = ({ metadata }: JsonObject): string => String(objectOr(metadata).name);

/** All nodes are new and of one revision, and the sizes are the users' own. */
const expectUpdated = async (life: GroupLife, before: readonly string[], size: number) => {
  await untilOver(life);
  await untilAtRest(life, size);
  expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
  expect(namesOf(life).filter((name) => before.includes(name))).toEqual([]);
  expect(new Set(life.nodes().map(imageOf)).size).toBe(Math.min(1, size));
  expect(life.nodes().filter(isCordoned)).toEqual([]);
  expect(life.group()?.status?.releaseVersion).toBe(newest);
  await expectClean(life);
};

const expectClean = async (life: GroupLife): Promise<void> => {
  expect(life.check().violations).toEqual([]);
  await life.end();
};

describe('people who put their hands on nodes of an update', () => {
  it('uncordon a held node: it is marked again and updated like the others', async () => {
    const life = await begin();
    const before = namesOf(life);
    askFor(life, newest);
    await untilPhase(life, 'Rolling');
    const [node] = held(life, before);
    const body = { spec: { unschedulable: null } };
    life.user.patch(resourceTypes.nodes, { name: nameOf(node ?? {}) }, { type: 'merge', body });
    await life.until('it is cordoned again', () => held(life, before).length === 3, 120);
    await expectUpdated(life, before, 3);
  });

  it('delete an old node object: its instance is no less an old one, and goes', async () => {
    const life = await begin();
    const before = namesOf(life);
    askFor(life, newest);
    await untilPhase(life, 'Rolling');
    const node = held(life, before).at(-1) ?? {};
    life.user.delete(resourceTypes.nodes, { name: nameOf(node) });
    await untilOver(life);
    await untilAtRest(life, 3);
    const { Instances } = objectOr(life.autoScalingGroups()[0]);
    expect(JSON.stringify(Instances)).not.toContain(instanceOf(node));
    await expectUpdated(life, before, 3);
  });

  it('terminate an old instance by hand: one less to do', async () => {
    const life = await begin();
    const before = namesOf(life);
    askFor(life, newest);
    await untilPhase(life, 'Rolling');
    const node = held(life, before).at(-1) ?? {};
    life.fromOutside('TerminateInstanceInAutoScalingGroup', {
      InstanceId: instanceOf(node),
      ShouldDecrementDesiredCapacity: false,
    });
    await expectUpdated(life, before, 3);
    expect(progress(life)).toEqual({ total: 3, done: 3, draining: 0, failed: 0 });
  });
});

describe('sizes that change while an update runs', () => {
  it('are followed upwards', async () => {
    const life = await begin({ maxSize: 5 });
    const before = namesOf(life);
    askFor(life, newest);
    await untilPhase(life, 'Rolling');
    life.patch({ spec: { scaling: { desired: 5 } } });
    await expectUpdated(life, before, 5);
    expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 5, desired: 5 });
  });

  it('are followed downwards, one node after the other', async () => {
    const life = await begin();
    const before = namesOf(life);
    askFor(life, newest);
    await untilPhase(life, 'Rolling');
    life.patch({ spec: { scaling: { desired: 1 } } });
    await expectUpdated(life, before, 1);
    expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 5, desired: 1 });
  });

  it('by an autoscaler are written back without the surplus', async () => {
    const life = await begin({ maxSize: 9 });
    const before = namesOf(life);
    askFor(life, newest);
    await untilPhase(life, 'Rolling');
    const { AutoScalingGroupName, DesiredCapacity } = objectOr(life.autoScalingGroups()[0]);
    life.fromOutside('SetDesiredCapacity', {
      AutoScalingGroupName: String(AutoScalingGroupName),
      DesiredCapacity: Number(DesiredCapacity) + 1,
    });
    await life.until('the spec says so', () => life.group()?.spec.scaling.desired === 4, 120);
    await expectUpdated(life, before, 4);
    expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 9, desired: 4 });
  });
});

describe('a user who wants something else', () => {
  it('deletes the node group: the update has failed, and nothing is left', async () => {
    const life = await begin({}, 6);
    const uid = life.group()?.metadata.uid ?? '';
    askFor(life, newest);
    await untilPhase(life, 'Rolling');
    await life.delete();
    await life.until('the update is over', () => areOver(life), 300);
    expect(latest(life)?.status).toMatchObject({
      status: 'Failed',
      phase: 'Ended',
      errors: [{ code: 'OperationNotPermitted' }],
    });
    expect(latest(life)?.status).not.toHaveProperty('hooks');
    const isGone = (): boolean => life.group() === undefined && life.nodes().length === 0;
    await life.until('it is gone', isGone, 3600);
    await life.driver.advance(30);
    life.expectNothingLeft('ng', uid);
    await expectClean(life);
  });

  it('changes the release meanwhile: that waits, and then begins', async () => {
    const life = await begin();
    const before = namesOf(life);
    askFor(life, newest);
    await untilPhase(life, 'Rolling');
    askFor(life, older);
    const first = latest(life)?.metadata.name;
    await life.driver.advance(60);
    expect(latest(life)?.metadata.name).toBe(first);
    expect(latest(life)?.status?.target?.releaseVersion).toBe(newest);
    await life.until('there are two', () => life.updates().length === 2, 3600);
    await untilOver(life);
    await untilAtRest(life, 3);
    const ended = updatesOf(life).map(({ status }) => [
      status?.status,
      status?.target?.releaseVersion,
    ]);
    expect(ended).toEqual([
      ['Successful', newest],
      ['Successful', older],
    ]);
    expect(life.group()?.status?.releaseVersion).toBe(older);
    expect(namesOf(life).filter((name) => before.includes(name))).toEqual([]);
    await life.driver.advance(300);
    expect(updatesOf(life).map(updateStatusOf)).toEqual(['Successful', 'Successful']);
    expect(phasesOf(latest(life)).at(-1)).toBe('Ended');
    await expectClean(life);
  });
});

describe('a surge that the cloud has not carried out yet', () => {
  it('is not taken out of what people have when they make the group smaller meanwhile', async () => {
    const life = await begin({ desired: 3 });
    const before = namesOf(life);
    // The change to the new template succeeds; the larger size is refused.
    let [asked, refuses] = [0, true];
    life.faults.cloudCall = (operation) => {
      if (operation === 'UpdateAutoScalingGroup') asked += 1;
      const isRefused = refuses && operation === 'UpdateAutoScalingGroup' && asked > 1;
      return isRefused ? { kind: 'refused', code: 'ServerError' } : { kind: 'ok' };
    };
    askFor(life, newest);
    await life.until(
      'the surge is noted',
      () => (life.group()?.status?.surge?.desired ?? 0) > 0,
      60,
    );
    const [InstanceId] = life.nodes().map(instanceOf);
    life.fromOutside('TerminateInstanceInAutoScalingGroup', {
      InstanceId: InstanceId ?? '',
      ShouldDecrementDesiredCapacity: true,
    });
    await life.driver.advance(10);
    refuses = false;
    await expectUpdated(life, before, 2);
  });
});
