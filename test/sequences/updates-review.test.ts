// Unset sizes, permanent refusals by AWS, users' own templates: each update still ends, with the
// users' size, and reports what prevented it.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { updateStatusOf } from '../../src/api/nodegroup-update.ts';
import type { Write } from '../../src/sim/ports/network.ts';
import { type Kills, killedInTurn, noKills } from '../support/kills.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  areOver,
  askFor,
  imageOf,
  isCordoned,
  latest,
  makeGroup,
  newest,
  phasesOf,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

type Strategy = 'DEFAULT' | 'MINIMAL' | 'SURGE';

/** A group whose spec sets no desired size, which is left to an autoscaler. */
const unstated = async (
  life: GroupLife,
  updateStrategy: Strategy,
  desired: number,
  maxUnavailable = 1,
): Promise<void> => {
  await makeGroup(life, { desired, maxSize: 12 });
  const updateConfig = { updateStrategy, maxUnavailable };
  life.patch({ spec: { updateConfig, scaling: { desired: null } } });
  await life.driver.advance(60);
  expect(life.group()?.spec.scaling.desired).toBeUndefined();
};

const sizeOf = (life: GroupLife): unknown => life.autoScalingGroups()[0]?.DesiredCapacity;

/** Writes that affect sizes; updates-crash.test.ts kills after the other writes. */
const concernsSizes = ({ resource }: Write): boolean =>
  ['autoscaling', 'nodegroups', 'nodegroupupdates'].includes(resource);

const stories: readonly (readonly [Strategy, number, number])[] = [
  ['DEFAULT', 2, 1],
  ['SURGE', 3, 1],
  ['SURGE', 5, 2],
];

const updateOf = async (
  [strategy, desired, most]: (typeof stories)[number],
  after: (life: GroupLife, write: Write) => void,
): Promise<readonly Write[]> => {
  const writes: Write[] = [];
  let isBegun = false;
  const life: GroupLife = await GroupLife.begin({
    afterWrite: (write) => {
      if (!isBegun || !concernsSizes(write)) return;
      writes.push(write);
      after(life, write);
    },
  });
  await unstated(life, strategy, desired, most);
  await runApp(life, desired * 2, 2);
  isBegun = true;
  askFor(life, newest);
  await untilOver(life);
  await untilAtRest(life, desired);
  expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
  expect(phasesOf(latest(life))).toContain('Rolling');
  expect(sizeOf(life)).toBe(desired);
  expect(life.group()?.spec.scaling.desired).toBeUndefined();
  expect(life.group()?.status?.surge).toBeUndefined();
  expect(new Set(life.nodes().map(imageOf)).size).toBe(1);
  expect(life.check().violations).toEqual([]);
  await life.end();
  return writes;
};

describe('a group whose spec states no size', () => {
  it.each(stories.slice(0, 2))(
    'has after an update %s of %d nodes as many, with kills after each kind of write',
    async (...story) => {
      const told = ({ killsAfter }: Kills) =>
        updateOf(story, (life, write) => {
          if (killsAfter(write)) life.killFor(3);
        });
      const writes = await told(noKills);
      expect(writes.length).toBeGreaterThan(10);
      await killedInTurn(writes, async (kills) => void (await told(kills)));
    },
    600_000,
  );

  it.each(stories)('has them after %s of %d nodes, whatever AWS throttles', async (...story) => {
    let calls = 0;
    await updateOf(story, (life) => {
      life.faults.cloudCall ??= (operation) =>
        operation === 'UpdateAutoScalingGroup' && ++calls % 2 === 1
          ? { kind: 'refused', code: 'Throttling' }
          : { kind: 'ok' };
    });
    expect(calls).toBeGreaterThan(1);
  });

  it('that an autoscaler raises in the second in which the surge is made has both', async () => {
    let isBegun = false;
    let isRaised = false;
    const life: GroupLife = await GroupLife.begin({
      afterWrite: ({ verb }) => {
        if (!isBegun || isRaised || verb !== 'UpdateAutoScalingGroup') return;
        isRaised = true;
        const { AutoScalingGroupName } = objectOr(life.autoScalingGroups()[0]);
        life.fromOutside('SetDesiredCapacity', {
          AutoScalingGroupName: String(AutoScalingGroupName),
          DesiredCapacity: 4,
        });
      },
    });
    await makeGroup(life, { desired: 3, maxSize: 9 });
    isBegun = true;
    askFor(life, newest);
    await untilOver(life);
    expect(isRaised).toBe(true);
    await untilAtRest(life, 4);
    expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 9, desired: 4 });
    await life.end();
  });

  it('dips its toe first', async () => {
    const life = await GroupLife.begin();
    await unstated(life, 'SURGE', 3);
    askFor(life, newest);
    await life.until('it rolls', () => phasesOf(latest(life)).includes('Rolling'), 1200);
    expect(new Set(life.nodes().map(imageOf)).size).toBe(2);
    await life.end();
  });
});

