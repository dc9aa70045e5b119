// drover get nodegroup: managed and self-managed groups in eksctl's columns.
import type { Command } from 'commander';
import type { ScalingGroup, Stack } from '../../api/cloud.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../../api/nodegroup.ts';
import { isManagedStack } from '../../core/provisioning/index.ts';
import type { CloudApi, KubeApi } from '../../ports/index.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { outputOption, print } from '../output.ts';
import { listGroups } from '../update/read.ts';
import { addGetClusterCommands } from './get-cluster.ts';
import { addGetNodesCommands } from './get-nodes.ts';
import { addGetUpdatesCommand } from './get-updates.ts';
import { oneName } from './one-name.ts';

/** One row; the json and yaml form of `drover get ng`, version 1. */
export interface NodeGroupRow {
  readonly cluster: string;
  readonly name: string;
  readonly status: string;
  /** RFC 3339. */
  readonly created: string;
  readonly minSize: number;
  readonly maxSize: number;
  readonly desiredCapacity: number;
  readonly instanceType: string;
  /** The AMI type of a managed group, the AMI id of a self-managed one. */
  readonly imageId: string;
  readonly autoScalingGroupName: string;
  readonly type: 'managed' | 'unmanaged';
}

const header = [
  'CLUSTER',
  'NODEGROUP',
  'STATUS',
  'CREATED',
  'MIN SIZE',
  'MAX SIZE',
  'DESIRED CAPACITY',
  'INSTANCE TYPE',
  'IMAGE ID',
  'ASG NAME',
  'TYPE',
];

const clusterTag = 'alpha.eksctl.io/cluster-name';
const nameTag = 'alpha.eksctl.io/nodegroup-name';
const withoutFraction = (time: string): string => time.replace(/\.\d+/, '');

export const managedRow = (group: NodeGroup, scaling: ScalingGroup | undefined): NodeGroupRow => ({
  cluster: group.spec.clusterName,
  name: group.metadata.name,
  status: group.status?.state ?? 'ACTIVE',
  created: withoutFraction(group.metadata.creationTimestamp),
  minSize: scaling?.minSize ?? group.spec.scaling.minSize,
  maxSize: scaling?.maxSize ?? group.spec.scaling.maxSize,
  desiredCapacity: scaling?.desiredCapacity ?? group.status?.desired ?? 0,
  instanceType: group.spec.instanceTypes.join(','),
  imageId: group.spec.amiType,
  autoScalingGroupName: autoScalingGroupNameOf(group),
  type: 'managed',
});

/**
 * A managed group without a NodeGroup: its stack still creates it, or it was deleted without the
 * stack.
 */
const stackStatus = ({ status, tags }: Stack): string =>
  isManagedStack(tags) && /^(CREATE|UPDATE)_COMPLETE$/.test(status) ? 'DELETED' : status;

const stackRow = async (
  cloud: CloudApi,
  stack: Stack,
  scaling: ScalingGroup | undefined,
): Promise<NodeGroupRow> => {
  const template =
    scaling?.launchTemplate === undefined
      ? undefined
      : await cloud.describeLaunchTemplate(scaling.launchTemplate);
  return {
    cluster: stack.tags[clusterTag] ?? '',
    name: stack.tags[nameTag] ?? '',
    status: stackStatus(stack),
    created: withoutFraction(stack.createdAt),
    minSize: scaling?.minSize ?? 0,
    maxSize: scaling?.maxSize ?? 0,
    desiredCapacity: scaling?.desiredCapacity ?? 0,
    instanceType: template?.instanceType ?? '-',
    imageId: template?.imageId ?? '-',
    autoScalingGroupName: stack.autoScalingGroupName ?? '-',
    type: isManagedStack(stack.tags) ? 'managed' : 'unmanaged',
  };
};

/** Every group of `cluster` (or of all): managed ones from their objects, others from stacks. */
export const collectNodeGroups = async (
  kube: KubeApi,
  cloud: CloudApi,
  cluster: string | undefined,
): Promise<readonly NodeGroupRow[]> => {
  const [items, stacks] = await Promise.all([listGroups(kube), cloud.listStacks()]);
  const managed = items.filter(
    (group) => cluster === undefined || group.spec.clusterName === cluster,
  );
  const managedNames = new Set(managed.map((group) => group.metadata.name));
  // An adopted group may have a stack of another name; it belongs to the NodeGroup.
  const adopted = new Set(items.map(autoScalingGroupNameOf));
  const loose = stacks.filter(
    (stack) =>
      stack.tags[nameTag] !== undefined &&
      !managedNames.has(stack.tags[nameTag] ?? '') &&
      !adopted.has(stack.autoScalingGroupName ?? '') &&
      (cluster === undefined || stack.tags[clusterTag] === cluster),
  );
  const names = [
    ...managed.map(autoScalingGroupNameOf),
    ...loose.flatMap((stack) => stack.autoScalingGroupName ?? []),
  ];
  const scaling = new Map((await cloud.describeGroups(names)).map((group) => [group.name, group]));
  const rows = [
    ...managed.map((group) => managedRow(group, scaling.get(autoScalingGroupNameOf(group)))),
    ...(await Promise.all(
      loose.map((stack) => stackRow(cloud, stack, scaling.get(stack.autoScalingGroupName ?? ''))),
    )),
  ];
  return rows.sort((a, b) => a.name.localeCompare(b.name));
};

const cells = (row: NodeGroupRow): readonly string[] => [
  row.cluster,
  row.name,
  row.status,
  row.created,
  String(row.minSize),
  String(row.maxSize),
  String(row.desiredCapacity),
  row.instanceType,
  row.imageId,
  row.autoScalingGroupName,
  row.type,
];

/** Adds `get nodegroup` (ng, nodegroups) to the program. */
export const addGetCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const get = program
    .command('get')
    .description('list clusters, node groups, nodes, updates, disruptions, repairs and add-ons');
  addGetClusterCommands(get, context, connection);
  addGetUpdatesCommand(get, context, connection);
  addGetNodesCommands(get, context, connection);
  get
    .command('nodegroup [name]')
    .aliases(['ng', 'nodegroups'])
    .description('list node groups with their sizes and Auto Scaling groups')
    .option('--cluster <name>', 'only this cluster')
    .option('-n, --name <name>', 'only this node group')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  drover get ng --cluster=ironman-2022\n  drover get ng demo-ng -o yaml',
    )
    .action(
      async (
        positional: string | undefined,
        options: {
          readonly cluster?: string;
          readonly name?: string;
          readonly output: OutputFormat;
        },
      ) => {
        const kube = await context.kube(connection());
        const cloud = await context.cloud(connection());
        const name = oneName(positional, options.name, 'nodegroup');
        const all = await collectNodeGroups(kube, cloud, options.cluster);
        const rows = all.filter((row) => name === undefined || row.name === name);
        if (all.length === 0 && options.cluster !== undefined) {
          const others = await collectNodeGroups(kube, cloud, undefined);
          const clusters = [...new Set(others.map((row) => row.cluster))].join(', ');
          throw new CommandError(
            exitCodes.failed,
            `no node groups in a cluster ${options.cluster}; there are groups in: ` +
              `${clusters || 'none'}`,
          );
        }
        if (rows.length === 0 && name !== undefined) {
          const known = all.map((row) => row.name).join(', ');
          throw new CommandError(
            exitCodes.failed,
            'no node group ' +
              `${name}${options.cluster === undefined ? '' : ` in cluster ${options.cluster}`}; ` +
              `there are: ${known || 'none'}`,
          );
        }
        print(context, options.output, rows, () => ({ header, rows: rows.map(cells) }));
      },
    );
};
