// Shared by sequence tests of version updates: a small group a release behind, how to request an
// update, and the complete state after an update in a form that two runs can be compared by.
// Decides nothing.
import { defined } from '../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { NodeGroup } from '../../src/api/nodegroup.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../src/api/nodegroup-update.ts';
import type { GroupLife } from './nodegroup-world.ts';

export const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];

export interface GroupWish {
  readonly desired?: number;
  readonly maxSize?: number;
  /** Number of zones; EKS' surplus is twice as many nodes. */
  readonly zones?: number;
  readonly updateConfig?: JsonObject;
}

/** A managed group, a release behind the newest, with Ready nodes. */
export const makeGroup = async (life: GroupLife, wish: GroupWish = {}): Promise<void> => {
  const { desired = 2, maxSize = desired + 2, zones = 1, updateConfig } = wish;
  const subnets = (life.request().subnets as readonly string[]).slice(0, zones);
  await life.create({
    releaseVersion: older,
    subnets: [...subnets],
    scalingConfig: { minSize: 0, maxSize, desiredSize: desired },
    ...defined({ updateConfig }),
  });
  await life.until('the group is ACTIVE', () => life.isActive(desired), 1800);
};

/** An application whose budget allows this many unavailable pods. */
export const runApp = async (life: GroupLife, replicas: number, allowed: number): Promise<void> => {
  life.deploy(replicas, allowed);
  await life.until('its pods run', () => life.runningPods('web') === replicas);
  await life.driver.advance(60);
};

/** Requested as with `kubectl patch` or GitOps. */
export const askFor = (life: GroupLife, releaseVersion: string): void => {
  const answer = life.patch({ spec: { releaseVersion } });
  if (answer.kind === 'error') throw new Error(JSON.stringify(answer));
};

/** In the order of their start. */
export const updatesOf = (life: GroupLife): readonly NodeGroupUpdate[] =>
  [...life.updates()].sort((a, b) =>
    (a.status?.startedAt ?? '9').localeCompare(b.status?.startedAt ?? '9'),
  );
export const latest = (life: GroupLife): NodeGroupUpdate | undefined => updatesOf(life).at(-1);
export const phasesOf = (update: NodeGroupUpdate | undefined): readonly string[] =>
  (update?.status?.phases ?? []).map(({ phase }) => phase);
export const areOver = (life: GroupLife): boolean =>
  life.updates().length > 0 && life.updates().every((one) => updateStatusOf(one) !== 'InProgress');

export const untilOver = (life: GroupLife): Promise<void> =>
  life.until('the updates are over', () => areOver(life), 4 * 3600);

/** The group is idle at this size: nothing remains of an update, a drain or a scale-in. */
export const untilAtRest = async (life: GroupLife, size: number): Promise<void> => {
  const isAtRest = (): boolean => life.isActive(size) && life.nodes().length === size;
  await life.until(`the group rests with ${size} nodes`, isAtRest, 3600);
  await life.driver.advance(120);
};

export const namesOf = (life: GroupLife): readonly string[] =>
  life.nodes().map(({ metadata }) => String(objectOr(metadata).name));
export const instanceOf = (node: JsonObject): string =>
  String(objectOr(node.spec).providerID).split('/').at(-1) ?? '';
export const isCordoned = (node: JsonObject): boolean => objectOr(node.spec).unschedulable === true;
export const imageOf = ({ metadata }: JsonObject): unknown =>
  objectOr(objectOr(metadata).labels)['eks.amazonaws.com/nodegroup-image'];

const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers';

const nodeEnd = (node: JsonObject): JsonObject => ({
  image: String(imageOf(node)),
  isCordoned: isCordoned(node),
  isExcluded: objectOr(objectOr(node.metadata).labels)[excluded] !== undefined,
  ours: Object.keys(objectOr(objectOr(node.metadata).annotations)).filter((key) =>
    key.startsWith('drover.dev/'),
  ),
});

const groupEnd = ({ spec, status }: NodeGroup) => ({
  spec,
  state: status?.state,
  desired: status?.desired,
  ready: status?.ready,
  maxSize: status?.maxSize,
  version: status?.version,
  releaseVersion: status?.releaseVersion,
  imageId: status?.imageId,
  surge: status?.surge,
  scaleIn: status?.scaleIn,
  failure: status?.failure?.code,
  requestedRevision: status?.requestedRevision,
});

const updateEnd = ({ spec, status }: NodeGroupUpdate) => ({
  change: spec.change,
  status: status?.status,
  errors: status?.errors?.map(({ code }) => code),
  progress: status?.progress,
  original: status?.original,
  from: status?.from?.releaseVersion,
  target: status?.target?.releaseVersion,
  surge: status?.surge,
  maxUnavailable: status?.maxUnavailable,
  phases: status?.phases?.map(({ phase }) => phase),
  failedNodes: status?.failedNodes?.length,
});

/** The image of the group's new instances. */
const imageOfNewNodes = (life: GroupLife, scaling: JsonObject): unknown => {
  const { LaunchTemplateId, Version } = objectOr(scaling.LaunchTemplate);
  const input = { LaunchTemplateId: String(LaunchTemplateId), Versions: [String(Version)] };
  const answer = objectOr(life.world.aws.call('ec2', 'DescribeLaunchTemplateVersions', input));
  const [version] = answer.LaunchTemplateVersions as readonly JsonObject[];
  return objectOr(objectOr(version).LaunchTemplateData).ImageId;
};

/** The complete final state, without times and random names. */
export const endState = (life: GroupLife): JsonObject => {
  const group = life.group();
  const [scaling = {}] = life.autoScalingGroups();
  const open = [...life.world.kube.readAll({ group: 'drover.dev', resource: 'nodedisruptions' })]
    .map(({ status }) => String(objectOr(status).phase))
    .filter((phase) => phase !== 'Ended');
  const texts = life.nodes().map((node) => JSON.stringify(nodeEnd(node)));
  const end = {
    nodes: texts.toSorted(),
    group: group && groupEnd(group),
    updates: updatesOf(life).map(updateEnd),
    scaling: {
      min: scaling.MinSize,
      max: scaling.MaxSize,
      desired: scaling.DesiredCapacity,
      instances: (scaling.Instances as readonly unknown[] | undefined)?.length,
      suspended: scaling.SuspendedProcesses,
      image: imageOfNewNodes(life, scaling),
    },
    pods: life.runningPods('web'),
    openDisruptions: open,
  };
  return JSON.parse(JSON.stringify(end)) as JsonObject;
};

/**
 * As `aws eks update-nodegroup-version` without a version: to the newest release, whatever the
 * current one.
 */
export const askAgain = (life: GroupLife): void => {
  life.make({ group: 'drover.dev', resource: 'nodegroupupdates' }, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name: `again-${life.updates().length}` },
    spec: {
      nodeGroup: 'ng',
      type: 'VersionUpdate',
      params: [{ type: 'ReleaseVersion', value: newest }],
      change: { releaseVersion: newest },
    },
  });
};
