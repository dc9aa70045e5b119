// The user data of a node group in a file, a group of a ClusterConfig or a NodeGroup object, with
// the given facts of its cluster. Calls no API: missing facts keep example values, which are
// listed.
import { isObject, type JsonObject, objectOr } from '../../api/json.ts';
import type { Taint } from '../../api/kube.ts';
import type { NodeGroupSpec } from '../../api/nodegroup.ts';
import {
  type ClusterAccess,
  exampleAuthority,
  type Family,
  familyCalled,
  faultLine,
  type GroupConfig,
  type Injection,
  instanceTypeFacts,
  type KubeadmAccess,
  maxPodsOf,
  parseClusterConfig,
  parseYaml,
  splitLabels,
  toJson,
  type Written,
  writeUserData,
} from '../../formats/index.ts';
import { defaultFamily, injectionOf, reservedFor } from '../provisioning/index.ts';

export interface GroupAsked {
  readonly file: string;
  readonly text: string;
  /** Undefined: the only group in the file. */
  readonly group: string | undefined;
  readonly family: Family | undefined;
  readonly instanceType: string | undefined;
  readonly kubernetesVersion: string | undefined;
  readonly cluster: Partial<ClusterAccess>;
  /** For plain cloud-init: credentials for kubeadm; undefined when the user's own text has them. */
  readonly join?: Omit<KubeadmAccess, 'kubernetesVersion'>;
  readonly isUpstreamReserved: boolean;
  /** The user's own text, decoded. */
  readonly userData: string | undefined;
}

export interface GroupUserData {
  readonly group: string;
  readonly family: Family;
  readonly instanceType: string;
  readonly kubernetesVersion: string;
  readonly written: Written;
  /** Objects that the cluster needs before nodes of this family are usable. */
  readonly objects: readonly JsonObject[];
  /** Cluster facts that were not given. */
  readonly examples: readonly string[];
  /** Labels and taints of the group that the text lacks: set after the node has joined. */
  readonly unwritten: readonly string[];
}

export type GroupResult =
  | { readonly kind: 'ok'; readonly result: GroupUserData }
  /** Sentences that name each mistake of the file. */
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

interface Found {
  readonly name: string;
  readonly family: Family | undefined;
  readonly types: readonly string[];
  readonly version: string | undefined;
  readonly injection: (family: Family, cluster: ClusterAccess) => Injection;
  /** Complete user data from the file. */
  readonly whole: string | undefined;
  readonly isManaged: boolean;
}

const defaultVersion = '1.33';
const defaultType = 'm5.large';

/** Placeholders in the form of a certificate authority and an endpoint, for missing values. */
const example = {
  endpoint: 'https://example.gr7.eu-west-1.eks.amazonaws.com',
  certificateAuthority: exampleAuthority,
  serviceCidr: '10.100.0.0/16',
} as const;

const ofConfig = (cluster: string, version: string | undefined, group: GroupConfig): Found => ({
  name: group.name,
  family: familyCalled(group.amiFamily ?? defaultFamily(version ?? defaultVersion)),
  types: group.instanceTypes,
  version,
  isManaged: group.kind === 'managed' && group.ami === undefined,
  whole: group.kind === 'managed' ? group.overrideBootstrapCommand : undefined,
  injection: (family, access) =>
    injectionOf(
      family,
      {
        cluster,
        endpoint: access.endpoint ?? '',
        certificateAuthority: access.certificateAuthority ?? '',
        serviceCidr: access.serviceCidr,
      },
      group,
    ),
});

const ofNodeGroup = (name: string, spec: NodeGroupSpec): Found => ({
  name,
  family: familyCalled(spec.amiType),
  types: spec.instanceTypes ?? [],
  version: spec.version,
  isManaged: true,
  whole: undefined,
  injection: (family, cluster) => ({
    family,
    cluster: { ...cluster, name: spec.clusterName },
    labels: {
      ...spec.labels,
      'eks.amazonaws.com/capacityType': spec.capacityType ?? 'ON_DEMAND',
      'eks.amazonaws.com/nodegroup': name,
    },
    taints: (spec.taints ?? []) as readonly Taint[],
  }),
});

