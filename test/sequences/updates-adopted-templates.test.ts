// Version updates of adopted groups whose Auto Scaling group uses `$Latest` or `$Default`, has a
// mixed instances policy, or was moved to another template. Further tests kill the process midway.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { updateStatusOf } from '../../src/api/nodegroup-update.ts';
import type { Write } from '../../src/sim/ports/network.ts';
import { GivenGroup } from '../support/given-group.ts';
import { type Kills, killedInTurn, noKills } from '../support/kills.ts';
import type { GroupLifeOptions } from '../support/nodegroup-world.ts';
import { planOfLife } from '../support/plan-of-life.ts';
import { areOver, updatesOf } from '../support/update-world.ts';

const named = (Version: string) => ({ LaunchTemplateName: 'theirs', Version });

const ec2 = ({ life }: GivenGroup, operation: string, input: JsonObject): JsonObject =>
  objectOr(life.world.aws.call('ec2', operation, input));

const versionsOf = (given: GivenGroup, LaunchTemplateName = 'theirs'): readonly JsonObject[] => {
  const answer = ec2(given, 'DescribeLaunchTemplateVersions', { LaunchTemplateName });
  return answer.LaunchTemplateVersions as JsonObject[];
};
const idOf = (given: GivenGroup, name?: string): string =>
  String(versionsOf(given, name)[0]?.LaunchTemplateId);
const dataOf = (given: GivenGroup, version: unknown): JsonObject =>
  objectOr(
    versionsOf(given).find((one) => String(one.VersionNumber) === version)?.LaunchTemplateData,
  );

/** The operator adds a version: a copy of version 1 with other data. */
const addVersion = (given: GivenGroup, data: JsonObject): void => {
  const LaunchTemplateData = data;
  ec2(given, 'CreateLaunchTemplateVersion', {
    LaunchTemplateName: 'theirs',
    SourceVersion: '1',
    LaunchTemplateData,
  });
};

const useOf = (given: GivenGroup): JsonObject => {
  const { LaunchTemplate, MixedInstancesPolicy } = given.autoScalingGroup() ?? {};
  const mixed = objectOr(objectOr(MixedInstancesPolicy).LaunchTemplate);
  return objectOr(LaunchTemplate ?? mixed.LaunchTemplateSpecification);
};

interface Begin {
  readonly group?: JsonObject;
  readonly updateConfig?: JsonObject;
  readonly options?: GroupLifeOptions;
}

const adopted = async ({ group = {}, updateConfig, options }: Begin): Promise<GivenGroup> => {
  const given = await GivenGroup.begin(options, group);
  given.adopt(updateConfig === undefined ? {} : { updateConfig });
  await given.life.until('it is adopted', () => given.life.isActive(2), 60);
  return given;
};

const ask = (given: GivenGroup, version: string): void => {
  given.life.patch({ spec: { launchTemplate: { id: idOf(given), version } } });
};

/** The update's status and error codes, once it has ended and the group is at rest. */
const outcome = async (given: GivenGroup): Promise<readonly unknown[]> => {
  const { life } = given;
  await life.until('the update is over', () => areOver(life), 4 * 3600);
  await life.until('the group rests', () => life.isActive(2), 1800);
  await life.driver.advance(300);
  expect(life.updates()).toHaveLength(1);
  return updatesOf(life).flatMap((one) => [
    updateStatusOf(one),
    ...(one.status?.errors ?? []).map(({ code }) => code),
  ]);
};

const typesOf = (given: GivenGroup): readonly unknown[] =>
  given.instances().map((one) => one.InstanceType);

