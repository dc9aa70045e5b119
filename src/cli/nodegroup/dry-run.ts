// What a change of a node group would do: read from the cluster and the cloud, decided by the
// controller's own functions. Sends nothing.
import { type EpochMs, formatTime, instanceIdOfProviderId } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type Node, type Pod, resourceTypes } from '../../api/kube.ts';
import { autoScalingGroupNameOf, isRetained, type NodeGroup } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { GroupPlan, GroupStep } from '../../api/plan.ts';
import { classifyPods } from '../../core/drain/index.ts';
import { explainGroupPlan } from '../../core/explain/index.ts';
import {
  candidatesFrom,
  decideAdoption,
  decideGroup,
  decideLeaving,
  decideRelease,
  decideRemoval,
  type GroupObservation,
  idsToLook,
  instancesToLeave,
  instancesToRead,
  isEmpty,
  recordsOf,
  releaseWaits,
  usesDerived,
  withEmpty,
} from '../../core/group-plan/index.ts';
import { leftSince, ownershipOf } from '../../core/nodegroup/index.ts';
import { openInTurn } from '../../core/update/index.ts';
import {
  type CloudApi,
  CloudError,
  findRemoteAccess,
  type KubeApi,
  listNodeGroups,
  readDerivedParts,
} from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes, type OutputFormat } from '../context.ts';
import { listRepairs } from '../health/read.ts';
import { printDocument } from '../output.ts';

/** The version of the document; a field that changes its meaning increases it. */
const documentVersion = 'cli.drover.dev/v1';

export interface DryRunSources {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly now: EpochMs;
}

const isReady = ({ status }: Node): boolean =>
  status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;

/** By instance id; if several nodes claim an instance, a Ready one. */
const nodesOf = (nodes: readonly Node[]): ReadonlyMap<string, Node> => {
  const found = new Map<string, Node>();
  for (const node of nodes.toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)))) {
    const id = instanceIdOfProviderId(node.spec.providerID);
    if (id !== undefined) found.set(id, node);
  }
  return found;
};

/** Reads the pods on these instances' nodes, as the controller does before it chooses. */
const weigh = async (
  { kube, cloud }: DryRunSources,
  observation: GroupObservation,
  nodes: ReadonlyMap<string, Node>,
  { open, missing }: ReturnType<typeof instancesToRead>,
): Promise<GroupObservation> => {
  if (missing === 0) return observation;
  const found = await cloud.describeInstances(open.map(({ instanceId }) => instanceId));
  const startedAt = new Map(found.map((one) => [one.instanceId, one.launchTime ?? '']));
  const members = new Map(
    [...nodes].map(([id, node]) => [
      id,
      { isReady: isReady(node), isCordoned: node.spec.unschedulable === true },
    ]),
  );
  const records = recordsOf(observation.disruptions);
  const seen = candidatesFrom({ instances: open, nodes: members, records, startedAt });
  const empty = new Set<string>();
  for (const id of idsToLook(seen, missing)) {
    const node = nodes.get(id);
    const fieldSelector = `spec.nodeName=${node?.metadata.name ?? ''}`;
    const pods =
      node === undefined ? [] : (await kube.list<Pod>(resourceTypes.pods, { fieldSelector })).items;
    if (classifyPods(pods).evict.length === 0) empty.add(id);
  }
  return { ...observation, candidates: withEmpty(seen, missing, empty) };
};

interface Observed {
  readonly observation: GroupObservation;
  readonly nodes: ReadonlyMap<string, Node>;
}

const observeWith = async (
  { kube, now }: DryRunSources,
  group: NodeGroup,
  scaling: ScalingGroup,
): Promise<Observed> => {
  const [all, disruptions, updates] = await Promise.all([
    kube.list<Node>(resourceTypes.nodes),
    kube.list<NodeDisruption>(resourceTypes.nodedisruptions),
    kube.list<NodeGroupUpdate>(resourceTypes.nodegroupupdates),
  ]);
  const nodes = nodesOf(all.items);
  const observation = {
    group,
    scaling,
    updates: updates.items,
    disruptions: disruptions.items,
    nodeNames: new Map([...nodes].map(([id, node]) => [id, node.metadata.name])),
    left: leftSince(group.status?.surge),
    now,
  };
  return { observation, nodes };
};

