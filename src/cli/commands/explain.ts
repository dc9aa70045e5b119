// drover explain: what blocks a node, an instance or a disruption, since when, what would free it
// and when pods are deleted by force. The texts are core/explain's; this command adds history,
// labels and taints.
import type { Command } from 'commander';
import { instanceIdOfProviderId } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption, OwnedMarks } from '../../api/disruption.ts';
import { type Node, type Pod, resourceTypes } from '../../api/kube.ts';
import {
  explainDisruption,
  explainHealth,
  explainRepair,
  withStopping,
} from '../../core/explain/index.ts';
import { disruptionNameOf, type NodeInHealth } from '../../core/overview/index.ts';
import {
  causesInForce,
  marksOn,
  startupTaintsOn,
  wasHandled,
} from '../../core/termination/index.ts';
import { type KubeApi, orUnknown } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, type OutputFormat } from '../context.ts';
import { readDisruption } from '../drain/record.ts';
import { documentVersion } from '../drain/render.ts';
import { heldInstanceText } from '../explain/held-instance.ts';
import { addExplainNodegroupCommand, explainGroup, groupMeant } from '../explain/nodegroup.ts';
import { lastRenewal, readHealth } from '../health/read.ts';
import { closeNames, unknownNode } from '../nodes.ts';
import { outputOption, printDocument } from '../output.ts';
import { type Target, type TargetKind, targetOf } from '../target.ts';
import { describeUpdate } from './get-updates.ts';

export interface Subject {
  readonly node: Node | undefined;
  readonly disruption: NodeDisruption | undefined;
  readonly inHealth?: InHealth;
  /** The disruption as the node's pods show it, where they could be read. */
  readonly asPodsShow?: NodeDisruption;
  /** Which hook of others holds the drained instance. */
  readonly heldBy?: string;
}

/** The health of the node, and the last renewal of its kubelet's lease. */
type InHealth = Omit<NodeInHealth, 'node'> & { readonly renewedAt?: string };

const withHealth = async (
  context: CliContext,
  connection: Connection,
  subject: Subject,
): Promise<Subject> => {
  const { node } = subject;
  if (node === undefined) return subject;
  const kube = await context.kube(connection);
  const { now } = await context.cluster(connection);
  const [inHealth] = await readHealth(kube, [node], now);
  if (inHealth === undefined) return subject;
  const renewedAt = await lastRenewal(kube, node.metadata.name);
  return { ...subject, inHealth: { ...inHealth, ...defined({ renewedAt }) } };
};

/** Health first: an old drain does not explain an unhealthy node. */
export const healthLines = ({ inHealth }: Subject): readonly string[] => {
  if (inHealth === undefined) return [];
  const { health, repair, group, renewedAt } = inHealth;
  const isDead = health.findings.some(({ condition }) => condition === 'Ready');
  const lease =
    isDead && renewedAt !== undefined ? [`lease: the kubelet renewed it last at ${renewedAt}`] : [];
  return [...explainHealth(health), ...lease, ...explainRepair(health, defined({ repair, group }))];
};

const withPods = async (
  context: CliContext,
  connection: Connection,
  subject: Subject,
): Promise<Subject> => {
  const { node, disruption } = subject;
  if (node === undefined || disruption === undefined) return subject;
  const kube = await context.kube(connection);
  const { now } = await context.cluster(connection);
  const fieldSelector = `spec.nodeName=${node.metadata.name}`;
  const pods = (await orUnknown(kube.list<Pod>(resourceTypes.pods, { fieldSelector })))?.items;
  if (pods === undefined) return subject;
  return { ...subject, asPodsShow: withStopping(disruption, pods, now) };
};

const namePattern = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

const nodeOf = (nodes: readonly Node[], disruption: NodeDisruption): Node | undefined =>
  nodes.find((node) => disruptionNameOf(node) === disruption.metadata.name);

/** By node name, instance id, disruption name, or the name of a deleted node. */
const findSubject = async (kube: KubeApi, wanted: string): Promise<Subject> => {
  if (namePattern.test(wanted)) {
    const found = await kube.get<Node>(resourceTypes.nodes, { name: wanted });
    if (found.kind === 'found') {
      const node = found.object;
      return { node, disruption: await readDisruption(kube, disruptionNameOf(node)) };
    }
  }
  const { items: nodes } = await kube.list<Node>(resourceTypes.nodes);
  const byInstance = nodes.find((node) => instanceIdOfProviderId(node.spec.providerID) === wanted);
  if (byInstance !== undefined) {
    return { node: byInstance, disruption: await readDisruption(kube, wanted) };
  }
  const { items: disruptions } = await kube.list<NodeDisruption>(resourceTypes.nodedisruptions);
  const disruption =
    disruptions.find(({ metadata }) => metadata.name === wanted) ??
    disruptions.findLast(({ spec }) => spec.nodeName === wanted);
  if (disruption !== undefined) return { node: nodeOf(nodes, disruption), disruption };
  const close = closeNames(
    wanted,
    disruptions.map(({ metadata }) => metadata.name),
  );
  const error = unknownNode(wanted, nodes);
  if (close.length > 0) error.message += `; or the disruption ${close.join(' or ')}?`;
  throw error;
};

