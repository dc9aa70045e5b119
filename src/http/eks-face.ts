// The EKS face: node group operations of the EKS API over NodeGroup objects. Reads only for now;
// creating, updating and deleting through EKS answer the modelled error of what is not there.

import { resourceTypes } from '../api/kube.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import type { CloudApi, KubeApi, ScalingGroup } from '../ports/index.ts';
import {
  type AwsCallContext,
  AwsError,
  type AwsHandlers,
  type AwsInput,
  optionalNumber,
  optionalText,
  text,
} from '../wire/index.ts';

export interface EksFaceOptions {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  /** Names of the clusters this face answers for. */
  readonly clusterNames: () => readonly string[];
}

const notFound = (message: string, members: Readonly<Record<string, unknown>>): AwsError =>
  new AwsError({ code: 'ResourceNotFoundException', message, members });

const taintEffects: Readonly<Record<string, string>> = {
  NoSchedule: 'NO_SCHEDULE',
  NoExecute: 'NO_EXECUTE',
  PreferNoSchedule: 'PREFER_NO_SCHEDULE',
};

/** EKS gives node groups a uuid of their own; the group's name carries it. */
const uuidOf = (autoScalingGroupName: string): string =>
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.exec(autoScalingGroupName)?.[0] ?? '';

/** A NodeGroup as EKS' DescribeNodegroup shows it; sizes come from the Auto Scaling group itself. */
export const toEksNodegroup = (
  group: NodeGroup,
  scaling: ScalingGroup | undefined,
  ctx: Pick<AwsCallContext, 'region' | 'principal'>,
): Readonly<Record<string, unknown>> => {
  const { spec, status, metadata } = group;
  const createdAt = Date.parse(metadata.creationTimestamp);
  const { accountId } = ctx.principal;
  const arn = `arn:aws:eks:${ctx.region}:${accountId}:nodegroup/${spec.clusterName}/${metadata.name}`;
  return {
    nodegroupName: metadata.name,
    nodegroupArn: `${arn}/${uuidOf(spec.autoScalingGroupName)}`,
    clusterName: spec.clusterName,
    version: spec.version,
    releaseVersion: spec.releaseVersion,
    createdAt,
    modifiedAt: createdAt,
    status: status?.state ?? 'ACTIVE',
    capacityType: spec.capacityType,
    scalingConfig: {
      minSize: scaling?.minSize ?? spec.scaling.minSize,
      maxSize: scaling?.maxSize ?? spec.scaling.maxSize,
      desiredSize: scaling?.desiredCapacity ?? status?.desired ?? 0,
    },
    instanceTypes: spec.instanceTypes,
    subnets: spec.subnets,
    ...(spec.remoteAccess === undefined ? {} : { remoteAccess: spec.remoteAccess }),
    amiType: spec.amiType,
    nodeRole: spec.nodeRole,
    labels: spec.labels ?? {},
    ...(spec.taints === undefined
      ? {}
      : { taints: spec.taints.map((taint) => ({ ...taint, effect: taintEffects[taint.effect] })) }),
    resources: { autoScalingGroups: [{ name: spec.autoScalingGroupName }] },
    ...(spec.diskSizeGiB === undefined ? {} : { diskSize: spec.diskSizeGiB }),
    health: { issues: status?.health ?? [] },
    updateConfig: { maxUnavailable: 1 },
    ...(spec.launchTemplate === undefined ? {} : { launchTemplate: spec.launchTemplate }),
    tags: spec.tags ?? {},
  };
};

const requireCluster = (options: EksFaceOptions, name: string): void => {
  if (!options.clusterNames().includes(name)) {
    throw notFound(`No cluster found for name: ${name}.`, { clusterName: name });
  }
};

const describeNodegroup = async (
  options: EksFaceOptions,
  input: AwsInput,
  ctx: AwsCallContext,
): Promise<unknown> => {
  const clusterName = text(input, 'clusterName');
  const nodegroupName = text(input, 'nodegroupName');
  requireCluster(options, clusterName);
  const found = await options.kube.get<NodeGroup>(resourceTypes.nodegroups, {
    name: nodegroupName,
  });
  if (found.kind === 'gone' || found.object.spec.clusterName !== clusterName) {
    throw notFound(`No node group found for name: ${nodegroupName}.`, {
      clusterName,
      nodegroupName,
    });
  }
  const groups = await options.cloud.describeGroups([found.object.spec.autoScalingGroupName]);
  return { nodegroup: toEksNodegroup(found.object, groups[0], ctx) };
};

/** A page token is the number of names already given: they are few and sorted. */
const listNodegroups = async (options: EksFaceOptions, input: AwsInput): Promise<unknown> => {
  const clusterName = text(input, 'clusterName');
  requireCluster(options, clusterName);
  const { items } = await options.kube.list<NodeGroup>(resourceTypes.nodegroups);
  const names = items
    .filter((group) => group.spec.clusterName === clusterName)
    .map((group) => group.metadata.name)
    .sort();
  const from = Number(optionalText(input, 'nextToken') ?? '0');
  if (!Number.isInteger(from) || from < 0) {
    throw new AwsError({
      code: 'InvalidParameterException',
      message: 'nextToken is not one that was given out',
    });
  }
  const size = optionalNumber(input, 'maxResults') ?? 100;
  const nodegroups = names.slice(from, from + size);
  const more = from + size < names.length;
  return { nodegroups, ...(more ? { nextToken: String(from + size) } : {}) };
};

/** Handlers to put beside those of the world's own EKS service. */
export const createEksFace = (options: EksFaceOptions): AwsHandlers => ({
  eks: {
    DescribeNodegroup: (input, ctx) => describeNodegroup(options, input, ctx),
    ListNodegroups: (input) => listNodegroups(options, input),
  },
});
