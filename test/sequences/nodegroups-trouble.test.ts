// Node groups whose requests cannot be carried out, in the embedded world and in virtual time: each
// is reported correctly, and once.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { updateStatusOf } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { newest } from '../support/update-world.ts';

const begun = async (desiredSize = 2, maxSize = 4): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create({ scalingConfig: { minSize: 0, maxSize, desiredSize } });
  await life.until('the group is ACTIVE', () => life.isActive(desiredSize), 1800);
  return life;
};
const updateStatus = (life: GroupLife) => life.updates()[0]?.status?.status ?? 'InProgress';

describe('drains that budgets hold', () => {
  it('of more nodes than a status can name end as those of a few', async () => {
    const life = await begun(22, 30);
    life.deploy(88, 0);
    await life.driver.advance(60);
    await life.updateConfig({ scalingConfig: { desiredSize: 0 } });
    await life.driver.advance(60);
    // All drains time out while the process is down; after its restart they have failed at once.
    life.killFor(1200);
    await life.until('the update has ended', () => updateStatus(life) !== 'InProgress', 2400);
    expect(updateStatus(life)).toBe('Failed');
    expect(life.updates()[0]?.status?.errors?.[0]?.resourceIds).toHaveLength(20);
    expect(life.group()?.spec.scaling.desired).toBe(22);
    await life.delete();
    await life.driver.advance(60);
    life.killFor(1200);
    await life.until('it is told', () => life.state() === 'DELETE_FAILED', 1800);
    expect(life.group()?.status?.failure?.resourceIds).toHaveLength(20);
    await life.end();
  }, 120_000);

  it('before a delete, even just before, are nothing that the delete waits for', async () => {
    const life = await begun();
    life.deploy(2, 0);
    await life.driver.advance(30);
    await life.updateConfig({ scalingConfig: { desiredSize: 1 } });
    await life.until('the update has ended', () => updateStatus(life) === 'Failed', 1800);
    expect(life.group()?.status?.failure).toBeDefined();
    life.unmake({ group: 'apps', resource: 'deployments' }, 'default', 'web');
    await life.delete();
    const states = new Set<unknown>();
    const isGone = () => {
      states.add(life.state());
      return life.group() === undefined;
    };
    await life.until('it is gone', isGone, 200);
    expect([...states]).not.toContain('DELETE_FAILED');
    await life.end();
  });
});

describe('nodes that register and never become Ready', () => {
  it('are reported after 15 minutes, as those that never register', async () => {
    const life = await GroupLife.begin();
    await life.create();
    // The kubelet stops as soon as its node registers.
    for (let tick = 0; tick < 400; tick++) {
      await life.driver.advance(0.5);
      if (life.nodes().length > 0) life.world.faults.inject('kubelet-stop', { group: 'ng' });
    }
    expect(life.nodes()).toHaveLength(2);
    expect(life.group()?.status).toMatchObject({ state: 'CREATING', ready: 0, health: [] });
    await life.until('it is told', () => life.state() === 'CREATE_FAILED', 900);
    const [issue] = life.group()?.status?.health ?? [];
    expect(issue).toMatchObject({ code: 'NodeCreationFailure' });
    expect(issue?.resourceIds).toHaveLength(2);
    expect(issue?.message).toContain('its node is not Ready');
    await life.end();
  });
});

describe('a launch template that may not be changed', () => {
  const taint = { key: 'k', value: 'v', effect: 'NO_SCHEDULE' };
  const refusing = (life: GroupLife): void => {
    life.faults = {
      cloudCall: (operation) =>
        operation === 'CreateLaunchTemplateVersion'
          ? { kind: 'refused', code: 'AccessDenied' }
          : { kind: 'ok' },
    };
  };

  it('is reported and tried again; the update ends when new nodes get what it asks for', async () => {
    const life = await begun();
    refusing(life);
    await life.updateConfig({
      scalingConfig: { desiredSize: 3 },
      taints: { addOrUpdateTaints: [taint] },
    });
    await life.until('there are three', () => life.group()?.status?.ready === 3, 900);
    await life.driver.advance(120);
    expect(life.group()?.status?.health).toMatchObject([{ code: 'AccessDenied' }]);
    expect(updateStatus(life)).toBe('InProgress');
    // The next process continues the update as well.
    life.killFor(3);
    life.faults = {};
    await life.until('the update has ended', () => updateStatus(life) === 'Successful', 60);
    expect(life.autoScalingGroups()[0]).toMatchObject({ LaunchTemplate: { Version: '2' } });
    await life.until('it is ACTIVE', () => life.isActive(3), 60);
    expect(life.group()?.status?.health).toEqual([]);
    await life.end();
  });

  it('holds up no update of sizes alone', async () => {
    const life = await begun();
    refusing(life);
    life.patch({ spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } });
    await life.driver.advance(30);
    await life.updateConfig({ scalingConfig: { desiredSize: 3 } });
    await life.until('the update has ended', () => updateStatus(life) === 'Successful', 600);
    await life.end();
  });
});