const foundIn = (file: string, text: string): readonly Found[] | readonly string[] => {
  const groups = parseYaml(text).documents.flatMap(({ value }) => {
    const document = objectOr(value === undefined ? null : toJson(value));
    if (document.kind !== 'NodeGroup' || !isObject(document.spec)) return [];
    const { name } = objectOr(document.metadata);
    return [ofNodeGroup(String(name ?? ''), document.spec as unknown as NodeGroupSpec)];
  });
  if (groups.length > 0) return groups;
  const parsed = parseClusterConfig(text);
  if (parsed.kind === 'faults') return parsed.faults.map((fault) => faultLine(file, fault));
  const { name, version } = parsed.config;
  return parsed.config.groups.map((group) => ofConfig(name, version, group));
};

/**
 * Without this setting pods on Windows get no address ("does not have label
 * vpc.amazonaws.com/PrivateIPv4Address").
 */
const windowsIpam: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'amazon-vpc-cni', namespace: 'kube-system' },
  data: { 'enable-windows-ipam': 'true' },
};

const clusterObjects = (family: Family): readonly JsonObject[] =>
  family === 'windows' ? [windowsIpam] : [];

const isFound = (one: Found | string | undefined): one is Found => typeof one === 'object';

const choose = (asked: GroupAsked, found: readonly Found[]): Found | string => {
  const { file, group } = asked;
  const names = found.map(({ name }) => name).join(', ');
  if (group === undefined) {
    if (found.length === 1 && found[0] !== undefined) return found[0];
    return found.length === 0
      ? `${file} has no node group`
      : `${file} has several node groups (${names}); name one with --group`;
  }
  return (
    found.find(({ name }) => name === group) ?? `${file} has no group ${group} (it has ${names})`
  );
};

/**
 * Labels and taints that a kubelet may not set; all of them if the user's own text starts the
 * kubelet.
 */
const unwrittenOf = ({ family, labels, taints, join }: Injection): readonly string[] => {
  const isTheirs = family === 'cloud-init' && join === undefined;
  const left = isTheirs ? labels : splitLabels(labels).controller;
  return [
    ...Object.keys(left).map((key) => `label ${key}`),
    ...(isTheirs ? taints : []).map(({ key }) => `taint ${key}`),
  ];
};

/** Cluster facts that the family's text uses. */
const usedBy = (
  family: Family,
): readonly ('endpoint' | 'certificateAuthority' | 'serviceCidr')[] =>
  family === 'cloud-init'
    ? ['endpoint', 'certificateAuthority']
    : ['endpoint', 'certificateAuthority', 'serviceCidr'];

/** One number for the group, as in EKS: that of its smallest type. */
const managedMaxPods = (types: readonly string[]): number | undefined => {
  const known = types.flatMap((type) => instanceTypeFacts(type) ?? []);
  return known.length === 0 ? undefined : Math.min(...known.map(maxPodsOf));
};

export const groupUserData = (asked: GroupAsked): GroupResult => {
  const all = foundIn(asked.file, asked.text);
  const faults = all.filter((one): one is string => typeof one === 'string');
  if (faults.length > 0) return { kind: 'faults', faults };
  const found = choose(asked, all.filter(isFound));
  if (typeof found === 'string') return { kind: 'faults', faults: [found] };
  const family = asked.family ?? found.family;
  if (family === undefined) {
    return { kind: 'faults', faults: [`${found.name} names no image family that is known`] };
  }
  const instanceType = asked.instanceType ?? found.types[0] ?? defaultType;
  const access: ClusterAccess = { name: '', ...example, ...asked.cluster };
  const injected = found.injection(family, access);
  const types = asked.instanceType === undefined ? found.types : [asked.instanceType];
  // Computed only for EKS' Linux families: Windows counts differently, and without EKS the CNI is
  // unknown.
  const isCounted = found.isManaged && family !== 'windows' && family !== 'cloud-init';
  const computed = isCounted ? managedMaxPods(types) : undefined;
  const maxPods = injected.maxPods ?? computed;
  const kubernetesVersion = asked.kubernetesVersion ?? found.version ?? defaultVersion;
  const injection: Injection = {
    ...injected,
    maxPods,
    join: asked.join && { ...asked.join, kubernetesVersion },
    kubeReserved: asked.isUpstreamReserved ? undefined : reservedFor(family, instanceType, maxPods),
  };
  const written: Written =
    found.whole === undefined
      ? writeUserData(injection, asked.userData, {
          isStrict: found.isManaged && family !== 'cloud-init',
        })
      : { kind: 'ok', text: found.whole };
  return {
    kind: 'ok',
    result: {
      group: found.name,
      family,
      instanceType,
      kubernetesVersion,
      written,
      objects: clusterObjects(family),
      unwritten: unwrittenOf(injection),
      examples: usedBy(family).filter((field) => asked.cluster[field] === undefined),
    },
  };
};
