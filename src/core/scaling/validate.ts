// EKS' validation rules for node groups, in EKS' words where they are known (reference aws-api 6).
// Each answers the complaint or undefined. Pure.
import type { Taint } from '../../api/kube.ts';
import type { NodeGroupScaling, NodeGroupSpec, UpdateConfig } from '../../api/nodegroup.ts';

export type Complaint = string | undefined;

export const first = (...complaints: readonly Complaint[]): Complaint =>
  complaints.find((one) => one !== undefined);

/** EKS words the same mistake differently when a group is created and when it is changed. */
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

/**
 * EKS takes the version that the group has, or the cluster's: anything above, below or between, and what
 * is no version at all, is one mistake to it.
 */
export const versionComplaint = (
  version: string,
  known: { readonly cluster: string; readonly group: string },
): Complaint =>
  version === known.cluster || version === known.group
    ? undefined
    : `Nodegroup Kubernetes version should be equal to Cluster kubernetes version ${known.cluster} or NodeGroup kubernetes version ${known.group}`;

/** Where the launch template has the image, it has the version. */
export const customImageComplaint = (asked: {
  readonly version: string | undefined;
  readonly releaseVersion: string | undefined;
  readonly hasTemplate: boolean;
}): Complaint => {
  const refused = (field: string): string =>
    `You cannot specify the field ${field} when using custom AMIs.`;
  if (asked.version !== undefined) return refused('kubernetesVersion');
  if (asked.releaseVersion !== undefined) return refused('releaseVersion');
  return asked.hasTemplate
    ? undefined
    : "Launch template details can't be null for Custom ami type node group";
};

type TemplateRef = NonNullable<NodeGroupSpec['launchTemplate']>;

/** A group keeps the launch template it was made with, or has none for good. */
export const sameTemplateComplaint = (
  now: TemplateRef | undefined,
  asked: { readonly id?: string; readonly name?: string },
): Complaint => {
  if (now === undefined) {
    return 'You cannot specify a launch template: the node group was not created with one. Create a new node group with the launch template.';
  }
  const isSame =
    asked.id === undefined
      ? now.name === undefined || now.name === asked.name
      : now.id === asked.id;
  return isSame
    ? undefined
    : `Launch template ${asked.id ?? asked.name} is not the one that the node group was created with: ${now.id}. Only its version can be changed.`;
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

/** Node labels that only EKS and Kubernetes themselves set. */
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

/** What no node can have: kubectl writes a spec without asking EKS, which has no empty values. */
export const marksComplaint = ({
  labels = {},
  taints = [],
}: Pick<NodeGroupSpec, 'labels' | 'taints'>): Complaint => {
  const filled = Object.entries(labels).map(([key, value]) => [key, value || 'empty'] as const);
  return first(labelsComplaint(Object.fromEntries(filled)), taintsComplaint(taints));
};

/** The name is also that of a Kubernetes object. */
const objectName = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export const nameComplaint = (name: string): Complaint =>
  objectName.test(name)
    ? undefined
    : `Nodegroup name ${name} is not a Kubernetes name: at most 63 lower case letters, digits and '-', with a letter or digit at both ends`;
