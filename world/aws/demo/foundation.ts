// The parts of an account before any node group. They are the VPC in eksctl's layout, images, a key
// pair, the topic of EKS' account, and Drover's queue with its rules.

import type { SubnetRow, VpcRow } from '../ec2/network.ts';
import { parsePattern } from '../messaging/event-bus.ts';
import { defaultQueueAttributes } from '../messaging/queues.ts';
import type { AwsParts } from '../parts.ts';
import { ensureImages } from '../platform/cluster-versions.ts';
import { sentence } from '../scope.ts';

/** The queue that Drover's controller reads. */
export const noticeQueueName = 'drover-notices';
/** Article 001's topic: it belongs to EKS, not to the user's account. */
const eksTopicAccount = '346952985317';
const eksTopicName = 'eks-asg-lifecycle-hook-topic';

export interface Foundation {
  readonly vpc: VpcRow;
  readonly publicSubnets: readonly SubnetRow[];
  readonly privateSubnets: readonly SubnetRow[];
  readonly nodeSecurityGroupId: string;
  readonly topicArn: string;
  readonly queueArn: string;
}

export interface FoundationOptions {
  readonly clusterName: string;
  /** `1.32.9`; a bare minor such as `1.32` counts as its patch 0. */
  readonly kubernetesVersion: string;
  /** SSH key pair; default: that of article 002. */
  readonly keyName?: string;
}

/**
 * /19 blocks, public ones first (eksctl, pkg/vpc). The order of zones is that of article 002, in
 * which 192.168.0.0/19 lies in zone a and 192.168.32.0/19 in zone c.
 */
const zoneLetters = ['a', 'c', 'b'] as const;

const dayMs = 86_400_000;
/** Ages in days of the two published image releases, oldest first. */
const releaseAgesDays = [20, 6];

export const fullVersion = (version: string): string =>
  version.split('.').length > 2 ? version : `${version}.0`;
export const minorVersion = (version: string): string => version.split('.').slice(0, 2).join('.');

export const layFoundation = (parts: AwsParts, options: FoundationOptions): Foundation => {
  const { scope, images, keyPairs } = parts;
  for (const age of releaseAgesDays) {
    images.publish(fullVersion(options.kubernetesVersion), scope.now() - age * dayMs);
  }
  ensureImages(images, minorVersion(options.kubernetesVersion));
  keyPairs.add(options.keyName ?? 'maowang');
  return { ...layNetwork(parts, options.clusterName), ...layMessaging(parts) };
};

const layNetwork = ({ scope, network }: AwsParts, clusterName: string) => {
  const owner = {
    'alpha.eksctl.io/cluster-name': clusterName,
    'eksctl.cluster.k8s.io/v1alpha1/cluster-name': clusterName,
  };
  const stack = `eksctl-${clusterName}-cluster`;
  const vpc = network.addVpc('192.168.0.0/16', { ...owner, Name: `${stack}/VPC` });
  const region = scope.region.toUpperCase().replaceAll('-', '');
  const subnet = (index: number, isPublic: boolean): SubnetRow => {
    const letter = zoneLetters[index] ?? 'a';
    const third = (index + (isPublic ? 0 : zoneLetters.length)) * 32;
    const kind = isPublic ? 'Public' : 'Private';
    return network.addSubnet({
      vpcId: vpc.vpcId,
      cidr: `192.168.${third}.0/19`,
      zone: `${scope.region}${letter}`,
      zoneId: `${zoneIdPrefix(scope.region)}-az${letter.charCodeAt(0) - 96}`,
      isPublic,
      tags: {
        ...owner,
        Name: `${stack}/Subnet${kind}${region}${letter.toUpperCase()}`,
        [`kubernetes.io/role/${isPublic ? 'elb' : 'internal-elb'}`]: '1',
      },
    });
  };
  const publicSubnets = zoneLetters.map((_, index) => subnet(index, true));
  const privateSubnets = zoneLetters.map((_, index) => subnet(index, false));
  const { groupId } = network.addSecurityGroup({
    name: `eks-cluster-sg-${clusterName}`,
    description: sentence(
      'EKS created security group applied to ENI that is attached to EKS Control Plane',
      'master nodes, as well as any managed workloads.',
    ),
    vpcId: vpc.vpcId,
    tags: { ...owner, [`kubernetes.io/cluster/${clusterName}`]: 'owned' },
  });
  return { vpc, publicSubnets, privateSubnets, nodeSecurityGroupId: groupId };
};

/** `eu-west-1` -> `euw1` */
const zoneIdPrefix = (region: string): string => {
  const [area = '', direction = '', number = ''] = region.split('-');
  return `${area}${direction.charAt(0)}${number}`;
};

const rules = [
  {
    name: 'drover-lifecycle-actions',
    source: 'aws.autoscaling',
    detailTypes: [
      'EC2 Instance-launch Lifecycle Action',
      'EC2 Instance-terminate Lifecycle Action',
    ],
  },
  {
    name: 'drover-instance-notices',
    source: 'aws.ec2',
    detailTypes: [
      'EC2 Spot Instance Interruption Warning',
      'EC2 Instance Rebalance Recommendation',
      'EC2 Instance State-change Notification',
    ],
  },
  { name: 'drover-health-notices', source: 'aws.health', detailTypes: ['AWS Health Event'] },
];

export const layMessaging = ({ scope, queues, topics, events }: AwsParts) => {
  const now = scope.now();
  const queue = {
    name: noticeQueueName,
    account: scope.account,
    attributes: { ...defaultQueueAttributes, MessageRetentionPeriod: '172800' },
    createdAt: now,
    modifiedAt: now,
    tags: {},
  };
  queues.put(queue);
  const queueArn = queues.arn(queue);
  const topic = topics.create(eksTopicName, eksTopicAccount);
  topics.subscribe({
    topicArn: topic.arn,
    owner: eksTopicAccount,
    protocol: 'sqs',
    endpoint: queueArn,
    attributes: {},
  });
  for (const rule of rules) {
    const patternText = JSON.stringify({ source: [rule.source], 'detail-type': rule.detailTypes });
    events.putRule({
      name: rule.name,
      pattern: parsePattern(patternText),
      patternText,
      state: 'ENABLED',
      targets: [{ id: noticeQueueName, arn: queueArn }],
    });
  }
  return { topicArn: topic.arn, queueArn };
};
