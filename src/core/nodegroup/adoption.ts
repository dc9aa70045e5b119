// What would happen if an Auto Scaling group were adopted: who created it, what is installed on it,
// what Drover would add, and why it may be refused. Reads only tags, hooks, nodes and NodeGroups;
// changes nothing. Pure.
import type { LifecycleHook, ScalingGroup } from '../../api/cloud.ts';
import { type NodeGroup, ownerTag } from '../../api/nodegroup.ts';
import { clusterNamesIn, tellingNames } from './adopted.ts';
import { launchHookName, missingHooks, standardHooks, terminateHookName } from './hooks.ts';

/** Who made a group, by the tags that each tool sets. */
export type GroupOrigin = 'drover' | 'eks' | 'eksctl' | 'kops' | 'kops-control-plane' | 'other';

/** EKS sets it on the groups of its managed node groups; groups that Drover made carry it too. */
const eksTag = 'eks:nodegroup-name';
/** eksctl's: https://github.com/eksctl-io/eksctl, pkg/apis/eksctl.io/v1alpha5. */
const eksctlTag = 'alpha.eksctl.io/nodegroup-name';
/** kOps sets these on every group of a cluster. */
const kopsGroupTag = 'kops.k8s.io/instancegroup';
const kopsControlPlaneTags = ['k8s.io/role/control-plane', 'k8s.io/role/master'];
/** The default of aws-node-termination-handler's `managedTag`. */
const terminationHandlerTag = 'aws-node-termination-handler/managed';
const autoscalerTag = 'k8s.io/cluster-autoscaler/enabled';

export const originOf = ({ tags }: Pick<ScalingGroup, 'tags'>): GroupOrigin => {
  if (tags[ownerTag] !== undefined) return 'drover';
  if (kopsControlPlaneTags.some((tag) => tags[tag] !== undefined)) return 'kops-control-plane';
  if (tags[kopsGroupTag] !== undefined) return 'kops';
  if (tags[eksctlTag] !== undefined && tags[eksTag] === undefined) return 'eksctl';
  return tags[eksTag] === undefined ? 'other' : 'eks';
};

/**
 * A name for the NodeGroup: the one that eksctl or kOps gave the group, else that of the Auto
 * Scaling group, written as a Kubernetes name.
 */
export const nodeGroupNameFor = ({ name, tags }: Pick<ScalingGroup, 'name' | 'tags'>): string =>
  (tags[eksctlTag] ?? tags[kopsGroupTag] ?? name)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63)
    .replace(/-+$/, '');

export interface RefreshFacts {
  readonly status: string;
  readonly percentage: number;
}

/** A node of this cluster that is an instance of the group. */
export interface MemberNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface AdoptionInput {
  readonly group: ScalingGroup;
  readonly hooks: readonly LifecycleHook[];
  /** The instance refresh that is under way. */
  readonly refresh?: RefreshFacts;
  /** Every NodeGroup of the cluster. */
  readonly nodeGroups: readonly Pick<NodeGroup, 'metadata' | 'spec'>[];
  /** The name that the NodeGroup is to have. */
  readonly name: string;
  /** Instances of the group that are nodes of this cluster. */
  readonly nodes: readonly MemberNode[];
  /** The names by which tags may identify this cluster, as far as known; see `clusterNamesOf`. */
  readonly clusterNames: readonly string[];
}

/**
 * The names by which tags may identify this cluster: the cluster names of its NodeGroups, and those
 * in the tags of Auto Scaling groups with nodes in it.
 */
export const clusterNamesOf = (
  nodeGroups: readonly Pick<NodeGroup, 'spec'>[],
  groupsWithNodes: readonly Pick<ScalingGroup, 'tags'>[],
): readonly string[] =>
  tellingNames([
    ...nodeGroups.map(({ spec }) => spec.clusterName),
    ...groupsWithNodes.flatMap(({ tags }) => clusterNamesIn(tags)),
  ]);

export interface Adoption {
  readonly autoScalingGroup: string;
  readonly nodeGroup: string;
  readonly origin: GroupOrigin;
  /** Facts of the group, one line each. */
  readonly found: readonly string[];
  /** What the controller will add, one line each. */
  readonly adds: readonly string[];
  /** What others do with this group beside Drover. */
  readonly warnings: readonly string[];
  /** Why it is left alone; undefined: it can be adopted. */
  readonly refusal?: string;
}

