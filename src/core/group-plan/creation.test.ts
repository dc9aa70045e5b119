// What is created for a node group, in which order, and why nothing is.
import { describe, expect, it } from 'vitest';
import { aGroupSpec } from '../../../test/builders/controllers.ts';
import { type NodeGroupSpec, ownerTag } from '../../api/nodegroup.ts';
import { type CreationObservation, decideCreation } from './creation.ts';

const own = { [ownerTag]: 'u1' };
const image = { id: 'ami-1', name: 'amazon-eks-node-al2023-x86_64-standard-1.33-v20260101' };
const types = [{ name: 'm5.large', interfaces: 3, addressesPerInterface: 10 }];

const reads = {
  source: undefined,
  images: [{ ...image, description: 'k8s: 1.33.1' }],
  otherImages: [],
  types,
  cluster: undefined,
  remoteAccess: undefined,
};

const observed = (
  more: Partial<CreationObservation> = {},
  spec: Partial<NodeGroupSpec> = {},
): CreationObservation => {
  const { autoScalingGroupName: _, ...rest } = aGroupSpec({
    nodeRole: 'arn:aws:iam::1:role/nodes',
    scaling: { minSize: 1, maxSize: 3, desired: 2 },
    ...spec,
  });
  return {
    group: {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name: 'ng', uid: 'u1', resourceVersion: '1', creationTimestamp: '' },
      spec: rest,
    },
    compat: 'native',
    cluster: undefined,
    subnets: [{ id: 'subnet-1', availabilityZone: 'eu-west-1a', vpcId: 'vpc-1', freeAddresses: 9 }],
    profile: undefined,
    template: undefined,
    reads,
    sources: [],
    securityGroup: undefined,
    ...more,
  };
};

const kinds = (observation: CreationObservation): readonly string[] =>
  decideCreation(observation).plan.steps.map(({ kind }) => kind);

const all = ['AuthorizeRole', 'EnsureProfile', 'CreateTemplate', 'CreateGroup'];
const withKey = { remoteAccess: { ec2SshKey: 'mine' } };
const securityGroup = { id: 'sg-1', name: 'ra', vpcId: 'vpc-1', tags: own };
const profile = { name: 'eks-u1', roles: ['nodes'], tags: own };
const template = {
  id: 'lt-1',
  name: 'eks-u1',
  version: '1',
  tags: own,
  data: { ImageId: 'ami-0' },
};

