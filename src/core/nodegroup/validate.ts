// EKS' validation rules for node groups, with EKS' messages where they are known (reference aws-api
// 6). Each returns the complaint or undefined. Pure.
import type { Taint } from '../../api/kube.ts';
import type {
  NodeGroupScaling,
  NodeGroupSpec,
  NodeRepairConfig,
  UpdateConfig,
} from '../../api/nodegroup.ts';

export type Complaint = string | undefined;

export const first = (...complaints: readonly Complaint[]): Complaint =>
  complaints.find((one) => one !== undefined);

/** EKS has different messages for the same mistake on create and on update. */
export const sizeComplaint = (
  { minSize, maxSize, desired }: NodeGroupScaling,
  when: 'create' | 'update',
): Complaint => {
  if (maxSize < 1) return 'maxSize must be at least 1';
  if (minSize > maxSize) return "minSize can't be greater than maxSize";
  if (desired === undefined) return undefined;
  if (minSize > desired) {
    return when === 'create'
      ? "minSize can't be greater than desiredSize"
      : `Minimum capacity ${minSize} can't be greater than desired size ${desired}`;
  }
  return desired > maxSize ? "desiredSize can't be greater than maxSize" : undefined;
};

const maxUnavailableNodes = 100;

export const updateConfigComplaint = (
  { maxUnavailable, maxUnavailablePercentage }: UpdateConfig,
  maxSize: number,
): Complaint => {
  if (maxUnavailable !== undefined && maxUnavailablePercentage !== undefined) {
    return 'Only one of maxUnavailable and maxUnavailablePercentage can be specified';
  }
  if (maxUnavailable === undefined) return undefined;
  const most = Math.min(maxSize, maxUnavailableNodes);
  return maxUnavailable < 1 || maxUnavailable > most
    ? 'max-unavailable must be within the range 1 and max size of the node group'
    : undefined;
};

const repairThresholds = ['maxUnhealthyNodeThreshold', 'maxParallelNodesRepaired'] as const;

export const nodeRepairComplaint = (config: NodeRepairConfig): Complaint => {
  const both = repairThresholds.find(
    (name) => config[`${name}Count`] !== undefined && config[`${name}Percentage`] !== undefined,
  );
  if (both !== undefined) {
    return `Only one of ${both}Count and ${both}Percentage can be specified`;
  }
  const { nodeRepairConfigOverrides: overrides = [] } = config;
  const keys = overrides.map(
    ({ nodeMonitoringCondition, nodeUnhealthyReason }) =>
      `${nodeMonitoringCondition}/${nodeUnhealthyReason}`,
  );
  if (keys.some((key) => key.startsWith('/') || key.endsWith('/'))) {
    return (
      'nodeRepairConfigOverrides need nodeMonitoringCondition, nodeUnhealthyReason, ' +
      'minRepairWaitTimeMins and repairAction'
    );
  }
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  return twice === undefined ? undefined : `Duplicate nodeRepairConfigOverrides for ${twice}`;
};

const namePart = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const prefix = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const charactersRule =
  "field must consist of alphanumeric characters, '-', '_' or '.', and must start and end with " +
  'an alphanumeric character';

const keyComplaint = (key: string): Complaint => {
  const [name = '', ...rest] = key.split('/').toReversed();
  const isRight = rest.length === 0 || (rest.length === 1 && prefix.test(rest[0] ?? ''));
  return isRight && namePart.test(name) ? undefined : `Invalid value: ${key} : ${charactersRule}`;
};

/** Prefixes of node labels that only EKS and Kubernetes set. */
const reserved = ['kubernetes.io/', 'k8s.io/', 'eks.amazonaws.com/'];

const isReserved = (key: string): boolean => reserved.some((name) => key.startsWith(name));

export const labelsComplaint = (labels: Readonly<Record<string, string>>): Complaint => {
  for (const [key, value] of Object.entries(labels)) {
    const wrong = keyComplaint(key);
    if (wrong !== undefined) return wrong;
    if (isReserved(key)) {
      return `Label cannot contain reserved prefixes [${reserved.join(', ')}]`;
    }
    if (!namePart.test(value)) return `Invalid value: ${value} : ${charactersRule}`;
  }
  return undefined;
};

export const taintsComplaint = (taints: readonly Taint[]): Complaint => {
  const seen = new Set<string>();
  for (const { key, value, effect } of taints) {
    const wrong = keyComplaint(key);
    if (wrong !== undefined) return wrong;
    if (value !== undefined && value !== '' && !namePart.test(value)) {
      return `Invalid value: ${value} : ${charactersRule}`;
    }
    const both = `${key}:${effect}`;
    if (seen.has(both)) return `Duplicate taint with key ${key} and effect ${effect}`;
    seen.add(both);
  }
  return undefined;
};

/** AWS reserves these keys. */
export const tagsComplaint = (tags: Readonly<Record<string, string>>): Complaint => {
  const key = Object.keys(tags).find((one) => /^aws:/i.test(one));
  return key === undefined
    ? undefined
    : `Invalid tag key ${key}: tag keys with the prefix aws: are reserved for use by AWS`;
};

/**
 * Labels and taints that no node can have. kubectl can write them to a spec, which bypasses EKS'
 * validation and may contain empty values.
 */
export const marksComplaint = (spec: Marks): Complaint => {
  const known = complaints.get(spec);
  if (known !== undefined) return known.complaint;
  const complaint = complaintAbout(spec);
  complaints.set(spec, { complaint });
  return complaint;
};

type Marks = Pick<NodeGroupSpec, 'labels' | 'taints'>;

/** Cached: specs are immutable, and each pass over a group asks several times. */
const complaints = new WeakMap<Marks, { readonly complaint: Complaint }>();

const complaintAbout = ({ labels = {}, taints = [] }: Marks): Complaint => {
  const filled = Object.entries(labels).map(([key, value]) => [key, value || 'empty'] as const);
  return first(labelsComplaint(Object.fromEntries(filled)), taintsComplaint(taints));
};

/** The name is also that of a Kubernetes object. */
const objectName = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** EKS also accepts upper case letters and `_`. */
const eksName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

export const nameComplaint = (name: string): Complaint => {
  if (objectName.test(name)) return undefined;
  const rule = "at most 63 lower case letters, digits and '-', with a letter or digit at both ends";
  const complaint = `Nodegroup name ${name} is not a Kubernetes name: ${rule}`;
  const near = name.toLowerCase().replaceAll('_', '-').replace(/-+$/, '');
  if (!eksName.test(name) || !objectName.test(near)) return complaint;
  return (
    `${complaint}. EKS would take it; here a node group is a Kubernetes object of its name: ` +
    `use ${near}`
  );
};
