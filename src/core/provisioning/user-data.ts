// User data of a node group, as eksctl writes it for its families: from the cluster's facts
// to a kubelet with the labels of article 002. Managed groups get theirs from their controller, but
// for those with an image of the user's own.
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

/** The labels of article 002's nodes; what an instance knows of itself comes after them. */
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
 * What the group's nodes keep of memory where it says how many pods may run: nodeadm and
 * bootstrap.sh would take their own number (awslabs/amazon-eks-ami#1698), Bottlerocket takes the
 * right one itself.
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

/** What the group adds for its nodes, whoever merges it with what. */
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

/**
 * Plain text, not base64. Throws where there is nothing that could be merged: without user data.
 */
export const userDataOf = (kind: UserDataKind, facts: JoinFacts, group: GroupConfig): string => {
  const written = writeUserData(injectionOf(families[kind], facts, group));
  if (written.kind === 'fault') throw new Error(written.message);
  return written.text;
};
