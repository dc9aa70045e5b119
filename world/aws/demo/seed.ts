// The demo's account: cluster, three node groups, stacks. Returns the facts that the Kubernetes
// side needs to write the NodeGroup objects. Seeds once; never changes existing objects.
import { addStanding } from '../cloudformation/index.ts';
import type { AwsParts } from '../parts.ts';
import { addServiceRoles } from '../platform/account.ts';
import { addonCatalogue, addonVersionsOf } from '../platform/addon-catalogue.ts';
import {
  type Foundation,
  fullVersion,
  layFoundation,
  minorVersion,
  noticeQueueName,
} from './foundation.ts';
import { component, type DemoContext, type DemoGroup } from './group-parts.ts';
import { addManagedGroup, type ManagedGroupFacts } from './managed-group.ts';
import { addSelfManagedGroup, type SelfManagedGroupFacts } from './self-managed-group.ts';
import { clusterPolicy, clusterTemplate } from './stack-templates.ts';

export interface DemoOptions {
  readonly clusterName: string;
  /** `1.32.9` or `1.32`. */
  readonly kubernetesVersion: string;
  /** Default: article 002's three groups. */
  readonly groups?: readonly DemoGroup[];
  /** Default AL2_x86_64 up to 1.32, the last version that has it, then AL2023. */
  readonly amiType?: string;
}

export interface DemoFacts {
  readonly clusterName: string;
  /** Minor version. */
  readonly version: string;
  readonly clusterRoleArn: string;
  readonly vpcId: string;
  readonly managed: readonly ManagedGroupFacts[];
  readonly selfManaged: readonly SelfManagedGroupFacts[];
  readonly noticeQueueName: string;
}

/**
 * Zones as in article 002: demo-ng's node in a, demo-self-ng's in c, those of ng1-public-ssh in c
 * and b.
 */
export const articleGroups: readonly DemoGroup[] = [
  {
    name: 'ng1-public-ssh',
    isManaged: true,
    min: 0,
    max: 10,
    desired: 2,
    instanceType: 'm5.large',
    zones: ['c', 'b'],
  },
  {
    name: 'demo-ng',
    isManaged: true,
    min: 0,
    max: 10,
    desired: 1,
    instanceType: 'm5.large',
    zones: ['a'],
    releasesBehind: 1,
  },
  {
    name: 'demo-self-ng',
    isManaged: false,
    min: 1,
    max: 1,
    desired: 1,
    instanceType: 'm5.large',
    zones: ['c'],
  },
];

const lastMinorWithAmazonLinux2 = 32;

const amiTypeOf = ({ amiType, kubernetesVersion }: DemoOptions): string => {
  const minor = Number(minorVersion(kubernetesVersion).split('.')[1]);
  return amiType ?? (minor <= lastMinorWithAmazonLinux2 ? 'AL2_x86_64' : 'AL2023_x86_64_STANDARD');
};

export const seedDemo = (parts: AwsParts, options: DemoOptions): DemoFacts => {
  if (parts.clusters.all().length > 0) throw new Error('this world has its cluster already');
  const { clusterName } = options;
  const keyName = 'maowang';
  const kubernetesVersion = fullVersion(options.kubernetesVersion);
  const foundation = layFoundation(parts, { clusterName, kubernetesVersion, keyName });
  const version = minorVersion(kubernetesVersion);
  const clusterRoleArn = addCluster(parts, foundation, { clusterName, version });
  const context: DemoContext = {
    parts,
    foundation,
    clusterName,
    version,
    amiType: amiTypeOf(options),
    keyName,
  };
  const groups = options.groups ?? articleGroups;
  return {
    clusterName,
    version,
    clusterRoleArn,
    vpcId: foundation.vpc.vpcId,
    managed: groups
      .filter((group) => group.isManaged)
      .map((group) => addManagedGroup(context, group)),
    selfManaged: groups
      .filter((group) => !group.isManaged)
      .map((group) => addSelfManagedGroup(context, group)),
    noticeQueueName,
  };
};