export interface Step {
  readonly what: string;
  readonly at: string;
}

/** When this episode was first requested; causes that an earlier one handled do not count. */
const recordedAt = (disruption: NodeDisruption): string | undefined => {
  const { spec, status } = disruption;
  const { completingCauses, startedAt = '' } = status ?? {};
  const served =
    completingCauses === undefined
      ? causesInForce(disruption)
      : spec.causes.filter((cause) => wasHandled(cause, completingCauses));
  // Withdrawn in this episode: before its end, and after its start.
  const withdrawn = spec.causes.filter(({ cancelledAt = '' }) => cancelledAt > startedAt);
  return [served, withdrawn, spec.causes]
    .find((causes) => causes.length > 0)
    ?.map(({ receivedAt }) => receivedAt)
    .sort()[0];
};

/** A deadline is part of the history if it passed before the drain ended. */
const missedDeadline = ({ status }: NodeDisruption): string | undefined => {
  const { deadline, outcome, drainedAt, endedAt } = status ?? {};
  if (deadline === undefined || (outcome !== 'Forced' && outcome !== 'Failed')) return undefined;
  const over = drainedAt ?? endedAt;
  return over === undefined || deadline <= over ? deadline : undefined;
};

/** When each phase was reached, in order; the previous episode in two lines. */
export const historyOf = (disruption: NodeDisruption): readonly Step[] => {
  const { status } = disruption;
  const { previous } = status ?? {};
  const outcome = previous?.outcome ?? 'ended';
  const { podsTotal: pods, causes = [] } = previous ?? {};
  const moved = pods === undefined ? '' : `, ${pods} ${pods === 1 ? 'pod' : 'pods'}`;
  const whose = causes.length === 0 ? '' : `, for ${causes.join(', ')}`;
  const missed = outcome === 'Forced' || outcome === 'Failed';
  const steps: readonly (readonly [string, string | undefined])[] = [
    ['the drain before this one: begun', previous?.startedAt],
    ['the drain before this one: its deadline', missed ? previous?.deadline : undefined],
    [`the drain before this one: ${outcome}${moved}${whose}`, previous?.endedAt],
    ['recorded', recordedAt(disruption)],
    ['begun', status?.startedAt],
    ['marked', status?.markedAt],
    ['forcing since', status?.forcingSince],
    ['deadline', missedDeadline(disruption)],
    ['drained', status?.drainedAt],
    ['ended', status?.endedAt],
  ];
  return steps.flatMap(([what, at]) => (at === undefined ? [] : [{ what, at }]));
};

const markText: Readonly<Record<keyof OwnedMarks, string>> = {
  excludeLabel: 'excluded from load balancers',
  unschedulable: 'cordoned',
  taint: 'tainted drover.dev/disrupted',
  annotation: 'annotated drover.dev/marks',
};
const markNames = ['excludeLabel', 'unschedulable', 'taint', 'annotation'] as const;

/** Labels, taints and cordon on the node, and which of them Drover set. */
export const marksDocument = (subject: Subject): readonly { mark: string; ours: boolean }[] => {
  const { node, disruption } = subject;
  if (node === undefined) return [];
  const present = marksOn(node);
  const ours = disruption?.status?.ownedMarks;
  const same = disruption?.status?.node?.uid === node.metadata.uid;
  return markNames
    .filter((name) => present[name])
    .map((name) => ({ mark: markText[name], ours: same && ours?.[name] === true }));
};

const nodeLines = (subject: Subject): readonly string[] => {
  const { node } = subject;
  if (node === undefined) return ['the node itself is gone'];
  const found = marksDocument(subject);
  if (found.length === 0) return ['Drover set no label, taint or cordon on the node'];
  const lines = found.map(
    ({ mark, ours }) => `${mark}${ours ? '' : ': not by drover, which will not undo it'}`,
  );
  const cordoned = found.some(({ mark, ours }) => mark === markText.unschedulable && !ours);
  return cordoned
    ? [...lines, `\`kubectl uncordon ${node.metadata.name}\` lifts that cordon`]
    : lines;
};

/**
 * Startup taints that are left on the node. Only Auto Scaling knows whether the instance still
 * waits in its launch hook.
 */
const startupLines = ({ node, inHealth }: Subject): readonly string[] => {
  const { group } = inHealth ?? {};
  const taints = node === undefined || group === undefined ? [] : startupTaintsOn(node, group);
  if (taints.length === 0) return [];
  return [
    `startup taint ${taints.join(', ')} is still on the node: its launch hook is completed only ` +
      'once that is gone',
  ];
};

/** True while the controller has not acted on the request. */
const isUnclaimed = (disruption: NodeDisruption): boolean => {
  const phase = disruption.status?.phase;
  const waiting = phase === undefined || phase === 'Ended';
  return waiting && causesInForce(disruption).length > 0;
};

