// Stacks with eksctl's structure, and user data per family.
import { describe, expect, it } from 'vitest';
import { groupOf, parseClusterConfig } from '../../formats/index.ts';
import { clusterStack, zoneBlocks } from './cluster-stack.ts';
import { architectureOf, defaultFamily, familyNamed } from './images.ts';
import { type NodeGroupStackFacts, nodeGroupStack } from './node-group-stack.ts';
import { userDataOf } from './user-data.ts';

const facts: NodeGroupStackFacts = {
  cluster: 'c1',
  endpoint: 'https://api',
  certificateAuthority: 'Q0E=',
  serviceCidr: '10.100.0.0/16',
  vpcId: 'vpc-1',
  clusterSecurityGroupId: 'sg-1',
  subnetIds: ['subnet-a', 'subnet-b'],
  family: 'AmazonLinux2',
  imageId: 'ami-1',
};
const managed = (more: object = {}) => groupOf({ name: 'blue', ...more }, 'managed');
const own = (more: object = {}) => groupOf({ name: 'blue', ...more }, 'self-managed');
const resources = (stack: {
  template: object;
}): Record<string, { Type: string; Properties: Record<string, unknown> }> =>
  (stack.template as { Resources: never }).Resources;

describe('a managed group', () => {
  it('is a launch template, an EKS nodegroup and a role', () => {
    const stack = nodeGroupStack(facts, managed());
    expect(stack.name).toBe('eksctl-c1-nodegroup-blue');
    expect(Object.entries(resources(stack)).map(([id, { Type }]) => [id, Type])).toEqual([
      ['LaunchTemplate', 'AWS::EC2::LaunchTemplate'],
      ['ManagedNodeGroup', 'AWS::EKS::Nodegroup'],
      ['NodeInstanceRole', 'AWS::IAM::Role'],
    ]);
    expect(resources(stack).ManagedNodeGroup?.Properties).toMatchObject({
      AmiType: 'AL2_x86_64',
      ScalingConfig: { MinSize: 2, MaxSize: 2, DesiredSize: 2 },
      Labels: { 'alpha.eksctl.io/cluster-name': 'c1', 'alpha.eksctl.io/nodegroup-name': 'blue' },
    });
  });

  it('carries repair, update settings, taints and spot in CloudFormation words', () => {
    const group = managed({
      spot: true,
      taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
      updateConfig: { maxUnavailable: 1 },
      nodeRepairConfig: { enabled: true, nodeRepairConfigOverrides: [{ repairAction: 'Reboot' }] },
    });
    expect(resources(nodeGroupStack(facts, group)).ManagedNodeGroup?.Properties).toMatchObject({
      CapacityType: 'SPOT',
      Taints: [{ Key: 'k', Value: 'v', Effect: 'NO_SCHEDULE' }],
      UpdateConfig: { MaxUnavailable: 1 },
      NodeRepairConfig: {
        Enabled: true,
        NodeRepairConfigOverrides: [{ RepairAction: 'Reboot' }],
      },
    });
  });

  it("uses the user's own template and role instead of making them", () => {
    const group = managed({
      launchTemplate: { id: 'lt-12345678', version: '3' },
      iam: { instanceRoleARN: 'arn:aws:iam::1:role/r' },
    });
    const made = resources(nodeGroupStack(facts, group));
    expect(Object.keys(made)).toEqual(['ManagedNodeGroup']);
    expect(made.ManagedNodeGroup?.Properties).toMatchObject({
      LaunchTemplate: { Id: 'lt-12345678', Version: '3' },
      NodeRole: 'arn:aws:iam::1:role/r',
    });
  });
});

describe('a self-managed group', () => {
  it('is a plain Auto Scaling group without hooks, with a key and its door', () => {
    const group = own({ desiredCapacity: 1, ssh: { allow: true, publicKeyName: 'maowang' } });
    const stack = nodeGroupStack(facts, group);
    expect(Object.values(resources(stack)).map(({ Type }) => Type)).toEqual([
      'AWS::AutoScaling::AutoScalingGroup',
      'AWS::EC2::LaunchTemplate',
      'AWS::IAM::InstanceProfile',
      'AWS::IAM::Role',
      'AWS::EC2::SecurityGroup',
    ]);
    expect(resources(stack).NodeGroup?.Properties).toMatchObject({
      DesiredCapacity: '1',
      MinSize: '1',
      MaxSize: '1',
      VPCZoneIdentifier: ['subnet-a', 'subnet-b'],
    });
    const data = resources(stack).NodeGroupLaunchTemplate?.Properties.LaunchTemplateData;
    expect(data).toMatchObject({ ImageId: 'ami-1', KeyName: 'maowang', InstanceType: 'm5.large' });
  });
});

