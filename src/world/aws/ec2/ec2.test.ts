import { describe, expect, it } from 'vitest';
import { exampleAuthority } from '../../../formats/index.ts';
import { aGroup, aTestWorld, type TestWorld } from '../testing.ts';
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