it('a group that cannot be created is reported with the size that is asked for by now, and made with it', async () => {
  const life = await GroupLife.begin();
  life.faults = {
    cloudCall: (operation) =>
      operation === 'CreateLaunchTemplate'
        ? { kind: 'refused', code: 'AccessDenied' }
        : { kind: 'ok' },
  };
  await life.create({ scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 2 } });
  await life.until('it is told', () => life.state() === 'CREATE_FAILED', 1200);
  life.patch({ spec: { scaling: { desired: 1, maxSize: 3 } } });
  await life.until('the size is told', () => life.group()?.status?.desired === 1, 120);
  expect(life.group()?.status).toMatchObject({ maxSize: 3, requested: { desired: 1 } });
  life.faults = {};
  await life.until('it is made', () => life.isActive(1), 1800);
  expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 3, desired: 1 });
  await life.end();
});

describe('a group that could not be made', () => {
  const nowhere = '1.32.0-20200101';
  const failed = async (): Promise<GroupLife> => {
    const life = await GroupLife.begin();
    // The EKS API refuses the group immediately; kubectl can create any valid object.
    const {
      launchTemplate: _,
      autoScalingGroupName: __,
      ...base
    } = objectOr(life.group('base')?.spec);
    const scaling = { minSize: 0, maxSize: 3, desired: 2 };
    life.createGroup({
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name: 'ng' },
      spec: { ...base, releaseVersion: nowhere, scaling },
    });
    await life.until('it is told', () => life.state() === 'CREATE_FAILED', 1200);
    return life;
  };
  const askFor = (life: GroupLife, type: string, change: JsonObject): void => {
    life.make({ group: 'drover.dev', resource: 'nodegroupupdates' }, undefined, {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroupUpdate',
      metadata: { name: 'asked' },
      spec: { nodeGroup: 'ng', type, params: [], change },
    });
  };

  it.each([
    ['VersionUpdate', { releaseVersion: newest }],
    ['ConfigUpdate', { scaling: { desired: 1 } }],
  ])('is not updated: a %s ends at once and says what is wrong', async (type, change) => {
    const life = await failed();
    askFor(life, type, change);
    await life.until('it has ended', () => updateStatus(life) !== 'InProgress', 120);
    const { status, errors } = life.updates()[0]?.status ?? {};
    expect(status).toBe('Failed');
    expect(errors).toMatchObject([{ code: 'OperationNotPermitted' }]);
    expect(errors?.[0]?.message).toMatch(/not in Active State.*AmiIdNotFound.*Correct its spec/);
    expect(life.group()?.spec).toMatchObject({ releaseVersion: nowhere, scaling: { desired: 2 } });
    await life.end();
  });

  it('is made as its spec has it by then, without an update', async () => {
    const life = await failed();
    life.patch({ spec: { releaseVersion: '1.32.0-20200102' } });
    await life.driver.advance(120);
    expect(life.updates()).toEqual([]);
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('the group is ACTIVE', () => life.isActive(2), 1800);
    await life.driver.advance(120);
    expect(life.updates().map(updateStatusOf)).not.toContain('InProgress');
    expect(life.group()?.status).toMatchObject({ releaseVersion: newest, ready: 2 });
    await life.end();
  });
});

it('labels edited between the launch template and the group are in the template', async () => {
  const life = await GroupLife.begin();
  life.faults = {
    cloudCall: (operation) =>
      operation === 'CreateAutoScalingGroup'
        ? { kind: 'refused', code: 'Throttled' }
        : { kind: 'ok' },
  };
  await life.create();
  await life.until('there is a template', () => life.templates().length > 1, 60);
  life.patch({ spec: { labels: { tier: 'web' } } });
  await life.driver.advance(30);
  life.faults = {};
  await life.until('the group is ACTIVE', () => life.isActive(2));
  expect(life.autoScalingGroups()[0]).toMatchObject({ LaunchTemplate: { Version: '2' } });
  await life.end();
});

