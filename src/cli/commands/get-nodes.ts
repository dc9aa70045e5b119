// drover get nodes|disruptions|repairs: the health of nodes, and what each waits for. Reads only.
import type { Command } from 'commander';
import { epochMs, formatKubeTime, parseTime } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import { explainWaiting } from '../../core/explain/index.ts';
import { type NodeRow, nodeRow } from '../../core/overview/index.ts';
import type { CliContext, Connection, OutputFormat } from '../context.ts';
import { documentVersion } from '../drain/render.ts';
import { listDisruptions, listRepairs, readHealth } from '../health/read.ts';
import { outputOption, print } from '../output.ts';

const header = ['NAME', 'GROUP', 'ZONE', 'REVISION', 'HEALTH', 'SINCE', 'WAITS FOR'];

const cells = (row: NodeRow): readonly string[] => [
  row.name,
  row.group ?? '-',
  row.zone ?? '-',
  row.revision ?? '-',
  row.finding === null ? row.health : `${row.health} (${row.finding})`,
  row.since ?? '-',
  row.waitsFor ?? '-',
];

interface GetFlags {
  readonly nodegroup?: string;
  readonly output: OutputFormat;
}

const listDocument = (kind: string, items: readonly unknown[]) => ({
  apiVersion: documentVersion,
  kind,
  items,
});

const getNodes = async (
  context: CliContext,
  connection: Connection,
  flags: GetFlags,
): Promise<void> => {
  const kube = await context.kube(connection);
  const { now } = await context.cluster(connection);
  const { items } = await kube.list<Node>(resourceTypes.nodes);
  const rows = (await readHealth(kube, items, now))
    .map(nodeRow)
    .filter(({ group }) => flags.nodegroup === undefined || group === flags.nodegroup)
    .toSorted((a, b) => a.name.localeCompare(b.name));
  print(context, flags.output, listDocument('NodeList', rows), () => ({
    header,
    rows: rows.map(cells),
  }));
};

const shortTime = (time: string | undefined): string => {
  const at = parseTime(time);
  return at === undefined ? '-' : formatKubeTime(epochMs(at));
};

const disruptionCells = ({ metadata, spec, status }: NodeDisruption): readonly string[] => [
  metadata.name,
  spec.nodeName ?? '-',
  spec.nodeGroup ?? '-',
  spec.causes.map(({ kind }) => kind).join(','),
  status?.phase ?? 'Pending',
  status?.outcome ?? '-',
  status?.podsRemaining === undefined ? '-' : String(status.podsRemaining),
  shortTime(status?.deadline),
  status?.waitingOn?.[0] === undefined ? '-' : explainWaiting(status.waitingOn[0]),
];

const getDisruptions = async (
  context: CliContext,
  connection: Connection,
  flags: GetFlags,
): Promise<void> => {
  const all = await listDisruptions(await context.kube(connection));
  const items = all.filter(
    ({ spec }) => flags.nodegroup === undefined || spec.nodeGroup === flags.nodegroup,
  );
  print(context, flags.output, listDocument('NodeDisruptionList', items), () => ({
    header: [
      ...['NAME', 'NODE', 'GROUP', 'CAUSES', 'PHASE', 'OUTCOME', 'PODS', 'DEADLINE'],
      'WAITS FOR',
    ],
    rows: items.map(disruptionCells),
  }));
};

const repairCells = ({ metadata, spec, status }: NodeRepair): readonly string[] => [
  metadata.name,
  spec.node?.name ?? '-',
  spec.nodeGroup,
  `${spec.condition} ${spec.reason}`,
  status?.phase ?? '-',
  status?.action ?? status?.attempts?.at(-1)?.action ?? '-',
  shortTime(status?.eligibleAt),
  status?.message ?? '-',
];

const getRepairs = async (
  context: CliContext,
  connection: Connection,
  flags: GetFlags,
): Promise<void> => {
  const all = await listRepairs(await context.kube(connection));
  const items = all
    .filter(({ spec }) => flags.nodegroup === undefined || spec.nodeGroup === flags.nodegroup)
    .toSorted((a, b) => b.spec.unhealthySince.localeCompare(a.spec.unhealthySince));
  print(context, flags.output, listDocument('NodeRepairList', items), () => ({
    header: ['NAME', 'NODE', 'GROUP', 'FINDING', 'PHASE', 'ACTION', 'ELIGIBLE', 'MESSAGE'],
    rows: items.map(repairCells),
  }));
};

/** Adds `get nodes`, `get disruptions` and `get repairs` to `get`. */
export const addGetNodesCommands = (
  get: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const commands = [
    {
      name: 'nodes',
      alias: 'node',
      what: 'list nodes: group, health, since when, and what each waits for',
      run: getNodes,
    },
    {
      name: 'disruptions',
      alias: 'nd',
      what: 'list drains: which instances are or were taken out of service, and why',
      run: getDisruptions,
    },
    {
      name: 'repairs',
      alias: 'nr',
      what: 'list repairs: when each unhealthy instance is repaired, and what delays it',
      run: getRepairs,
    },
  ] as const;
  for (const { name, alias, what, run } of commands) {
    get
      .command(name)
      .alias(alias)
      .description(what)
      .option('--nodegroup <name>', 'only this node group')
      .addOption(outputOption())
      .addHelpText('after', `\nExamples:\n  drover get ${name}\n  drover get ${name} -o json`)
      .action((flags: GetFlags) => run(context, connection(), flags));
  }
};
