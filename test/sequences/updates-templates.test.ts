// The content of the derived launch template from which new nodes start. It is never a mixture of
// two revisions, and has the current labels even after a rollback. A rollback leads to the version
// from which all nodes last started.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { Write } from '../../src/sim/ports/network.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  latest,
  makeGroup,
  newest,
  older,
  runApp,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

interface DerivedVersion {
  readonly version: string;
  readonly image: unknown;
  readonly userData: string;
}

const versionOf = (one: JsonObject): DerivedVersion => {
  const data = objectOr(one.LaunchTemplateData);
  return {
    version: String(one.VersionNumber),
    image: data.ImageId,
    userData: atob(String(data.UserData)),
  };
};

/** Every version of the template from which the group's nodes start, oldest first. */
const versionsOf = (life: GroupLife): readonly DerivedVersion[] => {
  const { LaunchTemplateId } = objectOr(life.autoScalingGroups()[0]?.LaunchTemplate);
  const input = { LaunchTemplateId: String(LaunchTemplateId) };
  const answer = objectOr(life.world.aws.call('ec2', 'DescribeLaunchTemplateVersions', input));
  return (answer.LaunchTemplateVersions as readonly JsonObject[])
    .map(versionOf)
    .toSorted((a, b) => Number(a.version) - Number(b.version));
};

const inUse = (life: GroupLife): DerivedVersion | undefined => {
  const { Version } = objectOr(life.autoScalingGroups()[0]?.LaunchTemplate);
  return versionsOf(life).find(({ version }) => version === String(Version));
};

const part = (text: string): string =>
  btoa(
    `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/x-shellscript\n\n#!/bin/bash\necho ${text}\n--B--\n`,
  );

/** Creates a user's template in three versions, each with its own script; returns its ID. */
const makeTemplate = (life: GroupLife): string => {
  const made = life.world.aws.call('ec2', 'CreateLaunchTemplate', {
    LaunchTemplateName: 'own',
    LaunchTemplateData: { UserData: part('one') },
  });
  const id = String(objectOr(objectOr(made).LaunchTemplate).LaunchTemplateId);
  for (const text of ['two', 'three']) {
    life.world.aws.call('ec2', 'CreateLaunchTemplateVersion', {
      LaunchTemplateId: id,
      LaunchTemplateData: { UserData: part(text) },
    });
  }
  return id;
};

const beginWithTemplate = async (desired: number, afterWrite?: (call: Write) => void) => {
  const life = await GroupLife.begin(afterWrite === undefined ? {} : { afterWrite });
  const id = makeTemplate(life);
  await life.create({
    launchTemplate: { id, version: '1' },
    releaseVersion: older,
    scalingConfig: { minSize: 0, maxSize: desired + 2, desiredSize: desired },
    updateConfig: { maxUnavailable: 1, updateStrategy: 'DEFAULT' },
  });
  await life.until('the group is ACTIVE', () => life.isActive(desired), 1800);
  return { life, id };
};

const askForTemplate = (
  life: GroupLife,
  id: string,
  version: string,
  releaseVersion = older,
): void => {
  const launchTemplate = { id, version };
  const answer = life.patch({ spec: { launchTemplate, releaseVersion } });
  if (answer.kind === 'error') throw new Error(JSON.stringify(answer));
};

const isRolling = (life: GroupLife): boolean => latest(life)?.status?.phase === 'Rolling';
const hasDone = (life: GroupLife): boolean => (latest(life)?.status?.progress?.done ?? 0) > 0;

