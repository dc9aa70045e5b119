// Each supported field of a ClusterConfig changes the template.
import { describe, expect, it } from 'vitest';
import { type ClusterConfig, parseClusterConfig } from '../../formats/index.ts';
import { clusterStack } from './cluster-stack.ts';
import { type NodeGroupStackFacts, nodeGroupStack } from './node-group-stack.ts';

const head = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c1, region: eu-west-1}
`;
const config = (text: string): ClusterConfig => {
  const result = parseClusterConfig(`${head}${text}`);
  if (result.kind === 'ok') return result.config;
  throw new Error(JSON.stringify(result.faults));
};
type Resources = Record<string, { Type: string; Properties: Record<string, unknown> }>;
const resources = (stack: { template: object }): Resources =>
  (stack.template as { Resources: Resources }).Resources;

const cluster = (text: string): Resources =>
  resources(clusterStack(config(text), { zones: ['eu-west-1a', 'eu-west-1b'] }));
const facts: NodeGroupStackFacts = {
  cluster: 'c1',
  endpoint: 'https://api',
  certificateAuthority: 'Q0E=',
  serviceCidr: '10.100.0.0/16',
  vpcId: 'vpc-1',
  clusterSecurityGroupId: 'sg-1',
  subnetIds: ['subnet-a'],
  family: 'AmazonLinux2',
  imageId: 'ami-1',
};
const group = (fields: string, family = 'AmazonLinux2', kind = 'managedNodeGroups'): Resources => {
  const [only] = config(`${kind}: [{name: a, ${fields}}]`).groups;
  if (only === undefined) throw new Error('no group');
  return resources(nodeGroupStack({ ...facts, family }, only));
};
const dataOf = (made: Resources): Record<string, unknown> =>
  made.LaunchTemplate?.Properties.LaunchTemplateData as Record<string, unknown>;
const userData = (made: Resources): string =>
  (dataOf(made).UserData as { 'Fn::Base64': string })['Fn::Base64'];

describe('a cluster', () => {
  it('takes a role of the user, and makes none', () => {
    const role = 'arn:aws:iam::111122223333:role/r';
    const made = cluster(`iam: {serviceRoleARN: '${role}'}`);
    expect(made.ControlPlane?.Properties).toMatchObject({ RoleArn: role });
    expect(made).not.toHaveProperty('ServiceRole');
  });

  it('bounds the role that it makes', () => {
    const boundary = 'arn:aws:iam::111122223333:policy/b';
    const made = cluster(`iam: {serviceRolePermissionsBoundary: '${boundary}'}`);
    expect(made.ServiceRole?.Properties).toMatchObject({ PermissionsBoundary: boundary });
  });

  it('takes a security group of the user, and makes none for the control plane', () => {
    const network = 'id: vpc-01234567, subnets: {private: {x: {id: subnet-01234567}}}';
    const made = cluster(`vpc: {${network}, securityGroup: sg-01234567}`);
    expect(made.ControlPlane?.Properties).toMatchObject({
      ResourcesVpcConfig: { SecurityGroupIds: ['sg-01234567'] },
    });
    expect(made).not.toHaveProperty('ControlPlaneSecurityGroup');
    expect(made).toHaveProperty('ClusterSharedNodeSecurityGroup');
  });

  it.each([
    ['vpc: {}', 1, 2],
    ['vpc: {nat: {gateway: Single}}', 1, 2],
    ['vpc: {nat: {gateway: Disable}}', 0, 0],
  ])('%s: %i gateways, %i private routes through one', (text, gateways, routes) => {
    const made = Object.values(cluster(text));
    const typed = (type: string) => made.filter(({ Type }) => Type === type);
    expect(typed('AWS::EC2::NatGateway')).toHaveLength(gateways);
    expect(typed('AWS::EC2::EIP')).toHaveLength(gateways);
    const through = typed('AWS::EC2::Route').filter((one) => 'NatGatewayId' in one.Properties);
    expect(through).toHaveLength(routes);
  });

  it('limits who reaches its endpoint, and starts without add-ons when asked to', () => {
    const text =
      'vpc: {publicAccessCIDRs: [10.1.0.0/16]}\naddonsConfig: {disableDefaultAddons: true}';
    expect(cluster(text).ControlPlane?.Properties).toMatchObject({
      ResourcesVpcConfig: { PublicAccessCidrs: ['10.1.0.0/16'] },
      BootstrapSelfManagedAddons: false,
    });
    expect(cluster('vpc: {}').ControlPlane?.Properties).not.toHaveProperty(
      'BootstrapSelfManagedAddons',
    );
  });
});

describe('a node group', () => {
  it.each([
    ['volumeEncrypted: true', { BlockDeviceMappings: [{ Ebs: { Encrypted: true } }] }],
    ['volumeEncrypted: false', { BlockDeviceMappings: [{ Ebs: { Encrypted: false } }] }],
    ['disablePodIMDS: true', { MetadataOptions: { HttpPutResponseHopLimit: 1 } }],
    ['disablePodIMDS: false', { MetadataOptions: { HttpPutResponseHopLimit: 2 } }],
    ['disableIMDSv1: false', { MetadataOptions: { HttpTokens: 'optional' } }],
    ['disableIMDSv1: true', { MetadataOptions: { HttpTokens: 'required' } }],
  ])('%s', (fields, expected) => {
    expect(dataOf(group(fields))).toMatchObject(expected);
  });

  it('lets SSH in from the groups that are named, and from nowhere else', () => {
    const made = group('ssh: {allow: true, sourceSecurityGroupIds: [sg-01234567, sg-12345678]}');
    const rules = made.SSH?.Properties.SecurityGroupIngress as Record<string, unknown>[];
    expect(rules.map((rule) => [rule.SourceSecurityGroupId, rule.CidrIp])).toEqual([
      ['sg-01234567', undefined],
      ['sg-12345678', undefined],
    ]);
  });

  it('attaches the policies that are named instead of its own, and the SSM agent’s', () => {
    const policy = 'arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy';
    const made = group(`iam: {attachPolicyARNs: ['${policy}']}`);
    expect(made.NodeInstanceRole?.Properties.ManagedPolicyArns).toEqual([
      policy,
      { 'Fn::Sub': `arn:\${AWS::Partition}:iam::aws:policy/AmazonSSMManagedInstanceCore` },
    ]);
  });

  it.each([
    ['AmazonLinux2', /^#!\/bin\/bash\nset -ex\necho 1\nKUBELET_ARGS='[\s\S]*--max-pods=20'\n/],
    ['AmazonLinux2023', /echo 1\n[\s\S]*kind: NodeConfig\n[\s\S]*maxPods: 20\n/],
    ['WindowsServer2022CoreContainer', /^<powershell>\necho 1\n[\s\S]*--max-pods=20"\n/],
  ])('with an image of the user’s own joins as %s does', (family, expected) => {
    const fields = 'ami: ami-01234567, preBootstrapCommands: [echo 1], maxPodsPerNode: 20';
    const made = group(fields, family);
    expect(dataOf(made)).toMatchObject({ ImageId: 'ami-01234567' });
    expect(userData(made)).toMatch(expected);
    expect(userData(made)).toContain('eks.amazonaws.com/nodegroup=a,');
    expect(userData(made)).not.toContain('node-lifecycle');
  });

  it('with an image and a bootstrap of the user’s own has that one alone', () => {
    expect(userData(group('ami: ami-01234567, overrideBootstrapCommand: join me'))).toBe('join me');
  });

  it('with an image of EKS has no user data: EKS writes it', () => {
    expect(dataOf(group('volumeSize: 30'))).not.toHaveProperty('UserData');
  });

  it('never gets the bootstrap of another family', () => {
    expect(() => group('desiredCapacity: 1', 'Ubuntu2204', 'nodeGroups')).toThrow(
      /no bootstrap of/,
    );
  });
});