const hookText = (hook: LifecycleHook): string => {
  const when = hook.transition === 'autoscaling:EC2_INSTANCE_LAUNCHING' ? 'launch' : 'terminate';
  const waits = `waits ${hook.heartbeatTimeoutSeconds} s, then ${hook.defaultResult}`;
  return `${when} hook ${hook.name} of others: ${waits}; it stays as it is`;
};

const templateText = ({ launchTemplate, overrides }: ScalingGroup): string => {
  if (launchTemplate === undefined) return 'no launch template: its nodes cannot be updated';
  const types = overrides === undefined ? '' : `, mixed instances of ${overrides.length} overrides`;
  return `launch template ${launchTemplate.name} version ${launchTemplate.version}${types}`;
};

const rebalanceText = ({ suspendedProcesses = [] }: ScalingGroup): string =>
  suspendedProcesses.includes('AZRebalance')
    ? 'AZRebalance is suspended'
    : 'AZRebalance is active: Auto Scaling may terminate nodes to balance zones; Drover drains them';

/**
 * Undefined: the group registers its instances with no Classic Load Balancer. Those of Services are
 * not included, since Auto Scaling does not register instances with them.
 */
export const classicLoadBalancersText = ({
  classicLoadBalancers: names = [],
}: Pick<ScalingGroup, 'classicLoadBalancers'>): string | undefined => {
  if (names.length === 0) return undefined;
  const which = names.length === 1 ? 'Classic Load Balancer' : 'Classic Load Balancers';
  return (
    `${which} ${names.join(', ')}: Auto Scaling deregisters an instance that it terminates, and a ` +
    'drain does not wait for that'
  );
};

const foundOf = ({ group, hooks, refresh }: AdoptionInput): readonly string[] => {
  const { minSize, maxSize, desiredCapacity, instances, warmPool, suspendedProcesses = [] } = group;
  const others = suspendedProcesses.filter((process) => process !== 'AZRebalance');
  const classic = classicLoadBalancersText(group);
  return [
    `sizes ${minSize} to ${maxSize}, desired ${desiredCapacity}, instances ${instances.length}`,
    templateText(group),
    rebalanceText(group),
    ...(others.length === 0 ? [] : [`suspended processes: ${others.join(', ')}; they stay so`]),
    ...(group.capacityRebalance === undefined
      ? []
      : [`capacity rebalance is ${group.capacityRebalance ? 'on' : 'off'}`]),
    ...(classic === undefined ? [] : [classic]),
    ...(warmPool === undefined ? [] : [`a warm pool of ${warmPool.instances} instances`]),
    ...(refresh === undefined
      ? []
      : [`an instance refresh is ${refresh.status} at ${refresh.percentage} %`]),
    ...hooks.filter(({ name }) => !ownNames.has(name)).map(hookText),
  ];
};

const ownNames = new Set([launchHookName, terminateHookName]);

const addsOf = ({ group, hooks, name }: AdoptionInput): readonly string[] => {
  // As the controller decides it for the new NodeGroup, whose uid is not known.
  const missing = missingHooks({ metadata: { uid: '' }, spec: {} }, hooks);
  return [
    `NodeGroup ${name} with spec.autoScalingGroupName ${group.name} and deletionPolicy Retain`,
    ...standardHooks(undefined).map((hook) =>
      missing.some(({ name: added }) => added === hook.name)
        ? `lifecycle hook ${hook.name} (${hook.heartbeatTimeoutSeconds} s, ${hook.defaultResult})`
        : `nothing for ${hook.name}: a hook of that name exists and is used as it is`,
    ),
    `tag ${ownerTag}, and tags with cluster and node group where they are missing`,
  ];
};

const inServiceOf = ({ instances }: ScalingGroup): number =>
  instances.filter(({ lifecycleState }) => lifecycleState === 'InService').length;

/**
 * Labels of nodes that run a control plane, of kubeadm and kOps: the current one and the older one.
 */
const controlPlaneLabels = [
  'node-role.kubernetes.io/control-plane',
  'node-role.kubernetes.io/master',
];

/** Undefined: no node of it runs the control plane. */
const controlPlaneNodeOf = ({ nodes }: AdoptionInput): MemberNode | undefined =>
  nodes.find(({ labels = {} }) => controlPlaneLabels.some((label) => labels[label] !== undefined));

/**
 * Why the group seems to belong to another cluster. A node in this cluster outweighs every tag; if
 * no instance is a node here, the tags decide.
 */
