// The rows of a demo group: its template, its Auto Scaling group and their tags. Calls no service.
import type { GroupTag, TemplateUse } from '../autoscaling/rows.ts';
import { component as groupComponent } from '../autoscaling/store.ts';
import { instanceTypes, maxPodsOf } from '../ec2/instance-types.ts';
import { encodeBase64 } from '../ec2/user-data.ts';
import type { AwsParts } from '../parts.ts';
import { sentence, upperSuffix } from '../scope.ts';
import type { Foundation } from './foundation.ts';

export interface DemoGroup {
  readonly name: string;
  readonly isManaged: boolean;
  readonly min: number;
  readonly max: number;
  readonly desired: number;
  readonly instanceType: string;
  /** Zone letters of the first instances, in rotation; default: all zones of the VPC. */
  readonly zones?: readonly string[];
  /** The group has subnets in these zones only; else only its first instances start there. */
  readonly isZonal?: boolean;
  readonly capacityType?: 'ON_DEMAND' | 'SPOT';
  /** Number of image releases behind the newest; default 0. */
  readonly releasesBehind?: number;
}

/** The public subnets of the group's zones. */
export const subnetsOf = (
  { foundation }: Pick<DemoContext, 'foundation'>,
  { zones, isZonal = false }: DemoGroup,
): readonly string[] =>
  foundation.publicSubnets
    .filter(({ zone }) => !isZonal || (zones ?? []).some((letter) => zone.endsWith(letter)))
    .map(({ subnetId }) => subnetId);

export interface DemoContext {
  readonly parts: AwsParts;
  readonly foundation: Foundation;
  readonly clusterName: string;
  /** Minor version. */
  readonly version: string;
  readonly amiType: string;
  readonly keyName: string;
}

export const component = 'aws.demo';
export const nodePolicies = [
  'AmazonEKSWorkerNodePolicy',
  'AmazonEKS_CNI_Policy',
  'AmazonEC2ContainerRegistryReadOnly',
  'AmazonSSMManagedInstanceCore',
].map((name) => `arn:aws:iam::aws:policy/${name}`);

export const suffix = ({ parts }: DemoContext, length = 13): string =>
  upperSuffix(parts.scope.kernel.random(component), length);

export const stackNameOf = (context: DemoContext, group: DemoGroup): string =>
  `eksctl-${context.clusterName}-nodegroup-${group.name}`;

/**
 * CloudFormation truncates the stack's name to keep the role's name within its limit (article 002).
 */
export const addRole = (context: DemoContext, stackName: string) => {
  const name = `${stackName.slice(0, 38)}-NodeInstanceRole-${suffix(context)}`;
  const arn = context.parts.identity.addRole({
    name,
    service: 'ec2.amazonaws.com',
    policyArns: nodePolicies,
  });
  return { name, arn };
};

export const imageOf = (context: DemoContext, group: DemoGroup) => {
  const releases = context.parts.images.releases(context.amiType, context.version);
  const image = releases[group.releasesBehind ?? 0];
  if (image !== undefined) return image;
  throw new Error(`no image of ${context.amiType} for Kubernetes ${context.version}`);
};

export const maxPods = (instanceType: string): number => {
  const type = instanceTypes.get(instanceType);
  if (type !== undefined) return maxPodsOf(type);
  throw new Error(`instance type ${instanceType} is not known to the world`);
};

export const labelFlags = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

export const addGroup = (
  context: DemoContext,
  group: DemoGroup,
  facts: {
    readonly name: string;
    readonly template: TemplateUse;
    readonly tags: readonly GroupTag[];
    readonly gracePeriodSeconds: number;
  },
): void => {
  const { scope, store } = context.parts;
  const id = scope.uuid(groupComponent);
  store.putGroup({
    ...facts,
    arn: scope.arn('autoscaling', `autoScalingGroup:${id}:autoScalingGroupName/${facts.name}`),
    min: group.min,
    max: group.max,
    desired: group.desired,
    createdAt: scope.now(),
    subnetIds: subnetsOf(context, group),
    suspended: [],
    healthCheckType: 'EC2',
    cooldownSeconds: 300,
    protectsNew: false,
    capacityRebalance: group.capacityType === 'SPOT',
    terminationPolicies: group.isManaged
      ? ['AllocationStrategy', 'OldestLaunchTemplate', 'OldestInstance']
      : ['Default'],
    isDeleting: false,
    cause: sentence(
      `${store.at()} a user request created an AutoScalingGroup changing the desired`,
      `capacity from 0 to ${group.desired}.`,
    ),
    isScalingQueued: false,
    failures: 0,
    retry: 0,
    replacing: 0,
  });
};

/** The group's first instances, running and in service from the start. */
export const settle = (
  context: DemoContext,
  group: DemoGroup,
  autoScalingGroupName: string,
): void => {
  const { engine, store, network, scope } = context.parts;
  const zones =
    group.zones?.map((letter) => `${scope.region}${letter}`) ??
    network.zones().map((one) => one.zone);
  for (let i = 0; i < group.desired; i++) {
    engine.settle(autoScalingGroupName, zones[i % zones.length] ?? '');
  }
  store.patchGroup(autoScalingGroupName, { cause: '' });
};

export const stackTags = (context: DemoContext, group: DemoGroup) => ({
  'alpha.eksctl.io/cluster-name': context.clusterName,
  'alpha.eksctl.io/cluster-oidc-enabled': 'false',
  'alpha.eksctl.io/eksctl-version': '0.215.0',
  'alpha.eksctl.io/nodegroup-name': group.name,
  'alpha.eksctl.io/nodegroup-type': group.isManaged ? 'managed' : 'unmanaged',
  'eksctl.cluster.k8s.io/v1alpha1/cluster-name': context.clusterName,
  'eksctl.io/v1alpha2/nodegroup-name': group.name,
});

export const propagated = (tags: Readonly<Record<string, string>>): readonly GroupTag[] =>
  Object.entries(tags).map(([key, value]) => ({ key, value, propagate: true }));

/** Values for Fn::GetAtt of a template with one version. */
export const templateAttributes = ({ id }: Pick<TemplateUse, 'id'>) => ({
  LaunchTemplateId: id,
  LatestVersionNumber: '1',
  DefaultVersionNumber: '1',
});

export const templateData = (
  context: DemoContext,
  group: DemoGroup,
  facts: { readonly imageId: string; readonly userData: string; readonly profile: string },
) => ({
  ImageId: facts.imageId,
  InstanceType: group.instanceType,
  KeyName: context.keyName,
  SecurityGroupIds: [context.foundation.nodeSecurityGroupId],
  IamInstanceProfile: { Name: facts.profile },
  BlockDeviceMappings: [
    {
      DeviceName: '/dev/xvda',
      Ebs: { VolumeSize: 80, VolumeType: 'gp3', DeleteOnTermination: true },
    },
  ],
  MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 2 },
  UserData: encodeBase64(facts.userData),
  ...(group.capacityType === 'SPOT' ? { InstanceMarketOptions: { MarketType: 'spot' } } : {}),
});
