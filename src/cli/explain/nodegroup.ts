// drover explain nodegroup: why instances of a group do not become nodes, the most certain cause
// first, each with its evidence and remedy. core/explain ranks the causes.

import { type Command, Option } from 'commander';
import { defined } from '../../api/defined.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../api/nodegroup-update.ts';
import type { JoinCause } from '../../core/explain/index.ts';
import { healthRemedy, joinCauses } from '../../core/explain/index.ts';
import { CloudError, type KubeApi, KubeError } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, type OutputFormat } from '../context.ts';
import { documentVersion } from '../drain/render.ts';
import { formatDuration } from '../duration.ts';
import { printDocument } from '../output.ts';
import { targetOf } from '../target.ts';
import { listUpdates, openUpdateOf } from '../update/read.ts';
import { typeLines } from '../update/types.ts';
import {
  findJoiningGroup,
  type Gathered,
  gatherJoinEvidence,
  groupNameOf,
  timeLeft,
} from './join-evidence.ts';

/** Further ids add no information. */
const maxIds = 3;

const idsText = (ids: readonly string[]): string => {
  if (ids.length === 0) return '';
  const more = ids.length > maxIds ? ` and ${ids.length - maxIds} more` : '';
  return ` [${ids.slice(0, maxIds).join(', ')}${more}]`;
};

const causeLines = (cause: JoinCause, index: number): readonly string[] => [
  `${index + 1}. ${cause.certainty}: ${cause.what}${idsText(cause.instances)}`,
  ...cause.evidence.map((text) => `   evidence: ${text}`),
  ...cause.remedy.map((text) => `   remedy:   ${text}`),
];

/** Instances without a known problem. */
const bootingLines = (
  { evidence }: Gathered,
  causes: readonly JoinCause[],
  now: number,
): readonly string[] => {
  const named = new Set(causes.flatMap(({ instances }) => instances));
  return evidence.instances
    .filter(({ instanceId }) => !named.has(instanceId))
    .map((instance) => {
      const left = timeLeft(instance, now);
      const time =
        left === undefined
          ? ''
          : left > 0
            ? `, ${formatDuration(left / 1000)} left of the 15 minutes it has`
            : ', over its 15 minutes';
      return `${instance.instanceId} (${instance.state}) has not joined yet${time}`;
    });
};

/** Members that are Ready nodes and not in service yet. */
const launchingLines = ({ launching }: Gathered): readonly string[] =>
  launching.map(({ instanceId, node, startupTaints }) => {
    const why =
      startupTaints.length === 0
        ? ''
        : `: the node still has the startup taint ${startupTaints.join(', ')}`;
    return `${instanceId} (node ${node}) is Ready and waits in a launch hook${why}`;
  });

