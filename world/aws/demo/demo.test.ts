import { describe, expect, it } from 'vitest';
import { type Answer, RecordingHost } from '../../../test/builders/world-aws.ts';
import { Faults } from '../../faults/index.ts';
import { Kernel, microsPerSecond } from '../../kernel/index.ts';
import { type AwsWorld, createAwsWorld } from '../index.ts';

const aDemo = (seed = 1, kubernetesVersion = '1.32.9') => {
  const kernel = new Kernel({ seed, startAt: Date.UTC(2026, 8, 25) * 1000 });
  const host = new RecordingHost();
  const aws = createAwsWorld({
    kernel,
    faults: new Faults(kernel),
    host: () => host,
    account: '111111111111',
    region: 'eu-west-1',
    endpoint: () => 'http://127.0.0.1:8700',
    clusterAccess: () => ({ endpoint: 'https://127.0.0.1:8701', certificateAuthorityData: 'QQ==' }),
  });
  const facts = aws.seedDemo({ clusterName: 'ironman-2022', kubernetesVersion });
  const call = (service: string, operation: string, input = {}): Answer =>
    aws.call(service, operation, input) as Answer;
  const machine = (group: string) => {
    const name = groupNameOf(facts, group);
    const [instance] = [...(groups(call, [name])[0]?.Instances ?? [])];
    return host.on.get(String(instance?.InstanceId));
  };
  return { kernel, host, aws, facts, call, machine };
};

const advance = (kernel: Kernel, seconds: number) => {
  const end = kernel.now() + seconds * microsPerSecond;
  while ((kernel.nextAt() ?? end + 1) <= end) kernel.step();
  kernel.advanceTo(end);
};

const groupNameOf = (facts: ReturnType<AwsWorld['seedDemo']>, group: string): string =>
  facts.managed.find((one) => one.name === group)?.spec.autoScalingGroupName ??
  facts.selfManaged.find((one) => one.name === group)?.autoScalingGroupName ??
  '';

const groups = (
  call: (service: string, operation: string, input?: object) => Answer,
  names: readonly string[] = [],
) => [
  ...(call('autoscaling', 'DescribeAutoScalingGroups', { AutoScalingGroupNames: names })
    .AutoScalingGroups ?? []),
];