const otherClusterOf = ({ group, nodes, clusterNames }: AdoptionInput): string | undefined => {
  if (nodes.length > 0) return undefined;
  const named = clusterNamesIn(group.tags);
  const [first] = named;
  if (first !== undefined && clusterNames.length > 0) {
    if (named.some((name) => clusterNames.includes(name))) return undefined;
    return (
      `its tags name cluster ${first}, and this one is ${clusterNames.join(', ')}: adopt it in ` +
      'its own cluster with --context, or correct the tags'
    );
  }
  const inService = inServiceOf(group);
  if (inService === 0) return undefined;
  return (
    `none of its ${inService} instances in service is a node of this cluster: adopt it in its own ` +
    'cluster with --context, or wait until one has joined'
  );
};

const isUnproven = ({ group, nodes, clusterNames }: AdoptionInput): boolean =>
  nodes.length === 0 && !clusterNamesIn(group.tags).some((name) => clusterNames.includes(name));

const warningsOf = (input: AdoptionInput): readonly string[] => [
  ...(isUnproven(input)
    ? ['no node and no tag shows that its instances join this cluster; they must']
    : []),
  ...othersOn(input),
];

const othersOn = ({ group, refresh }: AdoptionInput): readonly string[] => [
  ...(group.tags[terminationHandlerTag] === undefined
    ? []
    : [
        `tag ${terminationHandlerTag}: aws-node-termination-handler may drain the same nodes; ` +
          'take the tag away, or stop it, once Drover drains them',
      ]),
  ...(group.tags[autoscalerTag] === undefined
    ? []
    : ['cluster-autoscaler scales this group: Drover takes over the sizes that it sets']),
  ...(refresh === undefined
    ? []
    : ['wait for the instance refresh, or cancel it: it replaces nodes beside an update']),
];

const refusalOf = (input: AdoptionInput): string | undefined => {
  const { group, nodeGroups, name } = input;
  const holder = nodeGroups.find(({ spec }) => spec.autoScalingGroupName === group.name);
  if (holder !== undefined) return `NodeGroup ${holder.metadata.name} has it already`;
  const owner = group.tags[ownerTag];
  const own = nodeGroups.find(({ metadata }) => metadata.uid === owner);
  if (own !== undefined) return `NodeGroup ${own.metadata.name} created it`;
  if (owner !== undefined) {
    return (
      `tag ${ownerTag} names the NodeGroup with uid ${owner}, which this cluster does not have: ` +
      'another cluster or controller has it. Remove the tag if that NodeGroup no longer exists'
    );
  }
  const origin = originOf(group);
  if (origin === 'eks') {
    return 'EKS manages it: EKS drains and updates its nodes, and Drover leaves it alone';
  }
  if (origin === 'kops-control-plane') {
    return 'its nodes run the control plane: update them with kops rolling-update';
  }
  const controlPlane = controlPlaneNodeOf(input);
  if (controlPlane !== undefined) {
    return (
      `its node ${controlPlane.name} runs the control plane (label ${controlPlaneLabels[0]}): ` +
      'Drover drains no control plane; upgrade it with the tool that made it, such as kubeadm'
    );
  }
  const otherCluster = otherClusterOf(input);
  if (otherCluster !== undefined) return otherCluster;
  return nodeGroups.some(({ metadata }) => metadata.name === name)
    ? `a NodeGroup ${name} exists already; choose another name with --name`
    : undefined;
};

const adoptionOf = (input: AdoptionInput, taken: string | undefined): Adoption => {
  const refusal = refusalOf(input) ?? taken;
  return {
    autoScalingGroup: input.group.name,
    nodeGroup: input.name,
    origin: originOf(input.group),
    found: foundOf(input),
    adds: refusal === undefined ? addsOf(input) : [],
    warnings: refusal === undefined ? warningsOf(input) : [],
    ...(refusal === undefined ? {} : { refusal }),
  };
};

/**
 * Adopting several groups at once: groups that would get the same name are all refused. Otherwise
 * the second one would fail after the first was adopted.
 */
export const adoptionsOf = (inputs: readonly AdoptionInput[]): readonly Adoption[] => {
  const able = inputs.filter((input) => refusalOf(input) === undefined);
  return inputs.map((input) => {
    const { name, group } = input;
    const same = able.filter((other) => other.name === name && other.group.name !== group.name);
    const names = same.map((other) => other.group.name).join(', ');
    const taken =
      `its NodeGroup would be called ${name}, as that of ${names}: adopt each with ` +
      '--asg NAME --name NODEGROUP';
    return adoptionOf(input, same.length === 0 ? undefined : taken);
  });
};
