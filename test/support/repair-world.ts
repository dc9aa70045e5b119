// Sequence tests of node repair: a group with node repair in a small world, nodes that become
// unhealthy, and the outcome. Tests only.
import type { NodeDisruption } from '../../src/api/disruption.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import {
  type NodeRepair,
  type RepairRequest,
  requestedEpisode,
} from '../../src/api/node-repair.ts';
import { GroupLife, type GroupLifeOptions } from './nodegroup-world.ts';

const minute = 60;
export const minutes = (count: number): number => count * minute;

/** A group `ng` of `size` nodes with node repair, all in service. */
export const repaired = async (
  size: number,
  more: { readonly config?: JsonObject; readonly own?: JsonObject } & GroupLifeOptions = {},
): Promise<GroupLife> => {
  const { config, own, ...options } = more;
  const life = await GroupLife.begin(options);
  await life.create({
    scalingConfig: { minSize: 0, maxSize: size + 4, desiredSize: size },
    nodeRepairConfig: { enabled: true, ...config },
  });
  if (own !== undefined) life.patch({ spec: { nodeRepair: own } });
  await life.until('the group is ACTIVE', () => life.isActive(size), 1800);
  return life;
};

export const nodeName = (life: GroupLife, index: number): string =>
  String(objectOr(life.nodes()[index]?.metadata).name);

export const instanceOf = (life: GroupLife, name: string): string => {
  const node = life.nodes().find((one) => objectOr(one.metadata).name === name);
  return String(objectOr(node?.spec).providerID).split('/').at(-1) ?? '';
};

export const stopKubelet = (life: GroupLife, node: string): void => {
  life.world.faults.inject('kubelet-stop', { node });
};

export const repairsOf = (life: GroupLife): readonly NodeRepair[] =>
  [...life.world.kube.readAll(resourceTypes.noderepairs)] as unknown as readonly NodeRepair[];

/** As `drover repair` records it. */
export const requestRepair = (
  life: GroupLife,
  node: string,
  action: RepairRequest['action'],
): void => {
  const instanceId = instanceOf(life, node);
  const at = new Date(life.world.kernel.now() / 1000).toISOString();
  const object = {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeRepair',
    metadata: { name: `${instanceId}-1` },
    spec: {
      nodeGroup: 'ng',
      instanceId,
      unhealthySince: at,
      ...requestedEpisode,
      requested: { action, at, by: 'an operator' },
    },
  };
  const made = life.user.create(resourceTypes.noderepairs, undefined, object);
  if (made.kind === 'error') throw new Error(JSON.stringify(made));
};

export const disruptionOf = (life: GroupLife, instance: string): NodeDisruption | undefined =>
  life.world.kube.read(resourceTypes.nodedisruptions, {
    name: instance,
  }) as unknown as NodeDisruption | undefined;

/** Requested terminations, with whether each decrements the desired size. */
export const terminations = (life: GroupLife): readonly JsonObject[] =>
  life.calls
    .filter(({ operation }) => operation === 'TerminateInstanceInAutoScalingGroup')
    .map(({ input }) => input);

/**
 * Sets a condition like an agent, by a strategic merge patch of the status; without a heartbeat.
 */
export const setCondition = (
  life: GroupLife,
  node: string,
  condition: {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  },
): void => {
  const at = `${new Date(life.world.kernel.now() / 1000).toISOString().slice(0, 19)}Z`;
  const body = {
    status: {
      conditions: [{ message: 'm', ...condition, lastTransitionTime: at }],
    },
  };
  const patched = life.user.patch(
    resourceTypes.nodes,
    { name: node },
    { type: 'strategic', body, subresource: 'status' },
  );
  if (patched.kind === 'error') throw new Error(JSON.stringify(patched));
};