describe('what new nodes are made of', () => {
  it('is made once for an update and used once that is noted, wherever it is killed', async () => {
    let isBegun = false;
    let kills = 0;
    let early = 0;
    const { life, id } = await beginWithTemplate(2, ({ verb, resource }) => {
      if (!isBegun) return;
      const isNoted = latest(life)?.status?.target !== undefined;
      if (verb === 'UpdateAutoScalingGroup' && !isNoted) early += 1;
      const isOfUpdate = resource === 'nodegroupupdates' || verb.includes('LaunchTemplate');
      if (!isOfUpdate || kills >= 4) return;
      kills += 1;
      life.killFor(3);
    });
    isBegun = true;
    askForTemplate(life, id, '2', newest);
    await life.until('it is asked for', () => life.updates().length > 0, 120);
    await untilOver(life);
    expect(kills).toBe(4);
    expect(early).toBe(0);
    expect(latest(life)?.status?.status).toBe('Successful');
    expect(versionsOf(life).map(({ userData }) => /echo (\w+)/.exec(userData)?.[1])).toEqual([
      'one',
      'two',
    ]);
    await life.end();
  });

  it('is never half of one revision and half of another, labels asked for besides or not', async () => {
    const { life, id } = await beginWithTemplate(2);
    const [before] = versionsOf(life);
    life.patch({ spec: { labels: { team: 'a' } } });
    askForTemplate(life, id, '2', newest);
    await life.until('it is asked for', () => life.updates().length > 0, 120);
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Successful');
    for (const { userData, image } of versionsOf(life)) {
      const revision = image === before?.image ? 'one' : 'two';
      expect(userData).toContain(`echo ${revision}`);
    }
    expect(inUse(life)?.userData).toContain('echo two');
    expect(inUse(life)?.userData).toContain('team=a');
    await life.end();
  });

  it.each(['DEFAULT', 'SURGE'])(
    'is with %s again what it was, with the labels of now, when nothing was replaced',
    async (updateStrategy) => {
      const life = await GroupLife.begin();
      await makeGroup(life, { desired: 3 });
      life.patch({ spec: { updateConfig: { updateStrategy, maxUnavailable: 1 } } });
      await runApp(life, 6, 0);
      const before = inUse(life);
      askFor(life, newest);
      await life.until('it rolls', () => isRolling(life), 3600);
      expect(inUse(life)?.image).not.toBe(before?.image);
      life.patch({ spec: { labels: { team: 'b' } } });
      await life.driver.advance(60);
      expect(inUse(life)?.userData).toContain('team=b');
      await untilOver(life);
      expect(latest(life)?.status?.errors?.[0]?.code).toBe('PodEvictionFailure');
      expect(inUse(life)?.image).toBe(before?.image);
      expect(inUse(life)?.userData).toContain('team=b');
      const versions = versionsOf(life).length;
      await life.driver.advance(600);
      expect(versionsOf(life)).toHaveLength(versions);
      await life.end();
    },
  );

  it('is what restores at once, where labels are changed as an update is stopped', async () => {
    const used: unknown[] = [];
    let isStopped = false;
    const life: GroupLife = await GroupLife.begin({
      afterWrite: ({ verb }) => {
        const isEnding = latest(life)?.status?.ending !== undefined;
        if (isEnding && !isStopped) life.patch({ spec: { labels: { team: 'c' } } });
        isStopped ||= isEnding;
        if (verb === 'UpdateAutoScalingGroup' && isEnding) used.push(inUse(life)?.version);
      },
    });
    await makeGroup(life, { desired: 2 });
    const before = inUse(life);
    askFor(life, newest);
    await life.until('it makes more', () => latest(life)?.status?.phase === 'ScalingUp', 3600);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await untilOver(life);
    const { restored } = latest(life)?.status ?? {};
    expect(used[0]).toBe(restored);
    expect(inUse(life)).toMatchObject({ version: restored, image: before?.image });
    expect(inUse(life)?.userData).toContain('team=c');
    await life.end();
  });

  it('leads back to what all nodes were last made from, not to what was half done', async () => {
    const { life, id } = await beginWithTemplate(3);
    askForTemplate(life, id, '2');
    await life.until('one is done', () => hasDone(life), 3600);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(life.group()?.status?.launchTemplate?.version).toBe('1');
    askForTemplate(life, id, '3');
    await life.until('another', () => life.updates().length === 2, 120);
    await life.until('one is done', () => hasDone(life), 3600);
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'RollBack' } });
    await life.until('the way back', () => life.updates().length === 3, 3600);
    await untilOver(life);
    expect(latest(life)?.spec).toMatchObject({ action: 'Rollback' });
    expect(latest(life)?.status?.status).toBe('Successful');
    expect(life.group()?.spec.launchTemplate).toMatchObject({ id, version: '1' });
    expect(life.group()?.status?.launchTemplate?.version).toBe('1');
    expect(inUse(life)?.userData).toContain('echo one');
    await life.end();
  });
});

describe('a version of the template that no group can be made from', () => {
  it.each([
    [
      'an instance profile',
      { IamInstanceProfile: { Name: 'x' } },
      /should not specify an instance/,
    ],
    ['an image', { ImageId: 'ami-0123456789abcdef0' }, /cannot specify an image id/],
    ['a type beside the group’s', { InstanceType: 'm5.xlarge' }, /^Instance types must be/],
  ])(
    'with %s ends what the spec asks for at once, with nothing touched',
    async (_, data, words) => {
      const { life, id } = await beginWithTemplate(2);
      const before = inUse(life);
      const input = { LaunchTemplateId: id, LaunchTemplateData: data };
      life.world.aws.call('ec2', 'CreateLaunchTemplateVersion', input);
      askForTemplate(life, id, '4');
      await life.until('it is asked for', () => life.updates().length > 0, 120);
      await untilOver(life);
      expect(latest(life)?.status?.status).toBe('Failed');
      const [error] = latest(life)?.status?.errors ?? [];
      expect(error?.code).toBe('Ec2LaunchTemplateInvalidConfiguration');
      expect(error?.message).toMatch(words);
      expect(inUse(life)).toEqual(before);
      expect(versionsOf(life)).toHaveLength(1);
      // A valid version is accepted afterwards.
      askForTemplate(life, id, '2');
      await life.until('another', () => life.updates().length === 2, 120);
      await untilOver(life);
      expect(latest(life)?.status?.status).toBe('Successful');
      await life.end();
    },
  );
});

describe('an update that is aborted before it begins', () => {
  it.each(['Stop', 'RollBack'])('by %s leaves the spec as it is', async (abort) => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    life.make({ group: 'drover.dev', resource: 'nodegroupupdates' }, undefined, {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroupUpdate',
      metadata: { name: 'never' },
      spec: {
        nodeGroup: 'ng',
        type: 'VersionUpdate',
        params: [],
        change: { releaseVersion: newest },
        abort,
      },
    });
    const before = life.group()?.metadata.generation;
    await life.until('it is over', () => latest(life)?.status?.status === 'Cancelled', 60);
    await life.driver.advance(120);
    expect(life.group()?.metadata.generation).toBe(before);
    expect(life.group()?.spec.releaseVersion).toBe(older);
    expect(life.updates()).toHaveLength(1);
    await life.end();
  });
});
