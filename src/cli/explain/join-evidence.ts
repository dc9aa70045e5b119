// Collects the evidence from Kubernetes and the cloud about a node group whose instances do not
// become nodes, for core/explain. Reads only; what cannot be read is left out and reported.

import { type EpochMs, instanceIdOfProviderId, parseTime } from '../../api/brand.ts';
import type { ClusterAccess, ScalingGroup } from '../../api/cloud.ts';
import { isReady } from '../../api/conditions.ts';
import { defined } from '../../api/defined.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../../api/nodegroup.ts';
import type {
  GroupUserDataInForce,
  JoinEvidence,
  JoiningInstance,
  RoleMap,
} from '../../core/explain/index.ts';
import {
  classicLoadBalancersText,
  joinTimeoutMs,
  launchIssues,
} from '../../core/nodegroup/index.ts';
import { startupTaintsOn } from '../../core/termination/index.ts';
import { familyCalled } from '../../formats/index.ts';
import {
  type CloudApi,
  CloudError,
  type KubeApi,
  KubeError,
  listNodeGroups,
  lookAtJoinNetwork,
  orUnknown,
  readNodeRoles,
  readUserData,
} from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { holdingLines } from '../nodegroup/deleting.ts';
import { closeNames } from '../nodes.ts';
import { gatherRequests } from './request-evidence.ts';
import { gatherWindowsEvidence } from './windows-evidence.ts';

/** A managed group or a stack's group, as far as its nodes' joining depends on it. */
export interface JoiningGroup {
  readonly name: string;
  readonly cluster: string;
  readonly type: 'managed' | 'unmanaged';
  /** EKS' status, or CloudFormation's for a stack. */
  readonly state: string;
  readonly amiType: string | undefined;
  readonly version: string | undefined;
  readonly instanceTypes: readonly string[];
  readonly hasOwnImage: boolean;
  readonly roleArn: string | undefined;
  readonly autoScalingGroupName: string;
  /** Other problems of the group, a sentence each. */
  readonly warnings: readonly string[];
}

/** An instance whose node is Ready, and which still waits in a launch hook. */
export interface LaunchingInstance {
  readonly instanceId: string;
  readonly node: string;
  /** Keys of the startup taints that are still on the node; the hook waits for their removal. */
  readonly startupTaints: readonly string[];
}

const clusterTag = 'alpha.eksctl.io/cluster-name';
const nameTag = 'alpha.eksctl.io/nodegroup-name';

/**
 * Warnings about a group beside its nodes: unobserved terminations, what blocks its deletion.
 */
export const warningsOf = (group: NodeGroup): readonly string[] => [
  ...(group.status?.conditions ?? [])
    .filter(({ type, status }) => type === 'TerminationsNotSeen' && status === 'True')
    .map(({ type, message = '' }) => `${type}: ${message}`),
  ...(group.metadata.deletionTimestamp === undefined
    ? []
    : holdingLines(group, [], group.metadata.name)),
];

interface FoundGroup {
  readonly group: JoiningGroup;
  /** Undefined: a group of a stack. */
  readonly object?: NodeGroup;
}

const ofObject = (group: NodeGroup): JoiningGroup => ({
  name: group.metadata.name,
  cluster: group.spec.clusterName,
  type: 'managed',
  state: group.status?.state ?? 'CREATING',
  amiType: group.spec.amiType,
  version: group.spec.version,
  instanceTypes: group.spec.instanceTypes,
  hasOwnImage: group.spec.amiType === 'CUSTOM',
  roleArn: group.spec.nodeRole === '' ? undefined : group.spec.nodeRole,
  autoScalingGroupName: autoScalingGroupNameOf(group),
  warnings: warningsOf(group),
});

