// One node group of a ClusterConfig or of eksctl's flags, with eksctl's defaults and rules. Sizes
// follow eksctl: two nodes by default; omitted sizes are derived from the given ones.
import { defined } from '../../api/defined.ts';
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import type { Taint } from '../../api/kube.ts';
import { apiRepairWords } from './repair-words.ts';
import { member, numberOf, objectsOf, textMapOf, textOf, textsOf } from './values.ts';

export interface NodeRepairSettings {
  readonly enabled: boolean;
  /** The remaining fields, with the names and values of EKS' API. */
  readonly rest: JsonObject;
  /** Values that EKS' API does not have, and what replaces them. */
  readonly notes?: readonly string[];
}

export interface GroupConfig {
  readonly name: string;
  readonly kind: 'managed' | 'self-managed';
  /** eksctl's name, e.g. AmazonLinux2; undefined: the version's default. */
  readonly amiFamily: string | undefined;
  /** A custom image. */
  readonly ami: string | undefined;
  readonly instanceTypes: readonly string[];
  readonly spot: boolean;
  /** As requested; `sizesOf` fills undefined fields. */
  readonly sizes: RequestedSizes;
  readonly volumeSizeGiB: number;
  readonly volumeType: string;
  readonly volumeEncrypted: boolean | undefined;
  /** Also enables version 1 of the metadata service. */
  readonly imdsV1: boolean;
  /** Pods without host network cannot reach the metadata service. */
  readonly podImdsDisabled: boolean;
  readonly privateNetworking: boolean;
  readonly zones: readonly string[];
  /** Names of vpc.subnets, or ids. */
  readonly subnets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly tags: Readonly<Record<string, string>>;
  readonly sshAllowed: boolean;
  readonly sshKeyName: string | undefined;
  /** Security groups that may reach the SSH port; empty: every address. */
  readonly sshSourceGroups: readonly string[];
  readonly instanceRoleArn: string | undefined;
  /** Policies that replace EKS' own node policies; empty: EKS' own. */
  readonly policyArns: readonly string[];
  readonly maxPods: number | undefined;
  readonly preBootstrapCommands: readonly string[];
  readonly overrideBootstrapCommand: string | undefined;
  readonly releaseVersion: string | undefined;
  readonly launchTemplate:
    | { readonly id: string; readonly version: string | undefined }
    | undefined;
  /** EKS' updateConfig as written; undefined: EKS' default, one node at a time. */
  readonly updateConfig: JsonObject | undefined;
  readonly nodeRepair: NodeRepairSettings | undefined;
  /** The fields that were set explicitly, for rules that a default cannot violate. */
  readonly written: readonly string[];
}

export interface RequestedSizes {
  readonly desired?: number;
  readonly min?: number;
  readonly max?: number;
}

export interface Sizes {
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  /** Flags that were omitted and their computed values, in eksctl's order. */
  readonly automatic: readonly { readonly flag: '--nodes-min' | '--nodes-max'; value: number }[];
}

/** eksctl's default for a group without any size. */
const defaultNodes = 2;
const defaultInstanceType = 'm5.large';
const defaultVolumeSizeGiB = 80;
const defaultVolumeType = 'gp3';

/** Fills omitted sizes; the result is consistent when `sizeFault` finds nothing. */
export const sizesOf = (asked: RequestedSizes): Sizes => {
  const min = asked.min ?? asked.desired ?? defaultNodes;
  const desired = asked.desired ?? min;
  const max = asked.max ?? Math.max(desired, min);
  return {
    desired,
    min,
    max,
    automatic: [
      ...(asked.min === undefined ? [{ flag: '--nodes-min' as const, value: min }] : []),
      ...(asked.max === undefined ? [{ flag: '--nodes-max' as const, value: max }] : []),
    ],
  };
};

/** Why these sizes are invalid, or undefined. */
export const sizeFault = (asked: RequestedSizes): string | undefined => {
  const { desired, min, max } = sizesOf(asked);
  if (max < 1) return `maximum size of ${max}; a node group has room for one node at least`;
  if (min > max) return `minimum size of ${min}, which is greater than maximum size ${max}`;
  if (desired < min) return `minimum size of ${min}, which is greater than desired size ${desired}`;
  if (desired > max) return `desired size of ${desired}, which is greater than maximum size ${max}`;
  return undefined;
};

const taintsOf = (value: Json | undefined): readonly Taint[] =>
  objectsOf(value).map((taint) => {
    const text = textOf(taint.value);
    return {
      key: textOf(taint.key) ?? '',
      ...defined({ value: text }),
      effect: textOf(taint.effect) as Taint['effect'],
    };
  });

const repairOf = (value: Json | undefined): NodeRepairSettings | undefined => {
  if (!isObject(value)) return undefined;
  const { config, notes } = apiRepairWords(value);
  const { enabled, ...rest } = config;
  return { enabled: enabled === true, rest, ...(notes.length === 0 ? {} : { notes }) };
};

const instanceTypesOf = (group: JsonObject): readonly string[] => {
  const several = textsOf(group.instanceTypes);
  if (several.length > 0) return several;
  return [textOf(group.instanceType) ?? defaultInstanceType];
};

const sizesAsked = (group: JsonObject): RequestedSizes => {
  const desired = numberOf(group.desiredCapacity);
  const min = numberOf(group.minSize);
  const max = numberOf(group.maxSize);
  return {
    ...defined({ desired, min, max }),
  };
};

/** `group`: a member of managedNodeGroups or nodeGroups that passed its shape. */
export const groupOf = (group: JsonObject, kind: GroupConfig['kind']): GroupConfig => {
  const template = textOf(member(group.launchTemplate, 'id'));
  return {
    name: textOf(group.name) ?? '',
    kind,
    amiFamily: textOf(group.amiFamily),
    ami: textOf(group.ami),
    instanceTypes: instanceTypesOf(group),
    spot: group.spot === true,
    sizes: sizesAsked(group),
    volumeSizeGiB: numberOf(group.volumeSize) ?? defaultVolumeSizeGiB,
    volumeType: textOf(group.volumeType) ?? defaultVolumeType,
    volumeEncrypted: typeof group.volumeEncrypted === 'boolean' ? group.volumeEncrypted : undefined,
    imdsV1: group.disableIMDSv1 === false,
    podImdsDisabled: group.disablePodIMDS === true,
    privateNetworking: group.privateNetworking === true,
    zones: textsOf(group.availabilityZones),
    subnets: textsOf(group.subnets),
    labels: textMapOf(group.labels),
    taints: taintsOf(group.taints),
    tags: textMapOf(group.tags),
    sshAllowed: member(group.ssh, 'allow') === true,
    sshKeyName: textOf(member(group.ssh, 'publicKeyName')),
    sshSourceGroups: textsOf(member(group.ssh, 'sourceSecurityGroupIds')),
    policyArns: textsOf(member(group.iam, 'attachPolicyARNs')),
    instanceRoleArn: textOf(member(group.iam, 'instanceRoleARN')),
    maxPods: numberOf(group.maxPodsPerNode),
    preBootstrapCommands: textsOf(group.preBootstrapCommands),
    overrideBootstrapCommand: textOf(group.overrideBootstrapCommand),
    releaseVersion: textOf(group.releaseVersion),
    launchTemplate:
      template === undefined
        ? undefined
        : { id: template, version: textOf(member(group.launchTemplate, 'version')) },
    updateConfig: isObject(group.updateConfig) ? group.updateConfig : undefined,
    nodeRepair: repairOf(group.nodeRepairConfig),
    written: Object.keys(group),
  };
};