it('updates that have ended are kept, the last twenty of them', async () => {
  const life = await begun(1);
  const ids: unknown[] = [];
  for (let n = 1; n <= 23; n++) {
    const { update } = await life.updateConfig({ updateConfig: { maxUnavailable: (n % 3) + 1 } });
    ids.push((update as { id: string }).id);
    const isOpen = () =>
      life.updates().some(({ status }) => (status?.status ?? 'InProgress') === 'InProgress');
    await life.until('the update has ended', () => !isOpen(), 60);
  }
  await life.driver.advance(10);
  const kept = life.updates().map(({ metadata }) => metadata.name);
  expect(new Set(kept)).toEqual(new Set(ids.slice(-20)));
  await life.end();
});

describe('instance types of a group that kubectl makes from a launch template', () => {
  const made = async (data: JsonObject, instanceTypes?: readonly string[]): Promise<GroupLife> => {
    const life = await GroupLife.begin();
    const {
      launchTemplate: _,
      autoScalingGroupName: __,
      instanceTypes: ___,
      ...base
    } = objectOr(life.group('base')?.spec);
    const input = { LaunchTemplateName: 'mine', LaunchTemplateData: data };
    const { LaunchTemplate } = objectOr(life.world.aws.call('ec2', 'CreateLaunchTemplate', input));
    const id = String(objectOr(LaunchTemplate).LaunchTemplateId);
    life.createGroup({
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name: 'ng' },
      spec: {
        ...base,
        ...(instanceTypes === undefined ? {} : { instanceTypes: [...instanceTypes] }),
        launchTemplate: { id, version: '1' },
        scaling: { minSize: 0, maxSize: 2, desired: 1 },
      },
    });
    return life;
  };
  const typesOf = (life: GroupLife): readonly unknown[] =>
    life.nodes().map(({ metadata }) => {
      const { labels } = objectOr(metadata);
      return objectOr(labels)['node.kubernetes.io/instance-type'];
    });

  it.each([
    ['are the template’s alone', { InstanceType: 'm5.xlarge' }, 'm5.xlarge'],
    ['are EKS’ where neither names one', {}, 't3.medium'],
  ])('%s', async (_what, data, type) => {
    const life = await made(data);
    await life.until('the group is ACTIVE', () => life.isActive(1), 1800);
    expect(life.group()?.spec.instanceTypes).toEqual([]);
    expect(typesOf(life)).toContain(type);
    await life.end();
  });

  it('are EKS’ where there is no template either, and told so through its API', async () => {
    const life = await GroupLife.begin();
    const base = objectOr(life.group('base')?.spec);
    const { launchTemplate: _, autoScalingGroupName: __, instanceTypes: ___, ...spec } = base;
    life.createGroup({
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name: 'ng' },
      spec: { ...spec, scaling: { minSize: 0, maxSize: 2, desired: 1 } },
    });
    await life.until('the group is ACTIVE', () => life.isActive(1), 1800);
    expect(typesOf(life)).toContain('t3.medium');
    expect((await life.shown()).instanceTypes).toEqual(['t3.medium']);
    await life.end();
  });

  it('may not be in both, which no face takes', async () => {
    const life = await made({ InstanceType: 'm5.xlarge' }, ['m5.large']);
    await life.until('it is told', () => life.state() === 'CREATE_FAILED', 1200);
    expect(life.group()?.status?.health).toMatchObject([
      {
        code: 'Ec2LaunchTemplateInvalidConfiguration',
        message:
          'Instance types must be specified either in the launch template or in the API request.',
      },
    ]);
    await life.end();
  });
});

it.each([
  [{ scaling: { desired: 9 } }, "desired can't be greater than maxSize"],
  [{ scaling: { minSize: 3, desired: 2 } }, "minSize can't be greater than desired"],
  [
    { updateConfig: { maxUnavailable: 1, maxUnavailablePercentage: 10 } },
    'only one of maxUnavailable and maxUnavailablePercentage may be set: whoever sets one takes the other away',
  ],
])('kubectl is told of %j by the names that its fields have', async (spec, words) => {
  const life = await begun();
  expect(JSON.stringify(life.patch({ spec }))).toContain(words);
  await life.end();
});
