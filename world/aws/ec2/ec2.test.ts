import { describe, expect, it } from 'vitest';
import { exampleAuthority } from '../../../src/formats/index.ts';
import { aGroup, aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';
import { instanceTypes, maxPodsOf } from './instance-types.ts';
import { encodeBase64, readUserData } from './user-data.ts';

const running = (desired = 1, seed = 1): TestWorld => {
  const world = aTestWorld({ seed });
  aGroup(world, { desired });
  world.advance(5);
  return world;
};
const ids = (world: TestWorld): readonly string[] => Object.keys(world.states('g'));
const available = (world: TestWorld, index: number): number =>
  world.parts.network.available(world.foundation.publicSubnets[index]?.subnetId ?? '');

describe('addresses', () => {
  it('are shared by nodes and pods of a subnet and come back with their owner', () => {
    const world = running();
    const [id = ''] = ids(world);
    expect(available(world, 0)).toBe(8192 - 5 - 1);
    const address = world.aws.machines.allocatePodAddress(id) ?? '';
    expect(address).toMatch(/^192\.168\.([0-9]|[12][0-9]|3[01])\.\d+$/);
    expect(available(world, 0)).toBe(8192 - 5 - 2);
    world.aws.machines.releasePodAddress(id, address);
    expect(available(world, 0)).toBe(8192 - 5 - 1);
    world.aws.machines.allocatePodAddress(id);
    world.call('ec2', 'TerminateInstances', { InstanceIds: [id] });
    world.advance(10);
    expect(available(world, 0)).toBe(8192 - 5);
  });

  it('end where the interfaces of the type end', () => {
    const world = running();
    const [id = ''] = ids(world);
    const got = Array.from({ length: 40 }, () => world.aws.machines.allocatePodAddress(id));
    expect(got.filter((one) => one !== undefined)).toHaveLength(27);
    expect(new Set(got.slice(0, 27)).size).toBe(27);
  });

  it('are refused while the fault no-addresses covers the subnet', () => {
    const world = running();
    const [id = ''] = ids(world);
    world.faults.inject('no-addresses', {
      subnet: world.foundation.publicSubnets[0]?.subnetId ?? '',
    });
    expect(world.aws.machines.allocatePodAddress(id)).toBeUndefined();
    expect(available(world, 0)).toBe(0);
  });
});

describe('max pods', () => {
  it.each([
    ['m5.large', 29],
    ['t3.medium', 17],
    ['t3.small', 11],
    ['m5.4xlarge', 234],
  ])('of %s is %i', (name, pods) => {
    const type = instanceTypes.get(name);
    expect(type && maxPodsOf(type)).toBe(pods);
  });
});

describe('user data', () => {
  const instance = {
    instanceId: 'i-02eccc7d3fa79fc6f',
    lifecycle: 'on-demand' as const,
    kubernetesVersion: '1.32.9',
  };
  it('gives labels, taints and max pods of the kubelet', () => {
    const call = [
      '/etc/eks/bootstrap.sh c --kubelet-extra-args',
      '"--node-labels=a=1,node-lifecycle=$INSTANCE_LIFECYCLE,id=$INSTANCE_ID',
      '--register-with-taints=gpu=yes:NoSchedule,x:NoExecute --max-pods=29"',
    ].join(' ');
    const script = [
      '#!/bin/bash',
      'INSTANCE_ID=$(imds instance-id)',
      'INSTANCE_LIFECYCLE=$(imds instance-life-cycle)',
      call,
    ].join('\n');
    expect(readUserData(encodeBase64(script), instance)).toEqual({
      joins: true,
      clusterName: 'c',
      labels: {
        a: '1',
        'node-lifecycle': 'on-demand',
        id: 'i-02eccc7d3fa79fc6f',
      },
      taints: [
        { key: 'gpu', value: 'yes', effect: 'NoSchedule' },
        { key: 'x', effect: 'NoExecute' },
      ],
      maxPods: 29,
    });
  });
  const endpoint = 'https://e.eks.amazonaws.com:443';
  const ca = exampleAuthority;
  it.each([
    [
      'bootstrap.sh',
      `#!/bin/bash\nset -ex\n/etc/eks/bootstrap.sh \\\n  'my-c' --apiserver-endpoint ${endpoint}`,
    ],
    [
      'a NodeConfig',
      'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n' +
        `    apiServerEndpoint: ${endpoint}\n    name: "my-c"\n    cidr: 10.100.0.0/16\n` +
        `    certificateAuthority: ${ca}\n`,
    ],
    [
      'a table of settings',
      `[settings.kubernetes]\napi-server = "${endpoint}"\ncluster-name = "my-c"\n` +
        `cluster-certificate = "${ca}"\n`,
    ],
    [
      'dotted settings',
      `settings.kubernetes.cluster-name = 'my-c'\nsettings.kubernetes.api-server = '${endpoint}'\n` +
        `settings.kubernetes.cluster-certificate = '${ca}'\n`,
    ],
    [
      'PowerShell',
      `<powershell>\n& $EKSBootstrapScriptFile -EKSClusterName "my-c" ` +
        `-APIServerEndpoint "${endpoint}" -Base64ClusterCA "${ca}"\n</powershell>`,
    ],
  ])('names the cluster and its endpoint in %s', (_, text) => {
    expect(readUserData(encodeBase64(text), instance)).toMatchObject({
      joins: true,
      clusterName: 'my-c',
      endpoint,
    });
  });
  it('that puts the cluster’s name together names none', () => {
    const script = '#!/bin/sh\nCLUSTER=$(hostname)\n/etc/eks/bootstrap.sh "$CLUSTER"';
    const { joins, clusterName } = readUserData(encodeBase64(script), instance);
    expect([joins, clusterName]).toEqual([true, undefined]);
  });
  it.each([
    ['no interpreter', '/etc/eks/bootstrap.sh c', 'SH001'],
    [
      'a taint without effect',
      "#!/bin/sh\n/etc/eks/bootstrap.sh c --kubelet-extra-args '--register-with-taints=a=b'",
      'TN001',
    ],
    [
      'a reserved label',
      "#!/bin/sh\n/etc/eks/bootstrap.sh c --kubelet-extra-args '--node-labels=node-role.kubernetes.io/x='",
      'LB001',
    ],
    [
      'a NodeConfig without a cluster',
      'kind: NodeConfig\napiVersion: node.eks.aws/v1alpha1\nspec: {}\n',
      'NC002',
    ],
    [
      'a setting of another type',
      "settings.kubernetes.cluster-name = 'c'\nsettings.kubernetes.max-pods = '3'\n",
      'BR',
    ],
  ])('with %s makes a machine that never joins, and says which rule it breaks', (_, text, rule) => {
    const { joins, fault } = readUserData(encodeBase64(text), instance);
    expect(joins).toBe(false);
    expect(fault).toContain(rule);
  });
  it('that starts no kubelet makes a machine that never joins', () => {
    expect(readUserData(encodeBase64('#!/bin/sh\nyum -y update'), instance).joins).toBe(false);
    expect(readUserData(undefined, instance).joins).toBe(false);
  });
});

describe('instances', () => {
  it('are switched on at their host with the facts of their template', () => {
    const world = running();
    const machine = world.host.on.get(ids(world)[0] ?? '');
    expect(machine).toMatchObject({
      instanceType: 'm5.large',
      zone: 'eu-west-1a',
      cpus: 2,
      memoryMiB: 8192,
      maxPods: 29,
      nodeLabels: { team: 'red' },
      joins: true,
    });
    expect(machine?.privateDnsName).toBe(
      `ip-${machine?.privateIp.replaceAll('.', '-')}.eu-west-1.compute.internal`,
    );
  });

  it('do not join while the fault never-join covers them', () => {
    const world = aTestWorld();
    world.faults.inject('never-join', { group: 'g' });
    aGroup(world);
    world.advance(5);
    expect(world.host.on.get(ids(world)[0] ?? '')?.joins).toBe(false);
  });

  it('stop, start and reboot', () => {
    const world = running();
    const InstanceIds = [ids(world)[0] ?? ''];
    world.call('autoscaling', 'SuspendProcesses', { AutoScalingGroupName: 'g' });
    expect(world.call('ec2', 'StopInstances', { InstanceIds }).StoppingInstances).toMatchObject([
      { CurrentState: { Code: 64, Name: 'stopping' }, PreviousState: { Code: 16 } },
    ]);
    world.advance(10);
    world.call('ec2', 'StartInstances', { InstanceIds });
    world.advance(10);
    world.call('ec2', 'RebootInstances', { InstanceIds });
    expect(world.host.log.map((line) => line.split(' ')[0])).toEqual(['on', 'off', 'on', 'reboot']);
  });

  it('are shown for an hour after their end', () => {
    const world = running();
    const InstanceIds = [ids(world)[0] ?? ''];
    world.call('ec2', 'TerminateInstances', { InstanceIds });
    world.advance(3500);
    expect(world.aws.machines.instanceState(InstanceIds[0] ?? '')).toBe('terminated');
    world.advance(200);
    expect(world.refusal('ec2', 'DescribeInstances', { InstanceIds })).toBe(
      `InvalidInstanceID.NotFound: The instance ID '${InstanceIds[0]}' does not exist`,
    );
  });

  it('are found by filters with wildcards and tags', () => {
    const world = running(3);
    const find = (Name: string, ...Values: readonly string[]) =>
      world.call('ec2', 'DescribeInstances', { Filters: [{ Name, Values }] }).Reservations;
    expect(find('availability-zone', 'eu-west-1a', 'eu-west-1b')).toHaveLength(2);
    expect(find('tag:aws:autoscaling:groupName', 'g*')).toHaveLength(3);
    expect(find('instance-state-name', 'stopped')).toHaveLength(0);
    expect(
      world.refusal('ec2', 'DescribeInstances', { Filters: [{ Name: 'nope', Values: [] }] }),
    ).toBe("InvalidParameterValue: The filter 'nope' is invalid");
  });

  it('show their boot messages in base64', () => {
    const world = running();
    const [InstanceId = ''] = ids(world);
    const { Output } = world.call('ec2', 'GetConsoleOutput', { InstanceId });
    expect(atob(String(Output))).toBe(`boot of ${InstanceId}`);
  });
});

describe('launch templates', () => {
  it('have versions built on a source, and defaults that move', () => {
    const world = aTestWorld();
    aGroup(world, { desired: 0 });
    const LaunchTemplateName = 'g-template';
    world.call('ec2', 'CreateLaunchTemplateVersion', {
      LaunchTemplateName,
      SourceVersion: '1',
      LaunchTemplateData: { InstanceType: 'c5.large' },
    });
    const version = (Versions: readonly string[]) =>
      world.call('ec2', 'DescribeLaunchTemplateVersions', { LaunchTemplateName, Versions })
        .LaunchTemplateVersions?.[0];
    expect(version(['$Latest'])).toMatchObject({
      VersionNumber: 2,
      LaunchTemplateData: { InstanceType: 'c5.large', ImageId: expect.stringMatching(/^ami-/) },
    });
    expect(version(['$Default'])).toMatchObject({ VersionNumber: 1 });
    world.call('ec2', 'ModifyLaunchTemplate', { LaunchTemplateName, DefaultVersion: '2' });
    expect(version(['$Default'])).toMatchObject({ VersionNumber: 2, DefaultVersion: true });
  });
});

describe('DescribeLaunchTemplateVersions', () => {
  const aWorld = (): TestWorld => {
    const world = aTestWorld();
    aGroup(world, { desired: 0 });
    for (const InstanceType of ['c5.large', 'm5.xlarge', 'c5.xlarge']) {
      const LaunchTemplateData = { InstanceType };
      const input = { LaunchTemplateName: 'g-template', LaunchTemplateData };
      world.call('ec2', 'CreateLaunchTemplateVersion', input);
    }
    return world;
  };
  const asked = (world: TestWorld, more: object) =>
    world.call('ec2', 'DescribeLaunchTemplateVersions', {
      LaunchTemplateName: 'g-template',
      ...more,
    });
  const numbers = (world: TestWorld, more: object): readonly number[] =>
    asked(world, more).LaunchTemplateVersions?.map((one) => Number(one.VersionNumber)) ?? [];

  it.each<[string, object, readonly number[]]>([
    ['from a bound on', { MinVersion: '3' }, [4, 3]],
    ['up to a bound', { MaxVersion: '2' }, [2, 1]],
    ['between bounds', { MinVersion: '2', MaxVersion: '3' }, [3, 2]],
    ['beyond what exists', { MinVersion: '9' }, []],
    ['the newest', { Versions: ['$Latest'] }, [4]],
    ['the default', { Versions: ['$Default'] }, [1]],
    ['by number', { Versions: ['2', '3'] }, [2, 3]],
    ['by type', { Filters: [{ Name: 'instance-type', Values: ['c5.*'] }] }, [4, 2]],
    ['by default', { Filters: [{ Name: 'is-default-version', Values: ['true'] }] }, [1]],
  ])('shows versions %s', (_, input, expected) => {
    expect(numbers(aWorld(), input)).toEqual(expected);
  });

  it('goes page by page, within the bounds', () => {
    const world = aWorld();
    const first = asked(world, { MaxResults: 2, MinVersion: '2' });
    expect(first.LaunchTemplateVersions?.map((one) => one.VersionNumber)).toEqual([4, 3]);
    const NextToken = String(first.NextToken);
    expect(numbers(world, { MaxResults: 2, MinVersion: '2', NextToken })).toEqual([2]);
  });

  it('without a template shows the newest and default ones of all', () => {
    const world = aWorld();
    aGroup(world, { name: 'h', desired: 0 });
    const all = world.call('ec2', 'DescribeLaunchTemplateVersions', { Versions: ['$Latest'] });
    const shown = all.LaunchTemplateVersions?.map((one) => `${one.LaunchTemplateName}`);
    expect(shown).toEqual(['g-template', 'h-template']);
  });

  it.each<[string, object, RegExp]>([
    ['a page of 0', { MaxResults: 0 }, /^InvalidParameterValue.*between 1 and 200/],
    ['a page of 201', { MaxResults: 201 }, /^InvalidParameterValue/],
    ['a bound that is not a number', { MinVersion: '$Latest' }, /^InvalidParameterValue/],
    ['bounds beside versions', { MinVersion: '1', Versions: ['2'] }, /^InvalidParameterComb/],
    ['a number without a template', { LaunchTemplateName: undefined }, /^MissingParameter/],
  ])('refuses %s', (_, more, refused) => {
    const input = { LaunchTemplateName: 'g-template', ...more };
    expect(aWorld().refusal('ec2', 'DescribeLaunchTemplateVersions', input)).toMatch(refused);
  });
});

describe('public parameters', () => {
  it('name the plain Amazon Linux images, which EC2 describes and starts', () => {
    const world = aTestWorld();
    const Path = '/aws/service/ami-amazon-linux-latest';
    const kernel = 'al2023-ami-kernel-6.1-x86_64';
    const known = world.call('ssm', 'GetParameters', { Names: [`${Path}/${kernel}`] });
    const imageId = String(known.Parameters?.[0]?.Value);
    const described = world.call('ec2', 'DescribeImages', { ImageIds: [imageId] });
    expect(described.Images).toMatchObject([
      { Architecture: 'x86_64', Name: expect.stringMatching(/^al2023-ami-2023\.9\..*kernel-6\.1/) },
    ]);
    const alias = `${Path}/al2023-ami-kernel-default-x86_64`;
    expect(world.call('ssm', 'GetParameter', { Name: alias }).Parameter?.Value).toBe(imageId);
    const page = { Path, MaxResults: 10 };
    const first = world.call('ssm', 'GetParametersByPath', page);
    const rest = world.call('ssm', 'GetParametersByPath', { ...page, NextToken: first.NextToken });
    const names = [...(first.Parameters ?? []), ...(rest.Parameters ?? [])].map((one) => one.Name);
    expect(names).toContain(`${Path}/amzn2-ami-hvm-arm64-gp2`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('DescribeInstanceAttribute', () => {
  it('shows one attribute of an instance', () => {
    const world = running();
    const [InstanceId = ''] = ids(world);
    const ask = (Attribute: string) =>
      world.call('ec2', 'DescribeInstanceAttribute', { InstanceId, Attribute });
    expect(ask('instanceType')).toEqual({ InstanceId, InstanceType: { Value: 'm5.large' } });
    expect(atob(String(ask('userData').UserData?.Value))).toContain('bootstrap.sh');
    const input = { InstanceId, Attribute: 'kernel' };
    expect(world.refusal('ec2', 'DescribeInstanceAttribute', input)).toMatch(
      /^InvalidParameterValue: Value \(kernel\)/,
    );
  });
});

describe('rules of security groups', () => {
  it('are shown one by one, those that no one authorized too', () => {
    const world = aTestWorld();
    const VpcId = world.parts.network.vpcs()[0]?.vpcId;
    const made = { GroupName: 's', Description: 'd', VpcId };
    const { GroupId } = world.call('ec2', 'CreateSecurityGroup', made);
    const IpPermissions = [
      { IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: '10.0.0.0/8' }] },
    ];
    world.call('ec2', 'AuthorizeSecurityGroupIngress', { GroupId, IpPermissions });
    const Filters = [{ Name: 'group-id', Values: [GroupId] }];
    const shown = world.call('ec2', 'DescribeSecurityGroupRules', { Filters }).SecurityGroupRules;
    expect(shown).toMatchObject([
      { GroupId, IsEgress: false, FromPort: 22, CidrIpv4: '10.0.0.0/8' },
      { GroupId, IsEgress: true, IpProtocol: '-1', CidrIpv4: '0.0.0.0/0' },
    ]);
    const SecurityGroupRuleIds = [String(shown?.[0]?.SecurityGroupRuleId)];
    const one = world.call('ec2', 'DescribeSecurityGroupRules', { SecurityGroupRuleIds });
    expect(one.SecurityGroupRules).toHaveLength(1);
  });
});

describe('chance', () => {
  const story = (seed: number): string => {
    const world = aTestWorld({ seed, timings: { deliveryMs: [20, 900] } });
    world.faults.inject('message-duplicate', {});
    aGroup(world, { desired: 6 });
    world.advance(30);
    world.kernel.checkpoint();
    return JSON.stringify(world.kernel.tables.takeChanges());
  };
  it('gives the same state for the same seed, and another for another', () => {
    expect(story(7)).toBe(story(7));
    expect(story(7)).not.toBe(story(8));
  });
});