describe('a group that names its version by a word', () => {
  it.each([
    ['$Latest', '2'],
    ['$Default', '2'],
    ['1', '$Latest'],
  ])('uses the requested version as it is (%s, asked for %s)', async (named0, asked) => {
    const given = await adopted({ group: { LaunchTemplate: named(named0) } });
    const before = given.instanceIds();
    addVersion(given, { InstanceType: 'm5.xlarge' });
    ask(given, asked);
    expect(await outcome(given)).toEqual(['Successful']);
    expect(typesOf(given)).toEqual(['m5.xlarge', 'm5.xlarge']);
    expect(given.instanceIds().filter((one) => before.includes(one))).toEqual([]);
    expect(useOf(given).Version).toBe('2');
    expect(versionsOf(given)).toHaveLength(2);
    await given.life.end();
  });

  it('keeps nodes that Auto Scaling has started from the latest version already', async () => {
    const given = await adopted({ group: { LaunchTemplate: named('$Latest') } });
    addVersion(given, { InstanceType: 'm5.xlarge' });
    const [, second = ''] = given.instanceIds();
    given.life.fromOutside('TerminateInstanceInAutoScalingGroup', {
      InstanceId: second,
      ShouldDecrementDesiredCapacity: false,
    });
    const isNew = (): boolean => typesOf(given).join() === 'm5.large,m5.xlarge';
    await given.life.until('it is replaced', () => isNew() && given.life.isActive(2), 900);
    const newer = given.instanceIds()[1];
    ask(given, '2');
    expect(await outcome(given)).toEqual(['Successful']);
    expect(typesOf(given)).toEqual(['m5.xlarge', 'm5.xlarge']);
    expect(given.instanceIds()).toContain(newer);
    await given.life.end();
  });

  it.each(['$Latest', '$Default', '1'])(
    'is rolled back to what its nodes were started from (%s)',
    async (named0) => {
      const group = { LaunchTemplate: named(named0) };
      const given = await adopted({ group, updateConfig: { onFailure: 'Rollback' } });
      const before = given.instanceIds();
      addVersion(given, { InstanceType: 'm5.xlarge' });
      given.life.world.faults.inject('never-join', {});
      ask(given, '2');
      expect(await outcome(given)).toEqual(['Failed', 'NodeCreationFailure']);
      expect(given.instanceIds()).toEqual(before);
      const { Version } = useOf(given);
      expect(dataOf(given, Version)).toEqual(dataOf(given, '1'));
      await given.life.end();
    },
  );
});

const policy = (Overrides: readonly JsonObject[]): JsonObject => ({
  LaunchTemplate: { LaunchTemplateSpecification: named('1'), Overrides },
  InstancesDistribution: {
    OnDemandBaseCapacity: 1,
    OnDemandPercentageAboveBaseCapacity: 50,
    SpotAllocationStrategy: 'lowest-price',
  },
});
const mixed = (Overrides: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  // Removes the LaunchTemplate of GivenGroup.
  LaunchTemplate: undefined as unknown as JsonObject,
  MixedInstancesPolicy: policy(Overrides),
  ...more,
});
const two = [{ InstanceType: 'm5.xlarge' }, { InstanceType: 'm5.large' }];

describe('a group with a mixed instances policy', () => {
  it.each(['DEFAULT', 'MINIMAL', 'SURGE', 'BLUE_GREEN'])(
    'keeps its types and shares (%s)',
    async (updateStrategy) => {
      const given = await adopted({ group: mixed(two), updateConfig: { updateStrategy } });
      const before = given.instanceIds();
      const policyBefore = objectOr(given.autoScalingGroup()?.MixedInstancesPolicy);
      addVersion(given, { KeyName: 'other' });
      ask(given, '2');
      expect(await outcome(given)).toEqual(['Successful']);
      expect(given.instanceIds().filter((one) => before.includes(one))).toEqual([]);
      const policyAfter = objectOr(given.autoScalingGroup()?.MixedInstancesPolicy);
      expect(policyAfter.InstancesDistribution).toEqual(policyBefore.InstancesDistribution);
      expect(objectOr(policyAfter.LaunchTemplate).Overrides).toEqual(two);
      expect(useOf(given).Version).toBe('2');
      await given.life.end();
    },
  );

  it('is refused where types have weights, with nothing touched', async () => {
    const weighted = [
      { InstanceType: 'm5.xlarge', WeightedCapacity: '2' },
      { InstanceType: 'm5.large', WeightedCapacity: '1' },
    ];
    const given = await GivenGroup.begin({}, mixed(weighted, { DesiredCapacity: 2 }));
    const { life } = given;
    given.adopt();
    await life.driver.advance(120);
    const before = given.autoScalingGroup();
    addVersion(given, { KeyName: 'other' });
    const plan = await planOfLife(life, { templateVersion: '2' });
    expect(plan.verdict).toBe('blocked');
    expect(JSON.stringify(plan.findings)).toContain('Remove the weights');
    ask(given, '2');
    await life.until('the update is over', () => areOver(life), 600);
    const updates = updatesOf(life);
    expect(updates.map(updateStatusOf)).toEqual(['Failed']);
    expect(updates[0]?.status?.errors).toMatchObject([
      { code: 'OperationNotPermitted', message: expect.stringContaining('weights') },
    ]);
    await life.driver.advance(300);
    expect(given.autoScalingGroup()).toEqual(before);
    await life.end();
  });
});