const observe = async (sources: DryRunSources, group: NodeGroup): Promise<Observed> => {
  const [scaling] = await sources.cloud.describeGroups([autoScalingGroupNameOf(group)]);
  if (scaling !== undefined) return observeWith(sources, group, scaling);
  const name = group.metadata.name;
  const message =
    `node group ${name} has no Auto Scaling group; \`drover ` + `get ng ${name}\` says why`;
  throw new CommandError(exitCodes.refused, message);
};

const refuseUnderWay = ({ group, updates }: GroupObservation): void => {
  const [open] = openInTurn(updates, group);
  if (open === undefined) return;
  const { name } = open.metadata;
  const message =
    `update ${name} of node group ${group.metadata.name} is in progress, and what follows ` +
    `depends on it; \`drover get update ${name}\` says how far it is`;
  throw new CommandError(exitCodes.refused, message);
};

/**
 * The plan of a group as returned by the API server's dry run of the request. Throws CommandError,
 * KubeError, CloudError.
 */
export const planOf = async (sources: DryRunSources, changed: NodeGroup): Promise<GroupPlan> => {
  const { observation, nodes } = await observe(sources, changed);
  refuseUnderWay(observation);
  const weighed = await weigh(sources, observation, nodes, instancesToRead(observation));
  return decideGroup(weighed).plan;
};

const asDeleted = (group: NodeGroup, now: EpochMs): NodeGroup => {
  const deletionTimestamp = group.metadata.deletionTimestamp ?? formatTime(now);
  return { ...group, metadata: { ...group.metadata, deletionTimestamp } };
};

/** What the controller does to the Auto Scaling group first, and whether it then holds it. */
const adopt = async (
  { kube, now }: DryRunSources,
  group: NodeGroup,
  found: ScalingGroup,
): Promise<{ readonly held: ScalingGroup | undefined; readonly steps: readonly GroupStep[] }> => {
  const groups = await listNodeGroups(kube);
  const others = groups.filter((one) => autoScalingGroupNameOf(one) === found.name);
  const ownership = ownershipOf(group, found.tags, others);
  if (ownership.kind === 'foreign') return { held: undefined, steps: [] };
  // The owner's tag, if it was read, has stayed: the controller waits for that first.
  const seen = { group, scaling: found, ownership, markedAt: 0, now };
  const { outcome, plan } = decideAdoption(seen);
  if (outcome !== 'held') return { held: undefined, steps: plan.steps };
  const added = plan.steps.flatMap((step) =>
    step.kind === 'TagGroup' ? Object.entries(step.tags) : [],
  );
  const tags = { ...found.tags, ...Object.fromEntries(added) };
  return { held: { ...found, tags }, steps: plan.steps };
};

const planOfDrains = async (
  sources: DryRunSources,
  group: NodeGroup,
  scaling: ScalingGroup,
): Promise<GroupPlan> => {
  const { observation, nodes } = await observeWith(sources, group, scaling);
  const weighed = await weigh(sources, observation, nodes, instancesToLeave(observation));
  return decideLeaving(weighed).plan;
};

type PartReads = Pick<
  CloudApi,
  'findLaunchTemplate' | 'findInstanceProfile' | 'findSecurityGroups'
>;

interface LeaveSources extends DryRunSources {
  readonly parts: PartReads;
}

/** A part that may not be read counts as absent and is added to `unchecked`. */
const withoutDenied = (cloud: CloudApi, unchecked: Set<string>): PartReads => {
  const orNone = async <T>(part: string, read: Promise<T>, none: T): Promise<T> => {
    try {
      return await read;
    } catch (error) {
      if (!(error instanceof CloudError) || error.code !== 'AccessDenied') throw error;
      unchecked.add(part);
      return none;
    }
  };
  return {
    findLaunchTemplate: (asked) =>
      orNone('launch template', cloud.findLaunchTemplate(asked), undefined),
    findInstanceProfile: (name) =>
      orNone('instance profile', cloud.findInstanceProfile(name), undefined),
    findSecurityGroups: (asked) => orNone('security group', cloud.findSecurityGroups(asked), []),
  };
};

