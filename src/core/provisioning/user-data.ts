// User data of a node group, as eksctl writes it for its families: from the cluster's facts to a
// kubelet with the labels of article 002. The controller writes the user data of managed groups,
// except for groups with a user's own image.
import { defined } from '../../api/defined.ts';
import {
  type Family,
  type GroupConfig,
  type Injection,
  instanceTypeFacts,
  kubeReserved,
  maxPodsOf,
  writeUserData,
} from '../../formats/index.ts';
import { clusterTag, groupTag } from './names.ts';

export interface JoinFacts {
  readonly cluster: string;
  readonly endpoint: string;
  readonly certificateAuthority: string;
  readonly serviceCidr: string | undefined;
}

export type UserDataKind = 'shell' | 'node-config' | 'settings' | 'powershell';

const families: Readonly<Record<UserDataKind, Family>> = {
  shell: 'al2',
  'node-config': 'al2023',
  settings: 'bottlerocket',
  powershell: 'windows',
};

/** The labels of article 002's nodes; labels that only the instance knows are appended. */
const labelsOf = (cluster: string, group: GroupConfig): Readonly<Record<string, string>> => ({
  [clusterTag]: cluster,
  [groupTag]: group.name,
  ...group.labels,
  ...(group.kind === 'managed'
    ? {
        'eks.amazonaws.com/nodegroup': group.name,
        'eks.amazonaws.com/capacityType': group.spot ? 'SPOT' : 'ON_DEMAND',
        ...defined({ 'eks.amazonaws.com/nodegroup-image': group.ami }),
      }
    : {}),
});

/**
 * Memory reserved on the group's nodes when the group sets its own pod limit. nodeadm and
 * bootstrap.sh would reserve for their own number of pods (awslabs/amazon-eks-ami#1698);
 * Bottlerocket computes it correctly.
 */
export const reservedFor = (
  family: Family,
  type: string | undefined,
  maxPods: number | undefined,
): Readonly<Record<string, string>> | undefined => {
  const facts = type === undefined ? undefined : instanceTypeFacts(type);
  if (facts?.cpus === undefined || maxPods === undefined || maxPods === maxPodsOf(facts)) {
    return undefined;
  }
  const follows = family === 'al2' || family === 'ubuntu' || family === 'al2023';
  return follows ? kubeReserved(facts.cpus, maxPods) : undefined;
};

/** The part that the group adds for its nodes, whichever tool merges it. */
export const injectionOf = (family: Family, facts: JoinFacts, group: GroupConfig): Injection => ({
  family,
  cluster: {
    name: facts.cluster,
    endpoint: facts.endpoint,
    certificateAuthority: facts.certificateAuthority,
    serviceCidr: facts.serviceCidr ?? '10.100.0.0/16',
  },
  labels: labelsOf(facts.cluster, group),
  ...(group.kind === 'self-managed' && (family === 'al2' || family === 'ubuntu')
    ? {
        instanceLabels: {
          'node-lifecycle': '$INSTANCE_LIFECYCLE',
          'alpha.eksctl.io/instance-id': '$INSTANCE_ID',
        },
      }
    : {}),
  taints: group.taints,
  maxPods: group.maxPods,
  kubeReserved: reservedFor(family, group.instanceTypes[0], group.maxPods),
  commands: group.preBootstrapCommands,
  override: group.overrideBootstrapCommand,
});

/** Plain text, not base64. Throws without user data, since there is nothing to merge. */
export const userDataOf = (kind: UserDataKind, facts: JoinFacts, group: GroupConfig): string => {
  const written = writeUserData(injectionOf(families[kind], facts, group));
  if (written.kind === 'fault') throw new Error(written.message);
  return written.text;
};
