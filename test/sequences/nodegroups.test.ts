// Node groups in the embedded world, in virtual time. The real control plane runs over the world's
// API server and Auto Scaling and is used through the EKS API and as kubectl does.
import { describe, expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';

const begun = async (more: Parameters<GroupLife['create']>[0] = {}): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create(more);
  await life.until('the group is ACTIVE', () => life.isActive(2));
  return life;
};
const labelsOf = (life: GroupLife) =>
  life.nodes().map((node) => (node.metadata as { labels: Record<string, string> }).labels);

describe('a node group that is created', () => {
  it('is CREATING at once and ACTIVE when its nodes are Ready', async () => {
    const life = await GroupLife.begin();
    const { nodegroup } = await life.create();
    expect(nodegroup).toMatchObject({ status: 'CREATING', resources: {} });
    await life.until('the group is CREATING', () => life.state() === 'CREATING', 10);
    await life.until('the group is ACTIVE', () => life.isActive(2));
    const { nodegroup: after } = await life.eks('DescribeNodegroup', {
      clusterName: 'c',
      nodegroupName: 'ng',
    });
    const uid = life.group()?.metadata.uid;
    expect(after).toMatchObject({
      status: 'ACTIVE',
      resources: { autoScalingGroups: [{ name: `eks-ng-${uid}` }] },
      health: { issues: [] },
    });
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('has nodes with exactly the labels of article 002, and both hooks as in article 001', async () => {
    const life = await GroupLife.begin();
    const made = life.world.aws.call('ec2', 'CreateLaunchTemplate', {
      LaunchTemplateName: 'mine',
      LaunchTemplateData: {},
    }) as { LaunchTemplate: { LaunchTemplateId: string } };
    const { LaunchTemplateId: id } = made.LaunchTemplate;
    const own = { 'alpha.eksctl.io/cluster-name': 'c', 'alpha.eksctl.io/nodegroup-name': 'ng' };
    await life.create({ launchTemplate: { id }, labels: own, amiType: 'AL2_x86_64' });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    const uid = life.group()?.metadata.uid ?? '';
    for (const labels of labelsOf(life)) {
      const ours = Object.entries(labels).filter(([key]) => /^(?:alpha\.eksctl|eks\.)/.test(key));
      expect(Object.fromEntries(ours)).toEqual({
        ...own,
        'eks.amazonaws.com/capacityType': 'ON_DEMAND',
        'eks.amazonaws.com/nodegroup': 'ng',
        'eks.amazonaws.com/nodegroup-image': life.group()?.status?.imageId,
        'eks.amazonaws.com/sourceLaunchTemplateId': id,
        'eks.amazonaws.com/sourceLaunchTemplateVersion': '1',
      });
    }
    const answer = life.world.aws.call('autoscaling', 'DescribeLifecycleHooks', {
      AutoScalingGroupName: `eks-ng-${uid}`,
    });
    const hook = (name: string, transition: string) => ({
      LifecycleHookName: name,
      AutoScalingGroupName: `eks-ng-${uid}`,
      LifecycleTransition: `autoscaling:EC2_INSTANCE_${transition}`,
      NotificationTargetARN: 'arn:aws:sns:eu-west-1:346952985317:eks-asg-lifecycle-hook-topic',
      HeartbeatTimeout: 1800,
      GlobalTimeout: 172800,
      DefaultResult: 'CONTINUE',
    });
    expect(answer).toEqual({
      LifecycleHooks: [
        hook('Launch-LC-Hook', 'LAUNCHING'),
        hook('Terminate-LC-Hook', 'TERMINATING'),
      ],
    });
    const [instance] = life.autoScalingGroups();
    expect(JSON.stringify(instance?.Tags)).toContain('"Key":"kubernetes.io/cluster/c"');
    await life.end();
  });

  it('never takes an Auto Scaling group of its name that is another actor’s', async () => {
    const life = await GroupLife.begin();
    await life.create();
    const uid = life.group()?.metadata.uid ?? '';
    const name = `eks-ng-${uid}`;
    const base = life.autoScalingGroups('base')[0];
    life.fromOutside('CreateAutoScalingGroup', {
      AutoScalingGroupName: name,
      MinSize: 0,
      MaxSize: 1,
      DesiredCapacity: 0,
      VPCZoneIdentifier: String(base?.VPCZoneIdentifier),
      LaunchTemplate: { LaunchTemplateName: life.templates().at(-1) ?? '' },
    });
    await life.until('it says so', () => life.state() === 'CREATE_FAILED', 60);
    expect(life.group()?.status?.health).toMatchObject([
      { code: 'AutoScalingGroupInvalidConfiguration' },
    ]);
    expect(life.called('UpdateAutoScalingGroup')).toBe(0);
    await life.delete();
    await life.until('the object is gone', () => life.group() === undefined, 60);
    const left = life.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {
      AutoScalingGroupNames: [name],
    }) as { AutoScalingGroups: unknown[] };
    expect(left.AutoScalingGroups).toHaveLength(1);
    await life.end();
  });

  it('tells launches that fail in EKS’ codes, and recovers', async () => {
    const life = await GroupLife.begin();
    life.world.faults.inject('no-capacity', {});
    await life.create();
    await life.until('it is told', () => (life.group()?.status?.health ?? []).length > 0, 120);
    expect(life.group()?.status).toMatchObject({
      state: 'CREATING',
      health: [{ code: 'AsgInstanceLaunchFailures' }],
    });
    await life.until('EKS gives up', () => life.state() === 'CREATE_FAILED', 1000);
    life.world.faults.clear('no-capacity');
    await life.until('it recovers', () => life.isActive(2), 1800);
    expect(life.group()?.status?.health).toEqual([]);
    await life.end();
  });

  it('tells after 15 minutes of nodes that never joined, and what their console says', async () => {
    const life = await GroupLife.begin();
    life.world.faults.inject('never-join', {});
    await life.create();
    await life.until('it is told', () => life.state() === 'CREATE_FAILED', 1000);
    expect(life.seconds).toBeGreaterThan(60 + 900);
    const [issue] = life.group()?.status?.health ?? [];
    expect(issue?.code).toBe('NodeCreationFailure');
    expect(issue?.message).toMatch(
      /^Instances failed to join the kubernetes cluster\. i-\w+ \(running since .*\): it never became a node, its console ends with ".+"/,
    );
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 900);
    await life.end();
  });
});