describe('user data of a self-managed group', () => {
  const group = own({
    labels: { team: 'a' },
    taints: [
      { key: 'k', value: 'v', effect: 'NoSchedule' },
      { key: 'k', effect: 'NoExecute' },
    ],
    preBootstrapCommands: ['echo first'],
  });

  it.each([
    [
      'shell',
      /^#!\/bin\/bash\nset -ex\necho first\n[\s\S]*--node-labels=alpha\.eksctl\.io\/cluster-name=c1,alpha\.eksctl\.io\/nodegroup-name=blue,team=a,node-lifecycle=\$INSTANCE_LIFECYCLE,alpha\.eksctl\.io\/instance-id=\$INSTANCE_ID --register-with-taints=k=v:NoSchedule,k=:NoExecute"\n\/etc\/eks\/bootstrap\.sh c1 /,
    ],
    [
      'node-config',
      /boundary="\/\/"\n\n--\/\/\nContent-Type: text\/x-shellscript[^\n]*\n\n#!\/bin\/bash\nset -ex\necho first\n\n--\/\/\nContent-Type: application\/node\.eks\.aws\n\n---\napiVersion: node\.eks\.aws\/v1alpha1\nkind: NodeConfig\n[\s\S]*cidr: 10\.100\.0\.0\/16\n[\s\S]*team=a"\n[\s\S]*\n--\/\/--\n$/,
    ],
    [
      'settings',
      /^settings\.kubernetes\.cluster-name = 'c1'\n[\s\S]*\.node-labels\.'team' = 'a'\nsettings\.kubernetes\.node-taints\.'k' = \['v:NoSchedule', ':NoExecute'\]\n$/,
    ],
    [
      'powershell',
      /^<powershell>\necho first\n[\s\S]*-EKSClusterName "c1" [\s\S]*team=a[\s\S]*<\/powershell>\n$/,
    ],
  ] as const)('%s', (kind, expected) => {
    expect(userDataOf(kind, facts, group)).toMatch(expected);
  });

  it.each([
    ['shell', 'team=a\\"\\$(id)\\`,node-lifecycle=$INSTANCE_LIFECYCLE,'],
    ['shell', `/etc/eks/bootstrap.sh 'c$(id)' --kubelet-extra-args "$KUBELET_ARGS"`],
    ['node-config', '    name: "c$(id)"\n'],
    ['node-config', ',team=a\\"$(id)`"\n'],
    ['powershell', '-EKSClusterName "c`$(id)" '],
    ['powershell', ',team=a`"`$(id)``"'],
  ] as const)('%s: strange text is told, never run: %s', (kind, line) => {
    const strange = own({ labels: { team: 'a"$(id)`' } });
    expect(userDataOf(kind, { ...facts, cluster: 'c$(id)' }, strange)).toContain(line);
  });
});

describe('images', () => {
  it.each([
    ['m5.large', 'x86_64'],
    ['m6g.large', 'arm64'],
    ['c7gn.xlarge', 'arm64'],
    ['t4g.small', 'arm64'],
    ['g4dn.xlarge', 'x86_64'],
    ['a1.medium', 'arm64'],
    ['m5dn.large', 'x86_64'],
  ])('%s is %s', (type, architecture) => {
    expect(architectureOf(type)).toBe(architecture);
  });

  it('Amazon Linux 2 ends with Kubernetes 1.32', () => {
    expect(['1.22', '1.32', '1.33'].map(defaultFamily)).toEqual([
      'AmazonLinux2',
      'AmazonLinux2',
      'AmazonLinux2023',
    ]);
  });

  it('names the parameters that the vendors publish', () => {
    const parameter = (family: string) => familyNamed(family)?.parameter?.('1.32', 'x86_64');
    expect(parameter('AmazonLinux2')).toBe(
      '/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id',
    );
    expect(parameter('Bottlerocket')).toBe(
      '/aws/service/bottlerocket/aws-k8s-1.32/x86_64/latest/image_id',
    );
    expect(parameter('WindowsServer2022FullContainer')).toMatch(
      /2022-English-Full-EKS_Optimized-1\.32/,
    );
  });
});

describe('a cluster', () => {
  const config = (text: string) => {
    const head = 'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\n';
    const result = parseClusterConfig(`${head}metadata: {name: c1, region: eu-west-1}\n${text}`);
    if (result.kind === 'ok') return result.config;
    throw new Error(JSON.stringify(result.faults));
  };
  const zones = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'];

  it('cuts its network as eksctl does: public blocks first, then private ones', () => {
    expect(zoneBlocks('192.168.0.0/16', zones)).toEqual([
      { zone: 'eu-west-1a', publicCidr: '192.168.0.0/19', privateCidr: '192.168.96.0/19' },
      { zone: 'eu-west-1b', publicCidr: '192.168.32.0/19', privateCidr: '192.168.128.0/19' },
      { zone: 'eu-west-1c', publicCidr: '192.168.64.0/19', privateCidr: '192.168.160.0/19' },
    ]);
  });

  it('has subnets of its own in every zone, and the log streams that were asked for', () => {
    const made = resources(
      clusterStack(config('cloudWatch: {clusterLogging: {enableTypes: [audit]}}'), { zones }),
    );
    expect(Object.values(made).filter(({ Type }) => Type === 'AWS::EC2::Subnet')).toHaveLength(6);
    expect(made.ControlPlane?.Properties).toMatchObject({
      Logging: { ClusterLogging: { EnabledTypes: [{ Type: 'audit' }] } },
    });
  });

  it('uses the network that is named, and makes none', () => {
    const text = 'vpc: {id: vpc-01234567, subnets: {private: {x: {id: subnet-01234567}}}}';
    const made = resources(clusterStack(config(text), { zones }));
    expect(Object.values(made).map(({ Type }) => Type)).not.toContain('AWS::EC2::VPC');
    expect(made.ControlPlane?.Properties).toMatchObject({
      ResourcesVpcConfig: { SubnetIds: ['subnet-01234567'] },
    });
  });
});