const planOfRemoval = async (
  { kube, parts: reads }: LeaveSources,
  group: NodeGroup,
  scaling: ScalingGroup | undefined,
): Promise<GroupPlan> => {
  const repairs = await listRepairs(kube);
  const derived = await readDerivedParts(reads, group);
  const securityGroup = await findRemoteAccess(reads, group);
  const parts = { ...derived, securityGroup };
  return decideRemoval({ group, repairs, scaling, mayStand: false, parts });
};

const planOfRelease = async (
  sources: LeaveSources,
  group: NodeGroup,
  scaling: ScalingGroup,
): Promise<GroupPlan> => {
  const { kube, cloud, parts } = sources;
  const { observation, nodes } = await observeWith(sources, group, scaling);
  const facts = {
    ...observation,
    repairs: await listRepairs(kube),
    nodes: scaling.instances.flatMap(({ instanceId }) => nodes.get(instanceId) ?? []),
  };
  if (releaseWaits(facts) !== undefined) return decideRelease(facts);
  const hooks = await cloud.describeHooks(scaling.name);
  const derived = usesDerived(group, scaling) ? undefined : await readDerivedParts(parts, group);
  return decideRelease({ ...facts, hooks, ...defined({ derived }) });
};

export interface DeletePlans {
  readonly now: GroupPlan;
  /** Once the group has no instances; absent if it has none, or keeps them. */
  readonly later?: GroupPlan;
  /** Parts that the user may not read, so the plans do not name them. */
  readonly unchecked: readonly string[];
}

/** The controller's choice between a release, a removal and drains. */
const plansOfLeave = async (
  sources: LeaveSources,
  group: NodeGroup,
): Promise<Omit<DeletePlans, 'unchecked'>> => {
  const [found] = await sources.cloud.describeGroups([autoScalingGroupNameOf(group)]);
  const { held, steps } =
    found === undefined ? { held: undefined, steps: [] } : await adopt(sources, group, found);
  const after = (plan: GroupPlan): GroupPlan => ({ ...plan, steps: [...steps, ...plan.steps] });
  if (held !== undefined && isRetained(group)) {
    return { now: after(await planOfRelease(sources, group, held)) };
  }
  if (held === undefined || isEmpty(held)) {
    return { now: after(await planOfRemoval(sources, group, held ?? found)) };
  }
  const emptied = { ...held, instances: [], desiredCapacity: 0 };
  const now = after(await planOfDrains(sources, group, held));
  return { now, later: await planOfRemoval(sources, group, emptied) };
};

/** The plans of the group after its deletion was requested. Throws as planOf. */
export const plansOfDelete = async (
  sources: DryRunSources,
  group: NodeGroup,
): Promise<DeletePlans> => {
  const unchecked = new Set<string>();
  const leave = { ...sources, parts: withoutDenied(sources.cloud, unchecked) };
  const plans = await plansOfLeave(leave, asDeleted(group, sources.now));
  return { ...plans, unchecked: [...unchecked] };
};

/** The plan of the first pass after the update was recorded and its journal began. */
export const planOfUpdate = async (
  sources: DryRunSources,
  group: NodeGroup,
  update: NodeGroupUpdate,
): Promise<GroupPlan> => {
  const { observation } = await observe(sources, group);
  refuseUnderWay(observation);
  const begun = { ...update, status: { status: 'InProgress', phase: 'Preparing' } as const };
  const updates = [...observation.updates, begun];
  return decideGroup({ ...observation, updates, update: begun }).plan;
};

/** Prints lines as text, and the Plan itself for scripts. */
export const printGroupPlan = (
  context: CliContext,
  format: OutputFormat,
  plan: GroupPlan,
  { later, unchecked = [] }: Partial<Omit<DeletePlans, 'now'>> = {},
): void => {
  if (format !== 'table') {
    const more = defined({ later, unchecked: unchecked.length === 0 ? undefined : unchecked });
    const document = { apiVersion: documentVersion, kind: 'NodeGroupPlan', ...plan, ...more };
    printDocument(context, format, document);
    return;
  }
  context.out(`${plan.subject}: what the controller would do now, in this order`);
  for (const line of explainGroupPlan(plan)) context.out(`  ${line}`);
  if (later !== undefined) {
    context.out(`${plan.subject}: once all of its instances are terminated`);
    for (const line of explainGroupPlan(later)) context.out(`  ${line}`);
  }
  for (const part of unchecked) context.out(`  not checked, access denied: ${part}`);
};
