// Reads the fields of a NodeGroup from an adopted Auto Scaling group: sizes, subnets, types,
// capacity type, the user's launch template, and the cluster's name. Pure.

import type { ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import { isObject, type JsonObject, objectOr } from '../../api/json.ts';
import type { AdoptedFacts } from '../../api/nodegroup.ts';
import { launchTemplateNameOf, type NodeGroup } from '../../api/nodegroup.ts';

/** What adoption reads of an Auto Scaling group. */
export type AdoptedGroup = Pick<
  ScalingGroup,
  'minSize' | 'maxSize' | 'subnets' | 'tags' | 'isSpot' | 'overrides' | 'launchTemplate'
>;

/** Data of the launch template's version, in EC2's member names. */
type TemplateData = JsonObject;

const textIn = (data: JsonObject, name: string): string | undefined => {
  const value = data[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Tags whose value names the cluster: EKS', eksctl's, kOps'. */
const clusterTags = ['eks:cluster-name', 'alpha.eksctl.io/cluster-name', 'KubernetesCluster'];
/** Tags whose key names it: the cloud provider's, cluster-autoscaler's. */
const clusterKeys =
  /^(?:kubernetes\.io\/cluster|k8s\.io\/cluster|k8s\.io\/cluster-autoscaler)\/(.+)$/;
/** kubeadm's default cluster name. */
const unnamedCluster = 'kubernetes';

/** Every cluster that the tags name, the most specific tag first. */
export const clusterNamesIn = (tags: Readonly<Record<string, string>>): readonly string[] => {
  const values = clusterTags.flatMap((key) => tags[key] ?? []);
  const keys = Object.keys(tags)
    .flatMap((key) => clusterKeys.exec(key)?.[1] ?? [])
    .filter((name) => name !== 'enabled' && !name.startsWith('node-template/'));
  return [...new Set([...values, ...keys])];
};

/**
 * `others`: cluster names in the NodeGroups of this Kubernetes cluster, which all belong to one
 * cluster.
 */
export const clusterNameOf = (
  tags: Readonly<Record<string, string>>,
  others: readonly string[],
): string => {
  const [named] = clusterNamesIn(tags);
  return named ?? others.find((name) => name !== '') ?? unnamedCluster;
};

/**
 * The names by which tags may identify this cluster. kubeadm's default name is excluded, because
 * many clusters have it.
 */
export const tellingNames = (names: readonly string[]): readonly string[] => [
  ...new Set(names.filter((name) => name !== '' && name !== unnamedCluster)),
];

/** Name of the instance profile in the template; undefined: none. */
export const profileNameOf = (data: TemplateData): string | undefined => {
  const { Name, Arn } = objectOr(data.IamInstanceProfile);
  if (typeof Name === 'string') return Name;
  return typeof Arn === 'string' ? Arn.slice(Arn.lastIndexOf('/') + 1) : undefined;
};

const isSpotMarket = (data: TemplateData): boolean =>
  textIn(objectOr(data.InstanceMarketOptions), 'MarketType') === 'spot';

/**
 * `data`: undefined if the template was not read; `version`: Kubernetes minor version of its nodes.
 */
export const adoptedFacts = (
  group: Pick<NodeGroup, 'metadata' | 'spec'>,
  asg: AdoptedGroup,
  more: {
    readonly clusterName: string;
    readonly data: TemplateData | undefined;
    readonly nodeRole: string | undefined;
    readonly version: string | undefined;
  },
): AdoptedFacts => {
  const { clusterName, data = {}, nodeRole, version } = more;
  const { minSize, maxSize, subnets = [], overrides = [], launchTemplate } = asg;
  const ofOverrides = overrides
    .filter(isObject)
    .flatMap((override) => textIn(override, 'InstanceType') ?? []);
  const ofTemplate = textIn(data, 'InstanceType');
  const imageId = textIn(data, 'ImageId');
  // A template derived by EKS or Drover is not the user's.
  const isUsers =
    launchTemplate !== undefined && launchTemplate.name !== launchTemplateNameOf(group);
  return {
    clusterName,
    capacityType: asg.isSpot === true || isSpotMarket(data) ? 'SPOT' : 'ON_DEMAND',
    instanceTypes: ofOverrides.length > 0 || ofTemplate === undefined ? ofOverrides : [ofTemplate],
    subnets,
    minSize,
    maxSize,
    ...(isUsers ? { launchTemplate } : {}),
    ...defined({ nodeRole, version, imageId }),
  };
};