const addCluster = (
  parts: AwsParts,
  foundation: Foundation,
  cluster: { readonly clusterName: string; readonly version: string },
): string => {
  const { clusterName, version } = cluster;
  const stackName = `eksctl-${clusterName}-cluster`;
  const { identity } = parts;
  const roleArn = identity.addRole({
    name: `${stackName}-ServiceRole`,
    service: 'eks.amazonaws.com',
    policyArns: [clusterPolicy],
  });
  addServiceRoles(parts);
  const subnets = [...foundation.publicSubnets, ...foundation.privateSubnets].map((subnet) => ({
    ...subnet,
    logicalId: (subnet.tags.Name ?? '').split('/')[1] ?? subnet.subnetId,
  }));
  const stack = addStanding(parts, {
    name: stackName,
    template: clusterTemplate({ ...cluster, vpcCidr: foundation.vpc.cidr, subnets }),
    tags: {
      'alpha.eksctl.io/cluster-name': clusterName,
      'alpha.eksctl.io/eksctl-version': '0.215.0',
      'eksctl.cluster.k8s.io/v1alpha1/cluster-name': clusterName,
    },
    resources: {
      ControlPlane: {
        physicalId: clusterName,
        attributes: {
          Arn: clusterArn(parts, clusterName),
          ClusterSecurityGroupId: foundation.nodeSecurityGroupId,
        },
      },
      ServiceRole: { physicalId: `${stackName}-ServiceRole`, attributes: { Arn: roleArn } },
      VPC: { physicalId: foundation.vpc.vpcId },
      IngressDefaultClusterToNodeSG: { physicalId: addNodeRule(parts, foundation) },
      ...Object.fromEntries(
        subnets.map(({ logicalId, subnetId }) => [logicalId, { physicalId: subnetId }]),
      ),
    },
  });
  parts.clusters.add({
    name: clusterName,
    version,
    roleArn,
    vpcId: foundation.vpc.vpcId,
    subnetIds: subnets.map((subnet) => subnet.subnetId),
    securityGroupIds: [foundation.nodeSecurityGroupId],
    clusterSecurityGroupId: foundation.nodeSecurityGroupId,
    tags: {
      Name: `${stackName}/ControlPlane`,
      'alpha.eksctl.io/cluster-name': clusterName,
      'alpha.eksctl.io/eksctl-version': '0.215.0',
      'aws:cloudformation:stack-id': stack.id,
      'aws:cloudformation:stack-name': stackName,
      'eksctl.cluster.k8s.io/v1alpha1/cluster-name': clusterName,
    },
  });
  seedAddons(parts, cluster);
  return roleArn;
};

/** The rule's id. */
const addNodeRule = ({ network, scope }: AwsParts, { nodeSecurityGroupId }: Foundation): string => {
  const ruleId = scope.id(`${component}.security-group-rules`, 'sgr');
  const rule = {
    GroupId: nodeSecurityGroupId,
    SourceSecurityGroupId: nodeSecurityGroupId,
    IpProtocol: '-1',
    ruleId,
  };
  network.changeRules(nodeSecurityGroupId, 'ingress', (rules) => [...rules, rule]);
  return ruleId;
};

const clusterArn = ({ scope }: AwsParts, name: string): string =>
  scope.arn('eks', `cluster/${name}`);

const seedAddons = (
  { scope, clusters }: AwsParts,
  cluster: { readonly clusterName: string; readonly version: string },
): void => {
  for (const name of ['coredns', 'kube-proxy', 'vpc-cni']) {
    const addon = addonCatalogue.find((one) => one.name === name);
    const version = addon && addonVersionsOf(addon, cluster.version)[0];
    const createdAt = scope.now() - 60_000;
    clusters.putAddon({
      cluster: cluster.clusterName,
      name,
      version: version ?? '',
      status: 'ACTIVE',
      createdAt,
      modifiedAt: createdAt,
      tags: {},
    });
  }
};