describe('the creation of a node group', () => {
  it.each<[string, CreationObservation, readonly string[]]>([
    ['everything, the role first', observed(), all],
    [
      'what a crashed process left out',
      observed({ profile, template }),
      ['AuthorizeRole', 'CreateGroup'],
    ],
    [
      'the security group before the template that names it',
      observed({}, withKey),
      ['AuthorizeRole', 'EnsureProfile', 'CreateSecurityGroup'],
    ],
    [
      'the rest once the security group exists',
      observed({ securityGroup }, withKey),
      ['AuthorizeRole', 'EnsureProfile', 'AllowIngress', 'CreateTemplate', 'CreateGroup'],
    ],
  ])('plans %s', (_, observation, expected) => {
    expect(kinds(observation)).toEqual(expected);
  });

  it('reports the revision that it launches, not before its group is created', () => {
    expect(decideCreation(observed()).made).toEqual({
      imageId: 'ami-1',
      releaseVersion: '1.33.1-20260101',
    });
    expect(decideCreation(observed({ template })).made).toEqual({ imageId: 'ami-0' });
    expect(decideCreation(observed({}, withKey)).made).toBeUndefined();
  });

  it('opens port 22 to the named groups, or else to all addresses', () => {
    const ruleFor = (sources: readonly string[]) => {
      const remoteAccess = { ec2SshKey: 'mine', sourceSecurityGroups: sources };
      const { plan } = decideCreation(observed({ securityGroup, sources }, { remoteAccess }));
      const step = plan.steps.find(({ kind }) => kind === 'AllowIngress');
      return step?.kind === 'AllowIngress' ? step.rule : undefined;
    };
    expect(ruleFor(['sg-9'])).toEqual({ port: 22, groups: ['sg-9'], cidrs: [] });
    expect(ruleFor([])).toEqual({ port: 22, groups: [], cidrs: ['0.0.0.0/0'] });
  });

  it('notifies EKS’ topic with compat eks only', () => {
    const hooksOf = (compat: 'eks' | 'native') => {
      const step = decideCreation(observed({ compat })).plan.steps.at(-1);
      return step?.kind === 'CreateGroup' ? step.group.hooks : [];
    };
    const topic = 'arn:aws:sns:eu-west-1:346952985317:eks-asg-lifecycle-hook-topic';
    expect(hooksOf('eks').map(({ notificationTarget }) => notificationTarget)).toEqual([
      topic,
      topic,
    ]);
    expect(hooksOf('native').map(({ notificationTarget }) => notificationTarget)).toEqual([
      undefined,
      undefined,
    ]);
  });

  const cluster = { endpoint: 'https://e', certificateAuthority: '', serviceCidr: 'fd00::/108' };
  const launchTemplate = { id: 'lt-9', name: 'theirs', version: '3' };
  it.each<[string, CreationObservation, string, RegExp]>([
    [
      'Windows nodes in a cluster with IPv6',
      observed({ cluster }, { amiType: 'WINDOWS_CORE_2022_x86_64' }),
      'NodeCreationFailure',
      /Windows nodes have no IPv6 addresses.*nothing is launched\. Use a cluster of the IPv4 family/,
    ],
    ['no subnet', observed({ subnets: [] }), 'Ec2SubnetNotFound', /'subnet-1' does not exist/],
    [
      'another owner’s profile',
      observed({ profile: { ...profile, tags: {} } }),
      'IamInstanceProfileNotFound',
      /is not this node group's/,
    ],
    [
      'a profile with another role',
      observed({ profile: { ...profile, roles: ['b'] } }),
      'IamInstanceProfileNotFound',
      /has the role b, not nodes/,
    ],
    [
      'no such source of remote access',
      observed({}, { remoteAccess: { ec2SshKey: 'mine', sourceSecurityGroups: ['sg-9'] } }),
      'Ec2SecurityGroupNotFound',
      /'sg-9' does not exist/,
    ],
    [
      'another owner’s template',
      observed({ template: { ...template, tags: {} } }),
      'Ec2LaunchTemplateInvalidConfiguration',
      /is not this node group's/,
    ],
    [
      'no such template of the user',
      observed({}, { launchTemplate }),
      'Ec2LaunchTemplateNotFound',
      /lt-9 version 3 could not be found/,
    ],
    [
      'instance types in two places',
      observed(
        {
          reads: {
            ...reads,
            source: { ...launchTemplate, tags: {}, data: { InstanceType: 'm5.large' } },
          },
        },
        { launchTemplate },
      ),
      'Ec2LaunchTemplateInvalidConfiguration',
      /instance type/i,
    ],
    [
      'no such instance type',
      observed({ reads: { ...reads, types: [] } }),
      'Ec2InstanceTypeDoesNotExist',
      /\[m5\.large\]/,
    ],
    [
      'no such release',
      observed({ reads: { ...reads, images: [], otherImages: reads.images } }),
      'AmiIdNotFound',
      /The newest of AL2023_x86_64_STANDARD is 1\.33\.1-20260101/,
    ],
    ['an unknown family', observed({}, { amiType: 'NEW' }), 'AmiIdNotFound', /no image for NEW/],
    [
      'no such instance type, before the security group of remote access',
      observed({ reads: { ...reads, types: [] } }, withKey),
      'Ec2InstanceTypeDoesNotExist',
      /\[m5\.large\]/,
    ],
  ])('is refused with %s, and nothing is created', (_, observation, code, message) => {
    const { steps, refusal } = decideCreation(observation).plan;
    expect([steps, refusal?.code]).toEqual([[], code]);
    expect(refusal?.message).toMatch(message);
  });

  it.each([
    ['WINDOWS_CORE_2022_x86_64', '10.100.0.0/16'],
    ['AL2023_x86_64_STANDARD', 'fd00::/108'],
  ])('of %s is made in a cluster with %s', (amiType, serviceCidr) => {
    const windows = 'Windows_Server-2022-English-Core-EKS_Optimized-1.33-20260101';
    const images = [
      { ...image, description: '' },
      { id: 'ami-2', name: windows, description: '' },
    ].filter(({ name }) => name.startsWith('Windows') === amiType.startsWith('WINDOWS'));
    const found = { cluster: { ...cluster, serviceCidr }, reads: { ...reads, images } };
    const release = amiType.startsWith('WINDOWS') ? '1.33-20260101' : '1.33.0-20260101';
    expect(kinds(observed(found, { amiType, releaseVersion: release }))).toEqual(all);
  });
});