describe('the size of a node group', () => {
  it('is raised and lowered by kubectl scale, drained first', async () => {
    const life = await begun();
    life.patch({ spec: { scaling: { desired: 4 } } });
    await life.until('there are four', () => life.isActive(4));
    life.patch({ spec: { scaling: { desired: 1 } } });
    await life.until('there is one', () => life.isActive(1));
    expect(life.called('TerminateInstanceInAutoScalingGroup')).toBe(3);
    await life.driver.advance(300);
    expect(life.group()?.spec.scaling.desired).toBe(1);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('follows what a user does to the group, and never pushes back', async () => {
    const life = await begun();
    const name = life.group()?.status?.autoScalingGroupName ?? '';
    const calls = life.called('UpdateAutoScalingGroup');
    life.fromOutside('SetDesiredCapacity', { AutoScalingGroupName: name, DesiredCapacity: 3 });
    await life.until('it follows', () => life.isActive(3));
    expect(life.group()?.spec.scaling.desired).toBe(3);
    life.fromOutside('UpdateAutoScalingGroup', {
      AutoScalingGroupName: name,
      MinSize: 1,
      MaxSize: 9,
      DesiredCapacity: 1,
    });
    await life.until('it follows', () => life.isActive(1));
    expect(life.group()?.spec.scaling).toEqual({ minSize: 1, maxSize: 9, desired: 1 });
    await life.driver.advance(600);
    expect(life.called('UpdateAutoScalingGroup')).toBe(calls);
    expect(life.called('TerminateInstanceInAutoScalingGroup')).toBe(0);
    await life.end();
  });

  it('takes no more than asked when a user helps along during a scale-in', async () => {
    const life = await begun({ scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 2 } });
    life.patch({ spec: { scaling: { desired: 4 } } });
    await life.until('there are four', () => life.isActive(4));
    life.deploy(8, 1);
    await life.driver.advance(60);
    life.patch({ spec: { scaling: { desired: 2 } } });
    await life.driver.advance(5);
    const victims = [
      ...life.world.kube.readAll({ group: 'drover.dev', resource: 'nodedisruptions' }),
    ];
    expect(victims).toHaveLength(2);
    const other = life
      .nodes()
      .map((node) => life.world.aws.instanceIdOfNode((node.metadata as { name: string }).name))
      .find((id) => !victims.some(({ metadata }) => metadata.name === id));
    life.fromOutside('TerminateInstanceInAutoScalingGroup', {
      InstanceId: other ?? '',
      ShouldDecrementDesiredCapacity: true,
    });
    await life.until('there are two', () => life.isActive(2), 1200);
    await life.driver.advance(120);
    expect(life.group()?.spec.scaling.desired).toBe(2);
    expect(life.autoScalingGroups()[0]).toMatchObject({ DesiredCapacity: 2 });
    expect(life.autoScalingGroups()[0]?.Instances).toHaveLength(2);
    const cordoned = life
      .nodes()
      .filter((node) => (node.spec as { unschedulable?: boolean }).unschedulable);
    expect(cordoned).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('is uncordoned when budgets hold the nodes for 15 minutes', async () => {
    const life = await begun();
    life.deploy(2, 0);
    await life.driver.advance(30);
    await life.updateConfig({ scalingConfig: { desiredSize: 0 } });
    await life.driver.advance(10);
    expect(life.group()?.status?.state).toBe('UPDATING');
    await life.until('it gives up', () => life.updates()[0]?.status?.status === 'Failed', 1200);
    const [error] = life.updates()[0]?.status?.errors ?? [];
    expect(error?.code).toBe('PodEvictionFailure');
    expect(error?.message).toMatch(
      /in node group ng\. Held by default\/web-\S+ .*budget default\/web/,
    );
    expect(life.group()?.spec.scaling.desired).toBe(life.group()?.status?.desired);
    await life.driver.advance(60);
    const marked = life
      .nodes()
      .filter((node) => (node.spec as { unschedulable?: boolean }).unschedulable);
    expect(marked).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('with force goes as EKS does it: the group is made smaller at once', async () => {
    const life = await begun();
    life.deploy(2, 0);
    await life.driver.advance(30);
    life.patch({
      metadata: { annotations: { 'drover.dev/force': 'true' } },
      spec: { scaling: { desired: 0 } },
    });
    await life.until('all is gone', () => life.isActive(0) && life.nodes().length === 0, 1500);
    expect(life.called('TerminateInstanceInAutoScalingGroup')).toBe(0);
    await life.end();
  });

  it('may be asked for by the maximum alone, which comes down after the nodes', async () => {
    const life = await begun();
    life.patch({ spec: { scaling: { maxSize: 1, desired: 1 } } });
    await life.until('there is one', () => life.isActive(1));
    await life.until('the maximum is there', () => life.group()?.status?.maxSize === 1, 60);
    expect(life.called('TerminateInstanceInAutoScalingGroup')).toBe(1);
    await life.end();
  });
});

describe('labels and taints of a node group', () => {
  it('are set on nodes that are there and on those to come, and leave them again', async () => {
    const life = await begun({ labels: { team: 'a' } });
    await life.updateConfig({
      labels: { addOrUpdateLabels: { tier: 'web' }, removeLabels: ['team'] },
      taints: { addOrUpdateTaints: [{ key: 'k', value: 'v', effect: 'NO_SCHEDULE' }] },
    });
    await life.until('it is done', () => life.updates()[0]?.status?.status === 'Successful', 120);
    life.patch({ spec: { scaling: { desired: 3 } } });
    await life.until('there are three', () => life.isActive(3));
    for (const labels of labelsOf(life)) {
      expect(labels.tier).toBe('web');
      expect(labels.team).toBeUndefined();
    }
    const taints = life.nodes().map((node) => (node.spec as { taints?: unknown }).taints);
    const taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
    expect(taints).toEqual([[taint], [taint], [taint]]);
    expect(life.group()?.status?.perTemplateVersion).toEqual({ 1: 2, 2: 1 });
    life.patch({ spec: { taints: [] } });
    const gone = () =>
      life
        .nodes()
        .every(
          (node) =>
            !('taints' in (node.spec as object)) ||
            JSON.stringify(node.spec).includes('"taints":[]'),
        );
    await life.until('the taint is gone', gone, 60);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

describe('a node group that is deleted', () => {
  it('leaves nothing, its nodes drained first and its app available all the time', async () => {
    const life = await begun();
    const uid = life.group()?.metadata.uid ?? '';
    life.deploy(3, 1, 'ng');
    await life.driver.advance(60);
    await life.delete();
    await life.until('it is DELETING', () => life.state() === 'DELETING', 30);
    // The pods cannot move, so the budget holds the last ones.
    await life.until('it tells so', () => life.state() === 'DELETE_FAILED', 1500);
    expect(life.group()?.status?.failure?.code).toBe('PodEvictionFailure');
    expect(await life.shown()).toMatchObject({
      health: { issues: [{ code: 'PodEvictionFailure' }] },
    });
    life.unmake({ group: 'apps', resource: 'deployments' }, 'default', 'web');
    // A second request does not wait for the next retry, which is due after 5 minutes.
    await life.delete();
    expect(await life.shown()).toMatchObject({ status: 'DELETING' });
    await life.until('it is gone', () => life.group() === undefined, 200);
    await life.until('so are its nodes', () => life.nodes('ng').length === 0, 30);
    life.expectNothingLeft('ng', uid);
    await life.end();
  });

  it('with force waits for budgets that never allow for 15 minutes, as EKS does, and no longer', async () => {
    const life = await begun();
    life.deploy(2, 0);
    await life.driver.advance(30);
    life.patch({ metadata: { annotations: { 'drover.dev/force': 'true' } } });
    await life.delete();
    await life.driver.advance(14 * 60);
    expect(life.state()).toBe('DELETING');
    expect(life.nodes()).toHaveLength(2);
    await life.until('it is gone', () => life.group() === undefined, 240);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('can be adopted ones too: the group goes, the user’s own template stays', async () => {
    const life = await GroupLife.begin();
    expect(life.isActive(1, 'base')).toBe(true);
    const source = life.group('base')?.spec.launchTemplate?.name ?? '';
    await life.eks('DeleteNodegroup', { clusterName: 'c', nodegroupName: 'base' });
    await life.until('it is gone', () => life.group('base') === undefined, 600);
    life.expectNothingLeft('base');
    expect(life.templates()).toEqual([source]);
    await life.end();
  });
});

describe('what no one has touched', () => {
  it('is written to by nothing but its mark and its first status', async () => {
    const life = await GroupLife.begin();
    const before = life.group('base');
    await life.driver.advance(1800);
    expect(life.group('base')?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    const writes = life.calls.filter(({ operation }) => !/^(?:Describe|Receive)/.test(operation));
    expect(
      writes
        .map(({ operation }) => operation)
        .filter((operation) => !/LifecycleAction|DeleteMessage/.test(operation)),
    ).toEqual(['CreateOrUpdateTags']);
    await life.end();
  });
});
