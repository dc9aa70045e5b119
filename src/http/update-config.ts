// UpdateNodegroupConfig: a NodeGroupUpdate, which the controller carries out. The id is derived from the
// request's token, so that a request sent twice is one update.
import type { JsonObject } from '../api/json.ts';
import { resourceTypes } from '../api/kube.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import {
  type NodeGroupChange,
  type NodeGroupUpdate,
  updateStatusOf,
} from '../api/nodegroup-update.ts';
import {
  first,
  labelsComplaint,
  sizeComplaint,
  taintsComplaint,
  updateConfigComplaint,
} from '../core/scaling/index.ts';
import { KubeError } from '../ports/index.ts';
import {
  type AwsCallContext,
  type AwsInput,
  md5Hex,
  optionalStructure,
  optionalText,
  text,
  textMap,
  texts,
} from '../wire/index.ts';
import {
  complain,
  type EksFaceOptions,
  inUse,
  invalid,
  needCluster,
  needGroup,
  updatesOf,
} from './context.ts';
import {
  readRepairConfig,
  readScaling,
  readTaints,
  readUpdateConfig,
  requestText,
} from './read-input.ts';
import { taintEffects } from './render.ts';

type Param = NodeGroupUpdate['spec']['params'][number];

const readChange = (input: AwsInput): NodeGroupChange => {
  const scaling = readScaling(input);
  const labels = optionalStructure(input, 'labels') ?? {};
  const taints = optionalStructure(input, 'taints') ?? {};
  const updateConfig = readUpdateConfig(input);
  const nodeRepairConfig = readRepairConfig(input);
  const add = textMap(labels, 'addOrUpdateLabels');
  const remove = texts(labels, 'removeLabels');
  const addTaints = readTaints(taints, 'addOrUpdateTaints');
  const removeTaints = readTaints(taints, 'removeTaints');
  return {
    ...(scaling === undefined ? {} : { scaling }),
    ...(Object.keys(add).length === 0 ? {} : { addLabels: add }),
    ...(remove.length === 0 ? {} : { removeLabels: remove }),
    ...(addTaints.length === 0 ? {} : { addTaints }),
    ...(removeTaints.length === 0 ? {} : { removeTaints }),
    ...(updateConfig === undefined ? {} : { updateConfig }),
    ...(nodeRepairConfig === undefined ? {} : { nodeRepairConfig }),
  };
};

const paramsOf = (change: NodeGroupChange): readonly Param[] => {
  const { scaling, addLabels, removeLabels, addTaints, removeTaints } = change;
  const { updateConfig, nodeRepairConfig } = change;
  const eksTaints = (taints: typeof addTaints): string | undefined =>
    taints &&
    JSON.stringify(taints.map((taint) => ({ ...taint, effect: taintEffects[taint.effect] })));
  const all: readonly (readonly [string, string | number | boolean | undefined])[] = [
    ['MinSize', scaling?.minSize],
    ['MaxSize', scaling?.maxSize],
    ['DesiredSize', scaling?.desired],
    ['LabelsToAdd', addLabels && JSON.stringify(addLabels)],
    ['LabelsToRemove', removeLabels && JSON.stringify(removeLabels)],
    ['TaintsToAdd', eksTaints(addTaints)],
    ['TaintsToRemove', eksTaints(removeTaints)],
    ['MaxUnavailable', updateConfig?.maxUnavailable],
    ['MaxUnavailablePercentage', updateConfig?.maxUnavailablePercentage],
    ['UpdateStrategy', updateConfig?.updateStrategy],
    ['NodeRepairEnabled', nodeRepairConfig?.enabled],
  ];
  return all.flatMap(([type, value]) =>
    value === undefined ? [] : [{ type, value: String(value) }],
  );
};

const check = (group: NodeGroup, change: NodeGroupChange, input: AwsInput): void => {
  const named = { clusterName: group.spec.clusterName, nodegroupName: group.metadata.name };
  const { scaling, addLabels, addTaints, updateConfig } = change;
  const sizes = { ...group.spec.scaling, ...scaling };
  complain(
    first(
      scaling && sizeComplaint(sizes, 'update'),
      addLabels && labelsComplaint(addLabels),
      addTaints && taintsComplaint(addTaints),
      updateConfig && updateConfigComplaint(updateConfig, sizes.maxSize),
      'warmPoolConfig' in input ? 'warmPoolConfig is not supported by Drover' : undefined,
      paramsOf(change).length === 0 && change.nodeRepairConfig === undefined
        ? 'No changes needed for the labels and scaling config provided'
        : undefined,
    ),
    named,
  );
};

/** A uuid from a digest: the same request has the same id. */
const uuidOf = (digest: string): string =>
  [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `4${digest.slice(13, 16)}`,
    `a${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');

const mustBeActive = async (options: EksFaceOptions, group: NodeGroup): Promise<void> => {
  const { metadata, status, spec } = group;
  const updates = await updatesOf(options, metadata.name);
  const isFree = !updates.some((one) => updateStatusOf(one) === 'InProgress');
  const state = status?.state ?? (spec.autoScalingGroupName === undefined ? 'CREATING' : 'ACTIVE');
  const isActive = state === 'ACTIVE' || state === 'DEGRADED' || state === 'UPDATING';
  if (isFree && isActive && metadata.deletionTimestamp === undefined) return;
  throw inUse('Nodegroup cannot be updated as it is currently not in Active State', {
    clusterName: spec.clusterName,
    nodegroupName: metadata.name,
  });
};

export const updateNodegroupConfig = async (
  options: EksFaceOptions,
  input: AwsInput,
  ctx: AwsCallContext,
): Promise<NodeGroupUpdate> => {
  const { kube } = options;
  const { name: clusterName } = await needCluster(options, text(input, 'clusterName'), ctx);
  const group = await needGroup(options, clusterName, text(input, 'nodegroupName'));
  const { name: nodegroupName, uid } = group.metadata;
  const request = optionalText(input, 'clientRequestToken') ?? ctx.requestId;
  const name = uuidOf(md5Hex(`${uid}/${request}`));
  const type = resourceTypes.nodegroupupdates;
  const digest = md5Hex(requestText(input));
  const repeated = async (): Promise<NodeGroupUpdate | undefined> => {
    const found = await kube.get<NodeGroupUpdate>(type, { name });
    if (found.kind === 'gone') return undefined;
    if (found.object.metadata.annotations?.[requestAnnotation] === digest) return found.object;
    const message = 'clientRequestToken was used before with other parameters';
    throw invalid(message, { clusterName, nodegroupName });
  };
  const known = await repeated();
  if (known !== undefined) return known;
  await mustBeActive(options, group);
  const change = readChange(input);
  check(group, change, input);
  const spec = { nodeGroup: nodegroupName, type: 'ConfigUpdate', params: paramsOf(change), change };
  const object: JsonObject = {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: {
      name,
      annotations: { [requestAnnotation]: digest },
      ownerReferences: [
        { apiVersion: 'drover.dev/v1alpha1', kind: 'NodeGroup', name: nodegroupName, uid },
      ],
    },
    spec: JSON.parse(JSON.stringify(spec)) as JsonObject,
  };
  try {
    return await kube.create<NodeGroupUpdate>(type, object);
  } catch (error) {
    const again = error instanceof KubeError && error.code === 'AlreadyExists';
    const other = again ? await repeated() : undefined;
    if (other === undefined) throw error;
    return other;
  }
};

const requestAnnotation = 'drover.dev/request-digest';