it('nodes of a template that the group used earlier are replaced, whatever their number', async () => {
  const given = await adopted({});
  const { life } = given;
  for (const type of ['m5.xlarge', 'm5.2xlarge', 'm5.large']) {
    addVersion(given, { InstanceType: type });
  }
  const use = (template: JsonObject) =>
    life.fromOutside('UpdateAutoScalingGroup', {
      AutoScalingGroupName: 'mine',
      LaunchTemplate: template,
    });
  use(named('4'));
  for (const InstanceId of given.instanceIds()) {
    const input = { InstanceId, ShouldDecrementDesiredCapacity: false };
    life.fromOutside('TerminateInstanceInAutoScalingGroup', input);
  }
  const areNew = (): boolean =>
    given.instances().every((one) => objectOr(one.LaunchTemplate).Version === '4');
  await life.until('they are replaced', () => areNew() && life.isActive(2), 900);
  const before = given.instanceIds();
  const data = dataOf(given, '4');
  ec2(given, 'CreateLaunchTemplate', { LaunchTemplateName: 'other', LaunchTemplateData: data });
  const id = idOf(given, 'other');
  use({ LaunchTemplateId: id, Version: '1' });
  await life.driver.advance(60);
  ec2(given, 'CreateLaunchTemplateVersion', {
    LaunchTemplateId: id,
    SourceVersion: '1',
    LaunchTemplateData: { InstanceType: 'm5.xlarge' },
  });
  life.patch({ spec: { launchTemplate: { id, version: '2' } } });
  expect(await outcome(given)).toEqual(['Successful']);
  expect(typesOf(given)).toEqual(['m5.xlarge', 'm5.xlarge']);
  expect(given.instanceIds().filter((one) => before.includes(one))).toEqual([]);
  expect(useOf(given)).toMatchObject({ LaunchTemplateId: id, Version: '2' });
  await life.end();
});

interface Story {
  readonly updateConfig: JsonObject;
  readonly neverJoin?: true;
  readonly ends: readonly string[];
}

const stories: Readonly<Record<string, Story>> = {
  'that succeeds': { updateConfig: { updateStrategy: 'SURGE' }, ends: ['Successful'] },
  'whose new nodes never join': {
    updateConfig: { onFailure: 'Rollback' },
    neverJoin: true,
    ends: ['Failed', 'NodeCreationFailure'],
  },
};

/** The group's complete state at the end, without ids and the number of copies. */
const endOf = (given: GivenGroup): JsonObject => {
  const { MinSize, MaxSize, DesiredCapacity, SuspendedProcesses } = given.autoScalingGroup() ?? {};
  const { launchTemplate, state, desired, ready } = given.life.group()?.status ?? {};
  const marks = given.life.nodes().map(({ spec }) => objectOr(spec).unschedulable === true);
  const end = {
    sizes: [MinSize, MaxSize, DesiredCapacity],
    suspended: SuspendedProcesses,
    types: [...typesOf(given)].toSorted(),
    data: dataOf(given, useOf(given).Version),
    status: { version: launchTemplate?.version, state, desired, ready },
    pods: given.life.runningPods('web'),
    cordoned: marks.filter((one) => one).length,
  };
  return JSON.parse(JSON.stringify(end)) as JsonObject;
};

/** Runs the story with kills after writes since the update's request. */
const told = async ({ updateConfig, neverJoin, ends }: Story, { killsAfter }: Kills) => {
  const writes: Write[] = [];
  let given: GivenGroup | undefined;
  let begun = false;
  const afterWrite = (call: Write): void => {
    if (!begun) return;
    writes.push(call);
    if (killsAfter(call)) given?.life.killFor(3);
  };
  const group = { LaunchTemplate: named('$Latest') };
  given = await adopted({ group, updateConfig, options: { afterWrite } });
  given.deploy(3, 1);
  await given.life.driver.advance(120);
  addVersion(given, { InstanceType: 'm5.xlarge' });
  if (neverJoin === true) given.life.world.faults.inject('never-join', {});
  begun = true;
  ask(given, '2');
  expect(await outcome(given)).toEqual(ends);
  const end = endOf(given);
  await given.life.end();
  return { writes, end };
};

describe('a process that is killed midway in an update of an adopted group', () => {
  it.each(Object.entries(stories))(
    '%s comes to the same end',
    async (_, story) => {
      const { writes, end } = await told(story, noKills);
      // Fewer writes would mean that the story does not exercise all its steps.
      expect(writes.length).toBeGreaterThan(15);
      await killedInTurn(writes, async (kills) => {
        expect((await told(story, kills)).end).toEqual(end);
      });
    },
    300_000,
  );
});