export const explainLines = (subject: Subject): readonly string[] => {
  const { node, disruption } = subject;
  if (disruption === undefined) {
    const name = node?.metadata.name ?? '';
    const nothing = `node ${name}: drover holds nothing on it`;
    return [nothing, ...startupLines(subject), ...nodeLines(subject)];
  }
  const idle = isUnclaimed(disruption)
    ? [
        'no controller has acted on it yet: one runs in `drover up` (without --no-controller) or ' +
          'as `drover controller`',
      ]
    : [];
  return [
    ...explainDisruption(subject.asPodsShow ?? disruption),
    ...(subject.heldBy === undefined ? [] : [subject.heldBy]),
    ...idle,
    ...startupLines(subject),
    ...nodeLines(subject),
    ...historyOf(disruption).map(({ what, at }) => `${at}  ${what}`),
  ];
};

/** `drover explain -o json`. */
const explanation = (subject: Subject) => {
  const { node, disruption } = subject;
  return {
    apiVersion: documentVersion,
    kind: 'Explanation',
    node:
      node === undefined
        ? null
        : {
            name: node.metadata.name,
            uid: node.metadata.uid,
            instanceId: instanceIdOfProviderId(node.spec.providerID) ?? null,
            marks: marksDocument(subject),
          },
    disruption:
      disruption === undefined
        ? null
        : {
            name: disruption.metadata.name,
            spec: disruption.spec,
            status: disruption.status ?? null,
            history: historyOf(disruption),
          },
    health: subject.inHealth?.health ?? null,
    repair: subject.inHealth?.repair ?? null,
    lines: [...healthLines(subject), ...explainLines(subject)],
  };
};

const asError = (error: unknown): Error => {
  if (error instanceof Error) return error;
  throw error;
};

const explainNode = async (
  context: CliContext,
  connection: Connection,
  name: string,
  output: OutputFormat,
): Promise<void> => {
  const kube = await context.kube(connection);
  const subject = await findSubject(kube, name).catch(asError);
  if (subject instanceof Error) {
    // No node has that name; a node group or an instance without a node may have it.
    const group =
      subject instanceof CommandError ? await groupMeant(context, connection, name) : undefined;
    if (group === undefined) throw subject;
    return explainGroup(context, connection, { ...group, output });
  }
  const healthy = await withHealth(context, connection, subject);
  const heldBy = await heldInstanceText(context, connection, subject.disruption);
  const found = { ...(await withPods(context, connection, healthy)), ...defined({ heldBy }) };
  if (output !== 'table') return printDocument(context, output, explanation(found));
  for (const line of [...healthLines(found), ...explainLines(found)]) context.out(line);
};

const explainTarget = (
  context: CliContext,
  connection: Connection,
  { kind, name }: Target,
  output: OutputFormat,
): Promise<void> => {
  if (kind === 'nodegroup') return explainGroup(context, connection, { name, output });
  if (kind === 'update') return describeUpdate(context, connection, name, { output });
  return explainNode(context, connection, name, output);
};

const addExplainKind = (
  explain: Command,
  context: CliContext,
  connection: () => Connection,
  { kind, aliases, description, example }: ExplainKind,
): void => {
  explain
    .command(`${kind} <name>`)
    .aliases(aliases)
    .description(description)
    .addOption(outputOption())
    .addHelpText(
      'after',
      `\nExamples:\n  drover explain ${kind} ${example}\n  drover explain ${kind} ` +
        `${example} -o json`,
    )
    .action(async (name: string, _flags, command: Command) => {
      // The parent command also has `-o` and may have consumed it.
      const { output } = command.optsWithGlobals<{ readonly output: OutputFormat }>();
      await explainTarget(context, connection(), { kind, name }, output);
    });
};

interface ExplainKind {
  readonly kind: TargetKind;
  readonly aliases: string[];
  readonly description: string;
  readonly example: string;
}

const explainKinds: readonly ExplainKind[] = [
  {
    kind: 'node',
    aliases: ['nodes', 'no'],
    description: 'explain why a node is in or out of service, and what it waits for',
    example: 'ip-192-168-4-70.eu-west-1.compute.internal',
  },
  {
    kind: 'update',
    aliases: ['updates', 'ngu'],
    description: 'explain where an update is, and what it waits for',
    example: '7c9e6679',
  },
];

export const addExplainCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const explain = program.command('explain <name>');
  addExplainNodegroupCommand(explain, context, connection);
  for (const kind of explainKinds) addExplainKind(explain, context, connection, kind);
  explain
    .description('explain the state of a node, drain, node group or update, and what it waits for')
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  drover explain ip-192-168-4-70.eu-west-1.compute.internal
  drover explain i-0123456789abcdef0 -o yaml
  drover explain nodegroup demo-ng
  drover explain update 7c9e6679
  drover explain NODE -o json | jq '.disruption.status.waitingOn'

A node may be named by its instance id, and after it was deleted. For an instance that never joined,
it explains why. \`node NAME\`, \`node/NAME\`, \`nodegroup/NAME\` and \`update/NAME\` name the kind.

Exit codes: 0 explained, 1 not found, 2 usage.`,
    )
    .action((word: string, { output }: { readonly output: OutputFormat }) =>
      explainTarget(context, connection(), targetOf(word), output),
    );
};