/** Throws CommandError where the group does not exist. */
export const findJoiningGroup = async (
  kube: KubeApi,
  cloud: CloudApi,
  name: string,
): Promise<FoundGroup> => {
  const items = await listNodeGroups(kube);
  const managed = items.find(({ metadata }) => metadata.name === name);
  if (managed !== undefined) return { group: ofObject(managed), object: managed };
  const stacks = await cloud.listStacks();
  const stack = stacks.find(({ tags }) => tags[nameTag] === name);
  if (stack?.autoScalingGroupName === undefined) {
    const known = [
      ...new Set([
        ...items.map(({ metadata }) => metadata.name),
        ...stacks.flatMap(({ tags }) => tags[nameTag] ?? []),
      ]),
    ];
    const close = closeNames(name, known);
    const hint =
      close.length > 0
        ? `did you mean ${close.join(' or ')}?`
        : `there are: ${known.join(', ') || 'none'}`;
    throw new CommandError(exitCodes.failed, `no node group ${name}; ${hint}`);
  }
  const group: JoiningGroup = {
    name,
    cluster: stack.tags[clusterTag] ?? '',
    type: 'unmanaged',
    state: stack.status,
    amiType: undefined,
    version: undefined,
    instanceTypes: [],
    hasOwnImage: true,
    roleArn: stack.nodeRole,
    autoScalingGroupName: stack.autoScalingGroupName,
    warnings: [],
  };
  return { group };
};

/** The node group whose Auto Scaling group contains the instance; undefined: no known one. */
export const groupNameOf = async (
  kube: KubeApi,
  cloud: CloudApi,
  instanceId: string,
): Promise<string | undefined> => {
  const scaling = (await cloud.describeGroups()).find(({ instances }) =>
    instances.some((one) => one.instanceId === instanceId),
  );
  if (scaling === undefined) return undefined;
  const items = await listNodeGroups(kube);
  const managed = items.find((group) => autoScalingGroupNameOf(group) === scaling.name);
  if (managed !== undefined) return managed.metadata.name;
  const stacks = await cloud.listStacks();
  const stack = stacks.find(({ autoScalingGroupName }) => autoScalingGroupName === scaling.name);
  return stack?.tags[nameTag];
};

const rolesOf = async (
  kube: KubeApi,
  describe: Promise<ClusterAccess | undefined>,
): Promise<RoleMap> => {
  try {
    return await readNodeRoles(kube, describe);
  } catch (error) {
    if (!(error instanceof KubeError) && !(error instanceof CloudError)) throw error;
    return { kind: 'unknown', why: `kube-system/aws-auth was not read: ${error.message}` };
  }
};

const userDataOf = async (
  cloud: CloudApi,
  group: JoiningGroup,
  scaling: ScalingGroup,
): Promise<GroupUserDataInForce | undefined> => {
  const read = await readUserData(cloud, scaling);
  const { amiType, hasOwnImage, version: kubernetesVersion, instanceTypes } = group;
  return (
    read && {
      ...read,
      family: amiType === undefined ? undefined : familyCalled(amiType),
      hasOwnImage,
      kubernetesVersion,
      instanceType: read.instanceType ?? instanceTypes[0],
    }
  );
};

const notReadyOf = ({ status }: Node): string | undefined => {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined
    ? undefined
    : `${ready.reason ?? ready.status}: ${ready.message ?? ''}`;
};

const groupLabel = 'eks.amazonaws.com/nodegroup';
/** Consoles are 64 KB each, and usually all show the same failure. */
const maxConsoles = 10;

const consoleOf = async (cloud: CloudApi, instanceId: string): Promise<string | undefined> => {
  try {
    return await cloud.consoleOutput(instanceId);
  } catch (error) {
    if (error instanceof CloudError) return undefined;
    throw error;
  }
};

const instancesOf = async (
  kube: KubeApi,
  cloud: CloudApi,
  { group, object }: FoundGroup,
  { instances }: ScalingGroup,
): Promise<{
  readonly joined: number;
  readonly launching: readonly LaunchingInstance[];
  readonly joining: readonly JoiningInstance[];
  readonly hasReadRequests: boolean;
}> => {
  const { items } = await kube.list<Node>(resourceTypes.nodes);
  const nodes = new Map(
    items.map((node) => [instanceIdOfProviderId(node.spec.providerID) ?? '', node]),
  );
  const hasLabel = (node: Node): boolean =>
    group.type === 'unmanaged' || node.metadata.labels?.[groupLabel] === group.name;
  const leaving = instances.filter(({ lifecycleState }) => lifecycleState.startsWith('Terminat'));
  const own = instances.filter((one) => !leaving.includes(one)).map(({ instanceId }) => instanceId);
  const unjoined = own.filter((id) => {
    const node = nodes.get(id);
    return node === undefined || !isReady(node) || !hasLabel(node);
  });
  const known = unjoined.length === 0 ? [] : await cloud.describeInstances(unjoined);
  const requests = known.length === 0 ? new Map() : await gatherRequests(kube);
  const joining: JoiningInstance[] = [];
  for (const { instanceId, state, launchTime, privateDnsName, network } of known) {
    const node = nodes.get(instanceId);
    const names = [node?.metadata.name ?? '', privateDnsName, instanceId];
    const own = [...new Set(names)].flatMap((name) => requests?.get(name) ?? []);
    const reads = node === undefined && joining.length < maxConsoles;
    joining.push({
      instanceId,
      state,
      launchTime,
      network,
      console: reads ? await consoleOf(cloud, instanceId) : undefined,
      ...(requests === undefined ? {} : { requests: own }),
      node:
        node === undefined
          ? undefined
          : {
              name: node.metadata.name,
              notReady: notReadyOf(node),
              hasGroupLabel: hasLabel(node),
            },
    });
  }
  const launching = instances.flatMap(({ instanceId, lifecycleState }) => {
    const node = nodes.get(instanceId);
    if (lifecycleState !== 'Pending:Wait' || node === undefined || !isReady(node)) return [];
    const startupTaints = object === undefined ? [] : startupTaintsOn(node, object);
    return [{ instanceId, node: node.metadata.name, startupTaints }];
  });
  const hasReadRequests = requests !== undefined;
  return { joined: own.length - unjoined.length, launching, joining, hasReadRequests };
};

