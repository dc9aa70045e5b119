// eksctl's ClusterConfig as Drover uses it: checked against its shape, with eksctl's defaults for
// omitted fields and the rules across fields. Never reads files or the cloud.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import { type AccessEntryConfig, accessEntriesOf, accessEntryFaults } from './access-entries.ts';
import { checkYaml, type Fault, type Position } from './check.ts';
import { clusterConfigShape, managedGroup, selfManagedGroup } from './fields.ts';
import { groupFaults } from './group-faults.ts';
import { type GroupConfig, groupOf } from './groups.ts';
import { member, objectsOf, textMapOf, textOf, textsOf } from './values.ts';

/** A subnet in the file; without `id` it is created with the cluster's own network. */
export interface SubnetConfig {
  readonly name: string;
  readonly id: string | undefined;
  readonly zone: string | undefined;
  readonly cidr: string | undefined;
  readonly visibility: 'public' | 'private';
}

export interface AddonConfig {
  readonly name: string;
  readonly version: string | undefined;
  readonly configurationValues: string | undefined;
}

export interface ClusterConfig {
  readonly name: string;
  readonly region: string;
  /** Undefined: the newest that the API offers, or the existing cluster's. */
  readonly version: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly vpcId: string | undefined;
  readonly vpcCidr: string;
  readonly serviceCidr: string | undefined;
  readonly subnets: readonly SubnetConfig[];
  readonly zones: readonly string[];
  readonly publicAccess: boolean;
  readonly privateAccess: boolean;
  /** CIDRs that may reach the public endpoint; undefined: all. */
  readonly publicAccessCidrs?: readonly string[] | undefined;
  /** The user's own role for the control plane; undefined: one is created. */
  readonly serviceRoleArn?: string | undefined;
  readonly serviceRoleBoundary?: string | undefined;
  /** The user's own security group for the control plane; undefined: one is created. */
  readonly securityGroupId?: string | undefined;
  /** Undefined: one gateway for all zones. */
  readonly natGateway?: 'Disable' | 'Single' | undefined;
  readonly defaultAddonsDisabled?: boolean;
  /** Only recorded: every cluster of the world has an issuer. */
  readonly withOidc: boolean;
  /** The control plane's log streams to enable, by EKS' names. */
  readonly logTypes: readonly string[];
  readonly authenticationMode: 'CONFIG_MAP' | 'API_AND_CONFIG_MAP' | 'API';
  readonly accessEntries?: readonly AccessEntryConfig[];
  readonly addons: readonly AddonConfig[];
  readonly groups: readonly GroupConfig[];
}

export type ClusterConfigResult =
  | { readonly kind: 'ok'; readonly config: ClusterConfig }
  | { readonly kind: 'faults'; readonly faults: readonly Fault[] };

const everyLogType = ['api', 'audit', 'authenticator', 'controllerManager', 'scheduler'] as const;
const defaultVpcCidr = '192.168.0.0/16';

const subnetsOf = (value: Json | undefined): readonly SubnetConfig[] =>
  (['public', 'private'] as const).flatMap((visibility) => {
    const named = member(value, visibility);
    if (!isObject(named)) return [];
    return Object.entries(named).map(([name, subnet]) => ({
      name,
      visibility,
      id: textOf(member(subnet, 'id')),
      zone: textOf(member(subnet, 'az')),
      cidr: textOf(member(subnet, 'cidr')),
    }));
  });

const logTypesOf = (value: Json | undefined): readonly string[] => {
  const asked = new Set(textsOf(value));
  if (asked.has('*') || asked.has('all')) return everyLogType;
  return everyLogType.filter((type) => asked.has(type));
};

const authenticationModeOf = (value: Json | undefined): ClusterConfig['authenticationMode'] =>
  value === 'CONFIG_MAP' || value === 'API' ? value : 'API_AND_CONFIG_MAP';

const natGatewayOf = (value: Json | undefined): ClusterConfig['natGateway'] =>
  value === 'Disable' || value === 'Single' ? value : undefined;

