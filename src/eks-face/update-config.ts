// UpdateNodegroupConfig: the changes, after all of EKS' immediate checks. The controller carries
// them out.
import { defined } from '../api/defined.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import type { NodeGroupChange, NodeGroupUpdate } from '../api/nodegroup-update.ts';
import {
  type AwsCallContext,
  type AwsInput,
  optionalStructure,
  textMap,
  texts,
} from '../aws-wire/index.ts';
import {
  first,
  labelsComplaint,
  nodeRepairComplaint,
  sizeComplaint,
  taintsComplaint,
  updateConfigComplaint,
} from '../core/nodegroup/index.ts';
import { complain, type EksFaceOptions } from './context.ts';
import { readRepairConfig, readScaling, readTaints, readUpdateConfig } from './read-input.ts';
import { recordUpdate } from './record-update.ts';
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
    ...defined({ scaling }),
    ...(Object.keys(add).length === 0 ? {} : { addLabels: add }),
    ...(remove.length === 0 ? {} : { removeLabels: remove }),
    ...(addTaints.length === 0 ? {} : { addTaints }),
    ...(removeTaints.length === 0 ? {} : { removeTaints }),
    ...defined({ updateConfig, nodeRepairConfig }),
  };
};

/** Undefined when only `enabled` is given. */
const repairText = (config: NodeGroupChange['nodeRepairConfig']): string | undefined => {
  const { enabled: _, ...rest } = config ?? {};
  return Object.keys(rest).length === 0 ? undefined : JSON.stringify(config);
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
    ['NodeRepairConfig', repairText(nodeRepairConfig)],
  ];
  return all.flatMap(([type, value]) =>
    value === undefined ? [] : [{ type, value: String(value) }],
  );
};

const check = (group: NodeGroup, change: NodeGroupChange, input: AwsInput): void => {
  const named = { clusterName: group.spec.clusterName, nodegroupName: group.metadata.name };
  const { scaling, addLabels, addTaints, updateConfig, nodeRepairConfig } = change;
  const sizes = { ...group.spec.scaling, ...scaling };
  complain(
    first(
      scaling && sizeComplaint(sizes, 'update'),
      addLabels && labelsComplaint(addLabels),
      addTaints && taintsComplaint(addTaints),
      updateConfig && updateConfigComplaint(updateConfig, sizes.maxSize),
      nodeRepairConfig && nodeRepairComplaint(nodeRepairConfig),
      'warmPoolConfig' in input ? 'warmPoolConfig is not supported by Drover' : undefined,
      paramsOf(change).length === 0 && nodeRepairConfig === undefined
        ? 'No changes needed for the labels and scaling config provided'
        : undefined,
    ),
    named,
  );
};

export const updateNodegroupConfig = (
  options: EksFaceOptions,
  input: AwsInput,
  ctx: AwsCallContext,
): Promise<NodeGroupUpdate> =>
  recordUpdate(options, input, ctx, ({ group }) => {
    const change = readChange(input);
    check(group, change, input);
    return { type: 'ConfigUpdate', params: paramsOf(change), change };
  });