/** The instance types of the update in progress; empty in a cluster without updates. */
const typesOf = async (kube: KubeApi, name: string): Promise<readonly string[]> => {
  try {
    return typeLines((await openUpdateOf(kube, name))?.status ?? {});
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
};

/** The error of the group's latest completed update, with its remedy; empty if it did not fail. */
export const failureLines = (updates: readonly NodeGroupUpdate[]): readonly string[] => {
  const last = updates.find((one) => updateStatusOf(one) !== 'InProgress');
  const { status, endedAt, errors = [] } = last?.status ?? {};
  if (last === undefined || status !== 'Failed') return [];
  const name = last.spec.nodeGroup;
  return [
    `update ${last.metadata.name} failed at ${endedAt ?? 'an unknown time'}:`,
    ...errors.flatMap((error) => [
      `   ${error.code}: ${error.message}`,
      `   remedy:   ${healthRemedy(error, { name })}`,
    ]),
  ];
};

/** Empty in a cluster without updates. */
const failureOf = async (kube: KubeApi, name: string): Promise<readonly string[]> => {
  try {
    return failureLines(await listUpdates(kube, name));
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
};

export const nodegroupLines = (
  gathered: Gathered,
  causes: readonly JoinCause[],
  {
    now,
    types,
    failure = [],
  }: {
    readonly now: number;
    readonly types: readonly string[];
    readonly failure?: readonly string[];
  },
): readonly string[] => {
  const { group, joined, desired, unseen } = gathered;
  const head =
    `node group ${group.name} (${group.state}): ${joined} of ` +
    `${desired} nodes joined and Ready`;
  const nothing =
    causes.length === 0 &&
    gathered.launching.length === 0 &&
    gathered.evidence.instances.length === 0 &&
    joined >= desired
      ? ['nothing keeps its nodes out']
      : [];
  return [
    head,
    ...nothing,
    ...group.warnings,
    ...types,
    ...failure,
    ...causes.flatMap(causeLines),
    ...bootingLines(gathered, causes, now),
    ...launchingLines(gathered),
    ...unseen.map((text) => `not looked at: ${text}`),
  ];
};

/**
 * The cluster or the cloud may not know node groups, or may refuse to list them: then the name
 * refers to no group.
 */
const unlessRefused = (error: unknown): undefined => {
  if (error instanceof KubeError || error instanceof CloudError) return undefined;
  if (error instanceof CommandError) return undefined;
  throw error;
};

/** For one instance: what it reported, and what keeps any node of its group from joining. */
const concerns =
  (instanceId: string | undefined) =>
  ({ instances }: JoinCause): boolean =>
    instanceId === undefined || instances.length === 0 || instances.includes(instanceId);

const narrowed = (gathered: Gathered, instanceId: string | undefined): Gathered => {
  if (instanceId === undefined) return gathered;
  const instances = gathered.evidence.instances.filter((one) => one.instanceId === instanceId);
  const launching = gathered.launching.filter((one) => one.instanceId === instanceId);
  return { ...gathered, launching, evidence: { ...gathered.evidence, instances } };
};

export interface GroupAsked {
  readonly name: string;
  /** Only causes that concern this instance. */
  readonly instanceId?: string | undefined;
  readonly output: OutputFormat;
}

export const explainGroup = async (
  context: CliContext,
  connection: Connection,
  { name, instanceId, output }: GroupAsked,
): Promise<void> => {
  const kube = await context.kube(connection);
  const cloud = await context.cloud(connection);
  const { now } = await context.cluster(connection);
  const whole = await gatherJoinEvidence(kube, cloud, { name, now });
  const causes = joinCauses(whole.evidence).filter(concerns(instanceId));
  const gathered = narrowed(whole, instanceId);
  const types = await typesOf(kube, name);
  const failure = await failureOf(kube, name);
  if (output === 'table') {
    const around = { now, types, failure };
    for (const line of nodegroupLines(gathered, causes, around)) context.out(line);
    return;
  }
  const { group, joined, launching, desired, unseen } = gathered;
  printDocument(context, output, {
    apiVersion: documentVersion,
    kind: 'NodeGroupExplanation',
    nodeGroup: group,
    ...defined({ instance: instanceId }),
    joined,
    launching,
    desired,
    causes,
    instanceTypes: types,
    lastFailure: failure,
    notLookedAt: unseen,
  });
};

const instancePattern = /^i-[0-9a-f]{8,17}$/;

/**
 * The group for a name that no node has: the group of that name, or the group of an instance
 * without a node.
 */
export const groupMeant = async (
  context: CliContext,
  connection: Connection,
  given: string,
): Promise<Omit<GroupAsked, 'output'> | undefined> => {
  const kube = await context.kube(connection);
  const wanted = targetOf(given).name;
  try {
    const cloud = await context.cloud(connection);
    if (!instancePattern.test(wanted)) {
      return { name: (await findJoiningGroup(kube, cloud, wanted)).group.name };
    }
    const name = await groupNameOf(kube, cloud, wanted);
    return name === undefined ? undefined : { name, instanceId: wanted };
  } catch (error) {
    return unlessRefused(error);
  }
};

export const addExplainNodegroupCommand = (
  explain: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  explain
    .command('nodegroup <name>')
    .aliases(['ng'])
    .description('rank the causes why instances of a node group do not join as nodes')
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['table', 'json', 'yaml'])
        .default('table'),
    )
    .addHelpText(
      'after',
      `
Reads the console output of the instances, the user data of the launch template,
kube-system/aws-auth, the nodes and the scaling activities. For a Windows group it also reads the
ConfigMap amazon-vpc-cni and the events of the nodes. A cause is "shown" (an instance reported it),
"likely" (it would keep out every node) or "possible".

Examples:
  drover explain nodegroup demo-ng
  drover explain ng demo-ng -o json | jq '.causes[0].remedy'

Exit codes: 0 explained, 1 not found, 2 usage.`,
    )
    .action(async (name: string, _flags, command: Command) => {
      // The parent command also has `-o` and may have consumed it.
      const { output } = command.optsWithGlobals<{ readonly output: OutputFormat }>();
      await explainGroup(context, connection(), { name, output });
    });
};