const configOf = (value: Json): ClusterConfig => {
  const metadata = member(value, 'metadata');
  const vpc = member(value, 'vpc');
  const endpoints = member(vpc, 'clusterEndpoints');
  const managed = objectsOf(member(value, 'managedNodeGroups'));
  const selfManaged = objectsOf(member(value, 'nodeGroups'));
  return {
    name: textOf(member(metadata, 'name')) ?? '',
    region: textOf(member(metadata, 'region')) ?? '',
    version: textOf(member(metadata, 'version')),
    tags: textMapOf(member(metadata, 'tags')),
    vpcId: textOf(member(vpc, 'id')),
    vpcCidr: textOf(member(vpc, 'cidr')) ?? defaultVpcCidr,
    serviceCidr: textOf(member(member(value, 'kubernetesNetworkConfig'), 'serviceIPv4CIDR')),
    subnets: subnetsOf(member(vpc, 'subnets')),
    zones: textsOf(member(value, 'availabilityZones')),
    publicAccess: member(endpoints, 'publicAccess') !== false,
    privateAccess: member(endpoints, 'privateAccess') === true,
    publicAccessCidrs:
      member(vpc, 'publicAccessCIDRs') === undefined
        ? undefined
        : textsOf(member(vpc, 'publicAccessCIDRs')),
    serviceRoleArn: textOf(member(member(value, 'iam'), 'serviceRoleARN')),
    serviceRoleBoundary: textOf(member(member(value, 'iam'), 'serviceRolePermissionsBoundary')),
    securityGroupId: textOf(member(vpc, 'securityGroup')),
    natGateway: natGatewayOf(member(member(vpc, 'nat'), 'gateway')),
    defaultAddonsDisabled: member(member(value, 'addonsConfig'), 'disableDefaultAddons') === true,
    withOidc: member(member(value, 'iam'), 'withOIDC') === true,
    logTypes: logTypesOf(
      member(member(member(value, 'cloudWatch'), 'clusterLogging'), 'enableTypes'),
    ),
    authenticationMode: authenticationModeOf(
      member(member(value, 'accessConfig'), 'authenticationMode'),
    ),
    accessEntries: accessEntriesOf(member(member(value, 'accessConfig'), 'accessEntries')),
    addons: objectsOf(member(value, 'addons')).map((addon) => ({
      name: textOf(addon.name) ?? '',
      version: textOf(addon.version),
      configurationValues: textOf(addon.configurationValues),
    })),
    groups: [
      ...managed.map((group) => groupOf(group, 'managed')),
      ...selfManaged.map((group) => groupOf(group, 'self-managed')),
    ],
  };
};

/** Faults by path: cluster fields that have no effect because of other fields. */
const clusterFaults = (config: ClusterConfig): readonly (readonly [string, string])[] => {
  const faults: [string, string][] = [];
  const existing = config.vpcId !== undefined;
  if (!existing && config.subnets.length > 0) {
    faults.push(['vpc.subnets', 'without vpc.id: name the VPC that the subnets belong to']);
  }
  if (!existing && config.securityGroupId !== undefined) {
    faults.push(['vpc.securityGroup', 'without vpc.id: name the VPC that it belongs to']);
  }
  if (existing && config.natGateway !== undefined) {
    faults.push(['vpc.nat', 'with vpc.id: a VPC of your own has its own gateways']);
  }
  if (existing && config.zones.length > 0) {
    faults.push(['availabilityZones', 'with vpc.id: the zones are those of vpc.subnets']);
  }
  if (config.serviceRoleArn !== undefined && config.serviceRoleBoundary !== undefined) {
    const message = 'with iam.serviceRoleARN: set the boundary on that role';
    faults.push(['iam.serviceRolePermissionsBoundary', message]);
  }
  return [...faults, ...accessEntryFaults(config.accessEntries ?? [], config.authenticationMode)];
};

/** Rules across several fields. */
const spanningFaults = (
  config: ClusterConfig,
  positionOf: (path: string) => Position,
): readonly Fault[] => {
  const faults: Fault[] = [];
  const say = (path: string, message: string): void => {
    faults.push({ ...positionOf(path), path, message });
  };
  const names = new Set<string>();
  const subnets = new Set(config.subnets.map((subnet) => subnet.name));
  const managed = config.groups.filter((group) => group.kind === 'managed').length;
  for (const [i, group] of config.groups.entries()) {
    const path = i < managed ? `managedNodeGroups[${i}]` : `nodeGroups[${i - managed}]`;
    if (names.has(group.name)) say(path, `is a second group named ${group.name}; names are unique`);
    names.add(group.name);
    for (const { field, message } of groupFaults(group)) {
      say(field === undefined ? path : `${path}.${field}`, message);
    }
    for (const name of group.subnets) {
      if (subnets.has(name) || /^subnet-[0-9a-f]+$/.test(name)) continue;
      const known =
        subnets.size === 0 ? 'vpc.subnets names none' : `known: ${[...subnets].join(', ')}`;
      say(path, `names the subnet ${name}, which vpc.subnets does not have (${known})`);
    }
  }
  for (const [path, message] of clusterFaults(config)) say(path, message);
  if (config.vpcId !== undefined && config.subnets.every((subnet) => subnet.id === undefined)) {
    say('vpc', 'names an existing VPC and no subnet of it; name subnets by id');
  }
  return faults;
};

/** Parses a ClusterConfig; reports all faults at once. */
export const parseClusterConfig = (text: string): ClusterConfigResult => {
  const checked = checkYaml(text, clusterConfigShape);
  if (checked.kind === 'faults') return checked;
  const config = configOf(checked.value);
  const faults = spanningFaults(config, checked.positionOf);
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'ok', config };
};

export type GroupResult =
  | { readonly kind: 'ok'; readonly group: GroupConfig }
  | { readonly kind: 'faults'; readonly faults: readonly Pick<Fault, 'path' | 'message'>[] };

/** Parses one group in ClusterConfig form, by the same rules: used for flags. */
export const readGroup = (group: JsonObject, kind: GroupConfig['kind']): GroupResult => {
  // JSON is YAML, so the file checker reads it.
  const shape = kind === 'managed' ? managedGroup : selfManagedGroup;
  const checked = checkYaml(JSON.stringify(group), shape);
  if (checked.kind === 'faults') return checked;
  const config = groupOf(isObject(checked.value) ? checked.value : {}, kind);
  const faults = groupFaults(config).map(({ field = '', message }) => ({ path: field, message }));
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'ok', group: config };
};