describe('what AWS refuses for good', () => {
  it.each(['UpdateAutoScalingGroup', 'SuspendProcesses'])(
    'at %s ends the update with the words of the refusal, and the group continues',
    async (refused) => {
      const life = await GroupLife.begin();
      await makeGroup(life, { updateConfig: { updateStrategy: 'DEFAULT' } });
      life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE' } } });
      life.faults.cloudCall = (operation) =>
        operation === refused ? { kind: 'refused', code: 'AccessDenied' } : { kind: 'ok' };
      askFor(life, newest);
      await untilOver(life);
      expect(latest(life)?.status).toMatchObject({
        status: 'Failed',
        errors: [{ code: 'AccessDenied' }],
      });
      life.faults = {};
      await untilAtRest(life, 2);
      expect(life.updates()).toHaveLength(1);
      await life.end();
    },
  );

  it('before anything was done is not asked for again with the next change of a size', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    askFor(life, '1.32.9-19990101');
    await untilOver(life);
    const message = expect.stringMatching(
      /^Requested release version 1\.32\.9-19990101 is not valid for kubernetes version 1\.32\. The newest of \S+ is 1\.32\./,
    );
    expect(latest(life)?.status).toMatchObject({ errors: [{ code: 'AmiIdNotFound', message }] });
    life.patch({ spec: { scaling: { desired: 3 } } });
    await untilAtRest(life, 3);
    expect(life.updates()).toHaveLength(1);
    await life.end();
  });
});

/** Another version of the user's own template. */
const addVersion = (life: GroupLife, LaunchTemplateId: string, data: JsonObject): void => {
  life.world.aws.call('ec2', 'CreateLaunchTemplateVersion', {
    LaunchTemplateId,
    SourceVersion: '1',
    LaunchTemplateData: data,
  });
};

describe('launch templates', () => {
  it('with an image and no labels of EKS make whole nodes, too', async () => {
    const life = await GroupLife.begin();
    const images = objectOr(
      life.world.aws.call('ec2', 'DescribeImages', {
        Filters: [{ Name: 'name', Values: ['amazon-eks-node-1.32-v*'] }],
      }),
    ).Images as readonly JsonObject[];
    const [first, second] = images.map(({ ImageId }) => String(ImageId));
    const made = life.world.aws.call('ec2', 'CreateLaunchTemplate', {
      LaunchTemplateName: 'own',
      LaunchTemplateData: {
        ImageId: first ?? '',
        InstanceType: 'm5.large',
        UserData: btoa('#!/bin/bash\n/etc/eks/bootstrap.sh c'),
      },
    });
    const id = String(objectOr(objectOr(made).LaunchTemplate).LaunchTemplateId);
    await life.create({ launchTemplate: { id }, instanceTypes: [], labels: { team: 'a' } });
    await life.until('the group is ACTIVE', () => life.isActive(2), 1800);
    // EKS sets its own labels, whatever the user data says.
    const labelsOf = ({ metadata }: JsonObject) => objectOr(objectOr(metadata).labels);
    expect(life.nodes().map(labelsOf)).toEqual(
      [1, 2].map(() =>
        expect.objectContaining({
          team: 'a',
          'eks.amazonaws.com/capacityType': 'ON_DEMAND',
          'eks.amazonaws.com/nodegroup-image': first,
          'eks.amazonaws.com/sourceLaunchTemplateId': id,
        }),
      ),
    );
    addVersion(life, id, { ImageId: second ?? '' });
    life.patch({ spec: { launchTemplate: { id, version: '2' } } });
    await life.until('it is asked for', () => life.updates().length > 0, 120);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
    // The Node of the last terminated instance is deleted a moment later.
    await life.until('its nodes are as many as wanted', () => life.nodes().length === 2, 60);
    const imagesNow = life
      .nodes()
      .map((node) => labelsOf(node)['eks.amazonaws.com/nodegroup-image']);
    expect(imagesNow).toEqual([second, second]);
    await life.end();
  });

  it.each(['$Default', '$Latest'])('that a group uses as %s become a number', async (Version) => {
    const life = await GroupLife.begin();
    await makeGroup(life, { updateConfig: { updateStrategy: 'MINIMAL' } });
    const { AutoScalingGroupName, LaunchTemplate } = objectOr(life.autoScalingGroups()[0]);
    const { LaunchTemplateId } = objectOr(LaunchTemplate);
    life.fromOutside('UpdateAutoScalingGroup', {
      AutoScalingGroupName: String(AutoScalingGroupName),
      LaunchTemplate: { LaunchTemplateId: String(LaunchTemplateId), Version },
    });
    // The request comes through EKS' API and changes nothing in the spec, which would trigger a
    // check of the template.
    await life.eks('UpdateNodegroupVersion', { clusterName: 'c', nodegroupName: 'ng' });
    await life.until('it is over', () => areOver(life), 3 * 3600);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
    await untilAtRest(life, 2);
    await life.end();
  });
});

