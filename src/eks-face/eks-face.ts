// The EKS face: node group operations of the EKS API over NodeGroup and NodeGroupUpdate objects. As
// in EKS, a call answers with the requested state and the controllers carry it out.
import { resourceTypes } from '../api/kube.ts';
import { deleteAgainAnnotation, type NodeGroup } from '../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../api/nodegroup-update.ts';
import {
  type AwsCallContext,
  type AwsHandler,
  type AwsHandlers,
  type AwsInput,
  optionalNumber,
  optionalText,
  text,
} from '../aws-wire/index.ts';
import { clusterSkewComplaint, nextMinor } from '../core/nodegroup/index.ts';
import {
  type EksFaceOptions,
  groupsOf,
  inUse,
  invalidRequest,
  isUndefinedKind,
  needCluster,
  needGroup,
  notFound,
  pageOf,
  remoteAccessGroupOf,
  scalingOf,
  unavailable,
  updatesOf,
} from './context.ts';
import { createNodegroup } from './create.ts';
import { toEksNodegroup, toEksUpdate } from './render.ts';
import { tagHandlers } from './tags.ts';
import { updateNodegroupConfig } from './update-config.ts';
import { updateNodegroupVersion } from './update-version.ts';

const pageRequest = (input: AwsInput) => ({
  nextToken: optionalText(input, 'nextToken'),
  maxResults: optionalNumber(input, 'maxResults'),
});

const shown = async (options: EksFaceOptions, group: NodeGroup, ctx: AwsCallContext) => {
  const updates = await updatesOf(options, group.metadata.name);
  const scaling = await scalingOf(options, group);
  const remoteAccessSecurityGroup = await remoteAccessGroupOf(options, group);
  const context = { scaling, updates, remoteAccessSecurityGroup };
  return { nodegroup: toEksNodegroup(group, context, ctx) };
};

const groupHandlers = (options: EksFaceOptions): Readonly<Record<string, AwsHandler>> => {
  /** The group in a request. */
  const named = async (input: AwsInput, ctx: AwsCallContext): Promise<NodeGroup> => {
    const { name } = await needCluster(options, text(input, 'clusterName'), ctx);
    return needGroup(options, name, text(input, 'nodegroupName'));
  };
  return {
    CreateNodegroup: async (input, ctx) =>
      shown(options, await createNodegroup(options, input, ctx), ctx),
    DescribeNodegroup: async (input, ctx) => shown(options, await named(input, ctx), ctx),
    ListNodegroups: async (input, ctx) => {
      const { name } = await needCluster(options, text(input, 'clusterName'), ctx);
      const groups = await groupsOf(options, name);
      const names = groups.map(({ metadata }) => metadata.name).sort();
      const { names: nodegroups, ...next } = pageOf(names, pageRequest(input));
      return { nodegroups, ...next };
    },
    DeleteNodegroup: async (input, ctx) => {
      const group = await named(input, ctx);
      const { name, uid } = group.metadata;
      const failedAt = group.status?.failure?.at;
      // A repeated call is the same deletion; a failed deletion is retried at once.
      if (group.metadata.deletionTimestamp === undefined) {
        await options.kube.delete(resourceTypes.nodegroups, { name }, { uid });
      } else if (group.status?.state === 'DELETE_FAILED' && failedAt !== undefined) {
        const body = { metadata: { uid, annotations: { [deleteAgainAnnotation]: failedAt } } };
        await options.kube.patch(resourceTypes.nodegroups, { name }, { type: 'merge', body });
      }
      const answer = await shown(options, group, ctx);
      return { nodegroup: { ...answer.nodegroup, status: 'DELETING' } };
    },
    UpdateNodegroupConfig: async (input, ctx) => ({
      update: toEksUpdate(await updateNodegroupConfig(options, input, ctx)),
    }),
    UpdateNodegroupVersion: async (input, ctx) => ({
      update: toEksUpdate(await updateNodegroupVersion(options, input, ctx)),
    }),
  };
};

const updateHandlers = (options: EksFaceOptions): Readonly<Record<string, AwsHandler>> => {
  const all = async (input: AwsInput, ctx: AwsCallContext): Promise<readonly NodeGroupUpdate[]> => {
    const { name } = await needCluster(options, text(input, 'name'), ctx);
    const nodegroupName = optionalText(input, 'nodegroupName');
    if (nodegroupName === undefined) return [];
    await needGroup(options, name, nodegroupName);
    return updatesOf(options, nodegroupName);
  };
  return {
    ListUpdates: async (input, ctx) => {
      const ids = (await all(input, ctx)).map(({ metadata }) => metadata.name);
      const { names: updateIds, ...next } = pageOf(ids, pageRequest(input));
      return { updateIds, ...next };
    },
    DescribeUpdate: async (input, ctx) => {
      const id = text(input, 'updateId');
      const found = (await all(input, ctx)).find(({ metadata }) => metadata.name === id);
      if (found === undefined) throw notFound(`No update found for ID: ${id}`);
      return { update: toEksUpdate(found) };
    },
  };
};

/** Without the definition of node groups there are none. */
const groupsIfDefined = (options: EksFaceOptions, clusterName: string) =>
  groupsOf(options, clusterName).catch((error): readonly NodeGroup[] => {
    if (isUndefinedKind(error)) return [];
    throw error;
  });

/** A group whose Auto Scaling group could not be created still counts as attached. */
const clusterHandlers = (options: EksFaceOptions): Readonly<Record<string, AwsHandler>> => ({
  DeleteCluster: async (input, ctx) => {
    const { name: clusterName } = await needCluster(options, text(input, 'name'), ctx);
    const groups = await groupsIfDefined(options, clusterName);
    if (groups.length > 0) throw inUse('Cluster has nodegroups attached', { clusterName });
    return options.world.DeleteCluster?.(input, ctx);
  },
  UpdateClusterVersion: async (input, ctx) => {
    const { name: clusterName, version: from } = await needCluster(
      options,
      text(input, 'name'),
      ctx,
    );
    const to = optionalText(input, 'version') ?? '';
    // The service that owns the cluster refuses any other step.
    if (to === nextMinor(from)) {
      const groups = await groupsIfDefined(options, clusterName);
      const versions = groups.map(({ metadata, spec, status }) => ({
        name: metadata.name,
        version: status?.version ?? spec.version,
      }));
      const complaint = clusterSkewComplaint({ from, to }, versions);
      if (complaint !== undefined) throw invalidRequest(complaint, { clusterName });
    }
    return options.world.UpdateClusterVersion?.(input, ctx);
  },
});

/** Node groups are objects of the cluster: without their definition no request can be answered. */
const explained =
  (handler: AwsHandler): AwsHandler =>
  async (input, ctx) => {
    try {
      return await handler(input, ctx);
    } catch (error) {
      if (!isUndefinedKind(error)) throw error;
      throw unavailable(
        "The cluster has no definition of Drover's objects any more, or of another version: " +
          '`kubectl apply -f deploy/crds` brings it back, as a restart of the controller does',
      );
    }
  };

/** Handlers that complement the world's own EKS service. */
export const createEksFace = (options: EksFaceOptions): AwsHandlers => {
  const handlers = {
    ...clusterHandlers(options),
    ...groupHandlers(options),
    ...updateHandlers(options),
    ...tagHandlers(options),
  };
  return {
    eks: Object.fromEntries(
      Object.entries(handlers).map(([name, handler]) => [name, explained(handler)]),
    ),
  };
};
