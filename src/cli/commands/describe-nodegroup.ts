// drover describe nodegroup: everything about one managed node group. Read only.
import type { Command } from 'commander';
import { type KubeObject, resourceTypes } from '../../api/kube.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../api/nodegroup-update.ts';
import { type NodeView, updateView } from '../../core/overview/index.ts';
import { openInTurn } from '../../core/update/index.ts';
import { type KubeApi, orUnknown } from '../../ports/index.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import {
  describeGroup,
  type GroupEvent,
  type GroupFacts,
  groupDocument,
  timeOf,
} from '../nodegroup/describe.ts';
import { outputOption, printDocument } from '../output.ts';
import { listUpdates, needGroup, readFacts } from '../update/read.ts';
import { oneName } from './one-name.ts';

interface DescribeFlags {
  readonly cluster?: string;
  readonly name?: string;
  readonly output: OutputFormat;
}

/** Empty for a user who may not list events. */
const eventsOf = async (
  kube: KubeApi,
  { metadata }: KubeObject,
): Promise<readonly GroupEvent[]> => {
  const fieldSelector = `involvedObject.kind=NodeGroup,involvedObject.name=${metadata.name}`;
  const found = await orUnknown(kube.list<GroupEvent>(resourceTypes.events, { fieldSelector }));
  return (found?.items ?? []).toSorted((a, b) => timeOf(b).localeCompare(timeOf(a)));
};

/** For an update that has ended, `drover describe update` shows the nodes. */
const nodesOf = async (kube: KubeApi, update: NodeGroupUpdate): Promise<readonly NodeView[]> => {
  if (updateStatusOf(update) !== 'InProgress') return [];
  const facts = await orUnknown(readFacts(kube, update.metadata.name));
  return facts === undefined ? [] : updateView(facts).nodes;
};

const describeNodeGroup = async (
  context: CliContext,
  connection: Connection,
  positional: string | undefined,
  { cluster, name: flag, output }: DescribeFlags,
): Promise<void> => {
  const name = oneName(positional, flag, 'nodegroup');
  if (name === undefined) {
    throw new CommandError(exitCodes.usage, 'name the node group: drover describe nodegroup NAME');
  }
  const kube = await context.kube(connection);
  const group = await needGroup(kube, name, cluster);
  const all = await listUpdates(kube, name);
  const [update] = [...openInTurn(all, group), ...all];
  const nodes = update === undefined ? [] : await nodesOf(kube, update);
  const facts: GroupFacts = { group, update, nodes, events: await eventsOf(kube, group) };
  if (output !== 'table') return printDocument(context, output, groupDocument(facts));
  const { now } = await context.cluster(connection);
  for (const line of describeGroup(facts, now)) context.out(line);
};

/** Adds `nodegroup` to `describe`. */
export const addDescribeNodeGroup = (
  describe: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  describe
    .command('nodegroup [name]')
    .aliases(['ng', 'nodegroups'])
    .description('show a managed node group: sizes, template, health with remedies, update, events')
    .option('--cluster <name>', 'name of the cluster')
    .option('-n, --name <name>', 'name of the node group')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
The last line names the command that helps next. \`kubectl get ng NAME -o yaml\` prints the object.

Examples:
  drover describe ng demo-ng
  drover describe nodegroup --cluster ironman-2022 --name demo-ng -o json | jq .issues`,
    )
    .action((name: string | undefined, flags: DescribeFlags) =>
      describeNodeGroup(context, connection(), name, flags),
    );
};
