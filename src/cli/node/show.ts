// drover node show: the configuration of a simulated machine, computed from the user data and facts
// that its world stores. Changes nothing and calls no machine, so it refuses machines outside a
// world.
import { defined } from '../../api/defined.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import {
  type EvaluatedNode,
  evaluateUserData,
  exampleFacts,
  type Family,
  familyCalled,
  type NodeFacts,
  redacted,
} from '../../formats/index.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { printDocument } from '../output.ts';
import { renderTable } from '../table.ts';
import { familyNamed, versionGiven } from '../userdata/options.ts';
import { printFiles } from './files.ts';

export interface ShowFlags {
  readonly kubeletArgs?: boolean;
  readonly file?: string;
  readonly files?: boolean;
  readonly family?: string;
  readonly kubernetes?: string;
  readonly output: OutputFormat;
}

interface Shown {
  readonly name: string;
  readonly instanceId: string;
  /** The family of its image, where the world knows it. */
  readonly family: Family | undefined;
  readonly facts: NodeFacts;
  readonly userData: Uint8Array | undefined;
}

const elsewhere = (name: string): CommandError =>
  new CommandError(
    exitCodes.refused,
    `refused: ${name} is no node of an embedded world, and nothing is asked of other ` +
      'machines; on ' +
      'the node itself `drover node init --config-source imds --dry-run` prints the same, ' +
      'offline ' +
      '`drover userdata render -f GROUP.yaml --files`',
  );

const factsOf = (value: JsonObject): NodeFacts => ({
  ...exampleFacts,
  ...(objectOr(value) as Partial<NodeFacts>),
});

const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

const lookUp = async (
  context: CliContext,
  connection: Connection,
  given: string,
): Promise<Shown> => {
  const name = given.replace(/^nodes?\//, '');
  if (!(await context.cluster(connection)).embedded) throw elsewhere(name);
  const answer = await (await context.world(connection)).node(name);
  return {
    name: String(answer.privateDnsName),
    instanceId: String(answer.instanceId),
    family: familyCalled(String(answer.family ?? '')),
    facts: factsOf(objectOr(answer.facts)),
    userData: typeof answer.userData === 'string' ? bytesOf(answer.userData) : undefined,
  };
};

const documentOf = ({ name, instanceId, facts }: Shown, node: EvaluatedNode): JsonObject => ({
  apiVersion: 'cli.drover.dev/v1',
  kind: 'NodeBootstrap',
  node: name,
  instanceId,
  family: node.family,
  instanceType: facts.instanceType,
  kubernetesVersion: facts.kubernetesVersion,
  joins: node.obstacles.length === 0,
  obstacles: node.obstacles.map(({ rule, at, message }) => ({ rule, ...at, message })),
  labels: { ...node.labels },
  taints: node.taints.map((taint): JsonObject => ({ ...taint })),
  maxPods: node.maxPods,
  kubelet: node.kubelet.effective,
  arguments: [...node.kubelet.arguments],
  files: node.files.map(redacted).map((file): JsonObject => ({ ...file })),
});

/** The command line as `ps` shows it. */
export const commandLine = (node: EvaluatedNode): string =>
  [node.family === 'windows' ? 'kubelet.exe' : '/usr/bin/kubelet', ...node.kubelet.arguments].join(
    ' ',
  );

const taintText = ({ key, value, effect }: EvaluatedNode['taints'][number]): string =>
  `${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect}`;

const printSummary = (context: CliContext, shown: Shown, node: EvaluatedNode): void => {
  const rows = [
    ['node', shown.name],
    ['instance', `${shown.instanceId} (${shown.facts.instanceType})`],
    ['family', node.family],
    ['Kubernetes', shown.facts.kubernetesVersion],
    ['cluster', node.cluster.name ?? '-'],
    ['max pods', String(node.maxPods)],
    ...Object.entries(node.labels).map(([key, value], i) => [
      i === 0 ? 'labels' : '',
      `${key}=${value}`,
    ]),
    ...node.taints.map((taint, i) => [i === 0 ? 'taints' : '', taintText(taint)]),
    ...node.files.map(({ path, mode }, i) => [i === 0 ? 'files' : '', `${mode} ${path}`]),
    ...node.obstacles.map(({ rule, message }, i) => [
      i === 0 ? 'does not join' : '',
      `${rule}: ${message}`,
    ]),
  ];
  for (const line of renderTable(['', ''], rows).slice(1)) context.out(line);
};

const printOneFile = (context: CliContext, node: EvaluatedNode, path: string): void => {
  const found = node.files.find((one) => one.path === path);
  if (found === undefined) {
    throw new CommandError(
      exitCodes.failed,
      `the bootstrap writes no ${path}; it writes ${node.files.map((one) => one.path).join(', ')}`,
    );
  }
  context.out(redacted(found).content.replace(/\n$/, ''));
};

export const runShow = async (
  context: CliContext,
  connection: Connection,
  given: string,
  flags: ShowFlags,
): Promise<void> => {
  const family: Family | undefined = familyNamed(flags.family);
  const version = flags.kubernetes === undefined ? undefined : versionGiven(flags.kubernetes);
  const found = await lookUp(context, connection, given);
  const shown: Shown = {
    ...found,
    facts: { ...found.facts, ...defined({ kubernetesVersion: version }) },
  };
  if (shown.userData === undefined) {
    throw new CommandError(
      exitCodes.failed,
      `instance ${shown.instanceId} has no user data: nothing was bootstrapped on it`,
    );
  }
  const { node } = evaluateUserData(shown.userData, shown.facts, family ?? shown.family);
  if (flags.output !== 'table') printDocument(context, flags.output, documentOf(shown, node));
  else if (flags.kubeletArgs === true) context.out(commandLine(node));
  else if (flags.file !== undefined) printOneFile(context, node, flags.file);
  else if (flags.files === true) printFiles(context, node.files);
  else printSummary(context, shown, node);
};