describe('the demo', () => {
  it('has the three groups of the articles, their instances in service at once', () => {
    const { call, facts } = aDemo();
    const row = (group: string) => {
      const [one] = groups(call, [groupNameOf(facts, group)]);
      const states = [...(one?.Instances ?? [])].map((instance) => instance.LifecycleState);
      return [one?.MinSize, one?.MaxSize, one?.DesiredCapacity, ...states];
    };
    expect(row('demo-ng')).toEqual([0, 10, 1, 'InService']);
    expect(row('ng1-public-ssh')).toEqual([0, 10, 2, 'InService', 'InService']);
    expect(row('demo-self-ng')).toEqual([1, 1, 1, 'InService']);
  });

  it.each([
    ['demo-ng', /^eks-demo-ng-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
    ['demo-self-ng', /^eksctl-ironman-2022-nodegroup-demo-self-ng-NodeGroup-[A-Z0-9]{13}$/],
  ])('names the group of %s as in article 001', (group, pattern) => {
    expect(groupNameOf(aDemo().facts, group)).toMatch(pattern);
  });

  it("gives managed groups article 001's hooks and self-managed ones none", () => {
    const { call, facts } = aDemo();
    const hooks = (group: string) =>
      call('autoscaling', 'DescribeLifecycleHooks', {
        AutoScalingGroupName: groupNameOf(facts, group),
      });
    const hook = (LifecycleHookName: string, LifecycleTransition: string) => ({
      LifecycleHookName,
      AutoScalingGroupName: groupNameOf(facts, 'demo-ng'),
      LifecycleTransition,
      NotificationTargetARN: 'arn:aws:sns:eu-west-1:346952985317:eks-asg-lifecycle-hook-topic',
      HeartbeatTimeout: 1800,
      GlobalTimeout: 172800,
      DefaultResult: 'CONTINUE',
    });
    expect(hooks('demo-ng')).toEqual({
      LifecycleHooks: [
        hook('Launch-LC-Hook', 'autoscaling:EC2_INSTANCE_LAUNCHING'),
        hook('Terminate-LC-Hook', 'autoscaling:EC2_INSTANCE_TERMINATING'),
      ],
    });
    expect(hooks('demo-self-ng')).toEqual({ LifecycleHooks: [] });
  });

  it("labels nodes as article 002's kubelets do", () => {
    const { machine, facts } = aDemo();
    const demo = facts.managed.find((one) => one.name === 'demo-ng');
    expect(machine('demo-ng')).toMatchObject({ zone: 'eu-west-1a', maxPods: 29, joins: true });
    expect(machine('demo-ng')?.nodeLabels).toEqual({
      'eks.amazonaws.com/sourceLaunchTemplateVersion': '1',
      'alpha.eksctl.io/nodegroup-name': 'demo-ng',
      'alpha.eksctl.io/cluster-name': 'ironman-2022',
      'eks.amazonaws.com/nodegroup-image': machine('demo-ng')?.imageId,
      'eks.amazonaws.com/capacityType': 'ON_DEMAND',
      'eks.amazonaws.com/nodegroup': 'demo-ng',
      'eks.amazonaws.com/sourceLaunchTemplateId': demo?.spec.launchTemplate?.id,
    });
    const own = machine('demo-self-ng');
    expect(own).toMatchObject({ zone: 'eu-west-1c', joins: true });
    expect(own?.nodeLabels).toEqual({
      'alpha.eksctl.io/cluster-name': 'ironman-2022',
      'alpha.eksctl.io/nodegroup-name': 'demo-self-ng',
      'node-lifecycle': 'on-demand',
      'alpha.eksctl.io/instance-id': own?.instanceId,
    });
  });

  it('runs demo-ng one release behind the newest', () => {
    const { call, facts, machine } = aDemo();
    const name = '/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id';
    const newest = call('ssm', 'GetParameter', { Name: name }).Parameter?.Value;
    expect(machine('ng1-public-ssh')?.imageId).toBe(newest);
    expect(machine('demo-ng')?.imageId).not.toBe(newest);
    expect(facts.managed.map((one) => one.spec.releaseVersion)).toEqual([
      '1.32.9-20260919',
      '1.32.9-20260905',
    ]);
  });

  it('lists the resources of the self-managed stack in the form of article 001', () => {
    const { call, facts } = aDemo();
    const StackName = facts.selfManaged[0]?.stackName;
    const resources = call('cloudformation', 'ListStackResources', { StackName });
    expect(resources.StackResourceSummaries?.[0]).toEqual({
      LogicalResourceId: 'NodeGroup',
      PhysicalResourceId: facts.selfManaged[0]?.autoScalingGroupName,
      ResourceType: 'AWS::AutoScaling::AutoScalingGroup',
      LastUpdatedTimestamp: Date.UTC(2026, 8, 25),
      ResourceStatus: 'CREATE_COMPLETE',
      DriftInformation: { StackResourceDriftStatus: 'NOT_CHECKED' },
    });
  });

  it('gives the cluster stack a template with its outputs and the rule that eksctl looks for', () => {
    const { call } = aDemo();
    const StackName = 'eksctl-ironman-2022-cluster';
    const body = String(call('cloudformation', 'GetTemplate', { StackName }).TemplateBody);
    call('cloudformation', 'ValidateTemplate', { TemplateBody: body });
    const template = JSON.parse(body);
    const told = call('cloudformation', 'DescribeStacks', { StackName }).Stacks?.[0]?.Outputs ?? [];
    const values = Object.fromEntries(told.map((one) => [one.OutputKey, one.OutputValue]));
    const resourceOf = (LogicalResourceId: string): Answer =>
      call('cloudformation', 'DescribeStackResource', { StackName, LogicalResourceId })
        .StackResourceDetail as Answer;
    expect(template.Outputs.VPC.Value).toEqual({ Ref: 'VPC' });
    expect(values.VPC).toBe(resourceOf('VPC').PhysicalResourceId);
    expect(Object.keys(template.Outputs)).toEqual(Object.keys(values));
    const rule = template.Resources.IngressDefaultClusterToNodeSG;
    const group = values.ClusterSecurityGroupId;
    const named = { 'Fn::GetAtt': ['ControlPlane', 'ClusterSecurityGroupId'] };
    expect(rule.Type).toBe('AWS::EC2::SecurityGroupIngress');
    expect(rule.Properties).toMatchObject({ GroupId: named, SourceSecurityGroupId: named });
    const resource = resourceOf('IngressDefaultClusterToNodeSG');
    const SecurityGroupRuleIds = [resource.PhysicalResourceId];
    const rules = call('ec2', 'DescribeSecurityGroupRules', { SecurityGroupRuleIds });
    expect(rules.SecurityGroupRules).toMatchObject([{ GroupId: group, IpProtocol: '-1' }]);
  });

  it('lets the self-managed stack go whole, and tells its role for aws-auth', () => {
    const { call, facts, kernel } = aDemo();
    const StackName = facts.selfManaged[0]?.stackName;
    const stack = () => call('cloudformation', 'DescribeStacks', { StackName }).Stacks?.[0];
    const role = facts.selfManaged[0]?.nodeRole;
    const [told] = (stack()?.Outputs ?? []).filter(
      (one) => String(one.OutputKey) === 'InstanceRoleARN',
    );
    expect(told).toMatchObject({ OutputKey: 'InstanceRoleARN', OutputValue: role });
    const StackId = stack()?.StackId;
    call('cloudformation', 'DeleteStack', { StackName });
    advance(kernel, 300);
    const gone = call('cloudformation', 'DescribeStacks', { StackName: StackId }).Stacks?.[0];
    expect(gone).toMatchObject({ StackStatus: 'DELETE_COMPLETE' });
  });

  it('describes its cluster well enough for a kubeconfig', () => {
    const { call } = aDemo();
    expect(call('eks', 'DescribeCluster', { name: 'ironman-2022' }).cluster).toMatchObject({
      arn: 'arn:aws:eks:eu-west-1:111111111111:cluster/ironman-2022',
      endpoint: 'https://127.0.0.1:8701',
      certificateAuthority: { data: 'QQ==' },
      status: 'ACTIVE',
      version: '1.32',
    });
  });

  it('has one cluster only', () => {
    const { aws, call } = aDemo();
    const request = { name: 'other', roleArn: 'arn:aws:iam::1:role/r', resourcesVpcConfig: {} };
    expect(() => call('eks', 'CreateCluster', request)).toThrow(/one Kubernetes API.*drover up/);
    expect(() => aws.seedDemo({ clusterName: 'x', kubernetesVersion: '1.32' })).toThrow();
  });

  it('is the same for the same seed', () => {
    const dump = (seed: number) => {
      const { kernel } = aDemo(seed);
      kernel.checkpoint();
      return JSON.stringify(kernel.tables.takeChanges());
    };
    expect(dump(3)).toBe(dump(3));
    expect(dump(3)).not.toBe(dump(4));
  });

  it('uses Amazon Linux 2023 where Amazon Linux 2 has ended', () => {
    const { facts } = aDemo(1, '1.33.5');
    expect(facts.managed[0]?.spec.amiType).toBe('AL2023_x86_64_STANDARD');
  });
});

describe('article 001 without a controller', () => {
  it('ends when a user completes the hook, and desired stays 0', () => {
    const { call, facts, kernel, aws } = aDemo();
    const group = groupNameOf(facts, 'demo-ng');
    const InstanceId = groups(call, [group])[0]?.Instances?.[0]?.InstanceId;
    call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId,
      ShouldDecrementDesiredCapacity: true,
    });
    advance(kernel, 600);
    expect(aws.machines.instanceState(String(InstanceId))).toBe('running');
    call('autoscaling', 'CompleteLifecycleAction', {
      AutoScalingGroupName: group,
      LifecycleHookName: 'Terminate-LC-Hook',
      LifecycleActionResult: 'CONTINUE',
      InstanceId,
    });
    advance(kernel, 60);
    expect(aws.machines.instanceState(String(InstanceId))).toBe('terminated');
    expect(groups(call, [group])[0]).toMatchObject({ DesiredCapacity: 0, Instances: [] });
  });
});