export interface Gathered {
  readonly group: JoiningGroup;
  readonly evidence: JoinEvidence;
  readonly joined: number;
  readonly launching: readonly LaunchingInstance[];
  readonly desired: number;
  /** Sentences about what could not be read. */
  readonly unseen: readonly string[];
}

/** Throws CommandError where the group or its Auto Scaling group does not exist. */
export const gatherJoinEvidence = async (
  kube: KubeApi,
  cloud: CloudApi,
  wanted: { readonly name: string; readonly now: EpochMs },
): Promise<Gathered> => {
  const { name, now } = wanted;
  const found = await findJoiningGroup(kube, cloud, name);
  const [scaling] = await cloud.describeGroups([found.group.autoScalingGroupName]);
  if (scaling === undefined) {
    throw new CommandError(
      exitCodes.failed,
      `node group ${name} has no Auto Scaling group ${found.group.autoScalingGroupName} (yet): ` +
        `\`kubectl describe nodegroup ${name}\` says what keeps it`,
    );
  }
  const classic = classicLoadBalancersText(scaling);
  const warnings = [...found.group.warnings, ...(classic === undefined ? [] : [classic])];
  const group = { ...found.group, warnings };
  const describing = cloud.describeCluster(group.cluster);
  const roles = await rolesOf(kube, describing);
  const cluster = await orUnknown(describing);
  const members = await instancesOf(kube, cloud, found, scaling);
  const { joined, launching, joining, hasReadRequests } = members;
  const isShort = scaling.instances.length < scaling.desiredCapacity;
  const activities = isShort ? await cloud.describeActivities(scaling.name) : [];
  const { network, unseen } = await lookAtJoinNetwork(cloud, {
    cluster,
    subnets: scaling.subnets ?? [],
    instances: joining.map((one) => one.network),
  });
  const userData = await userDataOf(cloud, group, scaling);
  const isWindows = group.amiType?.startsWith('WINDOWS') ?? false;
  const windows = isWindows ? await gatherWindowsEvidence(kube, cloud, group) : undefined;
  return {
    group,
    joined,
    launching,
    desired: scaling.desiredCapacity,
    unseen: [
      ...(roles.kind === 'unknown' ? [roles.why] : []),
      ...(hasReadRequests ? [] : ['certificate requests were not read']),
      ...(userData === undefined ? ['the launch template’s user data was not read'] : []),
      ...(isWindows && windows?.vpcCni === undefined
        ? ['ConfigMap kube-system/amazon-vpc-cni was not read']
        : []),
      ...unseen,
    ],
    evidence: {
      now,
      network,
      cluster: group.cluster,
      roleArn: group.roleArn,
      isWindows,
      ...defined({ windows }),
      roles,
      userData,
      failedLaunches: launchIssues(activities, scaling.name),
      instances: joining,
    },
  };
};

/** Milliseconds until the instance times out by EKS' rule; undefined where that is unknown. */
export const timeLeft = ({ launchTime }: JoiningInstance, now: number): number | undefined => {
  const at = parseTime(launchTime);
  return at === undefined ? undefined : at + joinTimeoutMs - now;
};