describe('a node that cannot be written', () => {
  it('ends the update when its marks are refused for long', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { updateConfig: { updateStrategy: 'MINIMAL' } });
    life.faults.kubeCall = ({ verb, resource }) =>
      verb === 'patch' && resource === 'nodes'
        ? { kind: 'refused', code: 'Forbidden' }
        : { kind: 'ok' };
    askFor(life, newest);
    await life.until('it has failed', () => areOver(life), 2 * 3600);
    expect(latest(life)?.status).toMatchObject({ status: 'Failed' });
    life.faults = {};
    await untilAtRest(life, 2);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    await life.end();
  });
});

describe('an update that finds nothing to do', () => {
  it('starts no instance', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { updateConfig: { updateStrategy: 'DEFAULT' } });
    askFor(life, newest);
    await untilOver(life);
    await untilAtRest(life, 2);
    const names = life.nodes().map(({ metadata }) => objectOr(metadata).name);
    const calls = life.called('UpdateAutoScalingGroup');
    await life.eks('UpdateNodegroupVersion', { clusterName: 'c', nodegroupName: 'ng' });
    await life.until('there are two', () => life.updates().length === 2, 60);
    await untilOver(life);
    expect(life.updates().map(updateStatusOf)).toEqual(['Successful', 'Successful']);
    expect(life.called('UpdateAutoScalingGroup')).toBe(calls);
    expect(life.nodes().map(({ metadata }) => objectOr(metadata).name)).toEqual(names);
    await life.end();
  });
});

describe('a node whose marks a user’s admission refuses', () => {
  it('is told of and holds up no one else', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 3 });
    life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE' } } });
    let isOurs = false;
    // Refuses the update's own taints and annotations; the drain's marks are accepted.
    life.faults.kubeCall = ({ verb, resource }) => {
      const isRefused = isOurs && verb === 'patch' && resource === 'nodes';
      return isRefused ? { kind: 'refused', code: 'Forbidden' } : { kind: 'ok' };
    };
    askFor(life, newest);
    await life.until('it rolls', () => phasesOf(latest(life)).includes('ScalingUp'), 1200);
    isOurs = true;
    const isTold = (): boolean => /cannot be marked/.test(latest(life)?.status?.message ?? '');
    await life.until('it is told', isTold, 600);
    const health = life.group()?.status?.health?.map(({ code }) => code);
    expect(health).toContain('AdmissionRequestDenied');
    // A drain starts nevertheless.
    await life.until('a drain', () => (latest(life)?.status?.progress?.draining ?? 0) > 0, 60);
    isOurs = false;
    await life.until('it is told no more', () => !isTold(), 120);
    expect(latest(life)?.status?.status).toBe('InProgress');
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Successful');
    await untilAtRest(life, 3);
    expect(life.group()?.status?.health ?? []).toEqual([]);
    await life.end();
  });
});
