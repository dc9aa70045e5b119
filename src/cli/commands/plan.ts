// drover plan update: what an update of a node group would do and what would block it. Reads only,
// for Drover's groups and for groups that EKS manages.
import { type Command, Option } from 'commander';
import { type UpdateStrategy, updateStrategies } from '../../api/nodegroup-update.ts';
import type { UpdatePolicies } from '../../api/update-policy.ts';
import { planUpdate, type UpdatePlan } from '../../core/update/plan/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { blockedText } from '../plan/blocked.ts';
import { printPlan } from '../plan/file.ts';
import { eksGroup, ownGroup, type PlanGroup } from '../plan/group.ts';
import { detailLines, markdownLines, screenLines } from '../plan/lines.ts';
import { type PlanRequest, readSnapshot, type Sources } from '../plan/snapshot.ts';
import { parseWaiver } from '../plan/waivers.ts';
import { needFittingPolicies, type PolicyFlags, policiesAsked } from '../update/policies.ts';
import { addPolicyFlags } from '../update/policy-flags.ts';
import { oneNameOf } from './one-name.ts';

type Format = 'table' | 'json' | 'markdown';

interface PlanFlags extends PolicyFlags {
  readonly cluster?: string;
  readonly eks?: string;
  readonly releaseVersion?: string;
  readonly release?: string;
  readonly kubernetesVersion?: string;
  readonly launchTemplateVersion?: string;
  readonly strategy?: UpdateStrategy;
  readonly force: boolean;
  readonly replaceEqual: boolean;
  readonly region?: string;
  readonly details: boolean;
  readonly output: Format;
  readonly out?: string;
  readonly waive: readonly string[];
}

export const sourcesOf = async (
  context: CliContext,
  connection: Connection,
  region: string | undefined,
): Promise<Sources> => {
  const there = region === undefined ? connection : { ...connection, region };
  const [kube, cloud, provisioning, facts] = await Promise.all([
    context.kube(connection),
    context.cloud(there),
    context.provisioning(there),
    context.cluster(connection),
  ]);
  return { kube, cloud, provisioning, now: facts.now, isEmbedded: facts.embedded };
};

const planned = (sources: Sources, name: string | undefined, flags: PlanFlags) => {
  const { eks, cluster } = flags;
  if (eks !== undefined) {
    if (name === undefined) return eksGroup(sources.provisioning, eks);
    throw new CommandError(exitCodes.usage, '--eks names the group: leave the other name out');
  }
  if (name !== undefined) return ownGroup(sources.kube, name, cluster);
  throw new CommandError(
    exitCodes.usage,
    'name the node group: drover plan update NODEGROUP, or --eks CLUSTER/NODEGROUP',
  );
};

const show = (context: CliContext, plan: UpdatePlan, request: PlanRequest, flags: PlanFlags) => {
  const lines: Readonly<Record<Format, () => readonly string[]>> = {
    json: () => [printPlan({ ...plan, request }).trimEnd()],
    markdown: () => markdownLines(plan),
    table: () => (flags.details ? detailLines(plan) : screenLines(plan)),
  };
  for (const line of lines[flags.output]()) context.out(line);
};

const refuseBlocked = (plan: UpdatePlan): void => {
  if (plan.verdict !== 'blocked') return;
  throw new CommandError(
    exitCodes.refused,
    `blocked ${blockedText(plan)} (docs/preflight.md describes each)`,
  );
};

/** Accepts and refuses the same policies as `update nodegroup`. Throws CommandError. */
const fittingPolicies = (
  policies: UpdatePolicies | undefined,
  { strategy }: PlanFlags,
  { group, ...planned }: PlanGroup,
): Pick<PlanRequest, 'policies'> => {
  const asked = policies === undefined ? {} : { policies };
  needFittingPolicies(group, { strategy: strategy ?? planned.strategy, ...asked });
  return asked;
};

const plan = async (
  context: CliContext,
  connection: Connection,
  name: string | undefined,
  flags: PlanFlags,
): Promise<void> => {
  const policies = policiesAsked(flags);
  const waivers = flags.waive.map((text) => parseWaiver(text, context.userName));
  const sources = await sourcesOf(context, connection, flags.region);
  const group = await planned(sources, name, flags);
  const request: PlanRequest = {
    version: flags.kubernetesVersion,
    releaseVersion: flags.releaseVersion ?? flags.release,
    templateVersion: flags.launchTemplateVersion,
    strategy: flags.strategy,
    force: flags.force,
    ...(flags.replaceEqual ? { replaceEqual: true } : {}),
    ...fittingPolicies(policies, flags, group),
  };
  const made = planUpdate(await readSnapshot(sources, group, request), { waivers });
  show(context, made, request, flags);
  if (flags.out !== undefined) {
    await context.writeFile(flags.out, printPlan({ ...made, request }));
    context.err(`plan ${made.hash} written to ${flags.out}`);
  }
  refuseBlocked(made);
};

const examples = `
Reads the cluster and the cloud once, runs the preflight checks (docs/preflight.md), and simulates
the update. It writes nothing. A check that lacks a permission is reported as not checked.

Examples:
  drover plan update demo-ng
  drover plan update demo-ng --kubernetes-version 1.33 --strategy SURGE --details
  drover plan update demo-ng --strategy BLUE_GREEN --soak 30m
  drover plan update demo-ng --strategy SURGE --on-timeout Quarantine --drain-timeout 10m
  drover plan update demo-ng --out plan.json --waive bare-pod='a debug pod'
  drover update nodegroup demo-ng --plan plan.json
  drover plan update --eks my-cluster/my-ng --kubeconfig ~/.kube/config

Exit codes: 0 ready or nothing to do, 1 failed, 2 usage, 3 blocked.`;

export const addPlanCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const update = program
    .command('plan')
    .description('predict an update before it starts')
    .command('update [nodegroup...]')
    .description('predict order, duration, evictions and blockers of an update')
    .option('--cluster <name>', 'name of the cluster')
    .option('--eks <cluster/nodegroup>', 'a node group that EKS manages; installs nothing')
    .option(
      '--release-version <release>',
      'release of the image (default: the newest of the version)',
    )
    .addOption(
      new Option('--release <release>', 'same as --release-version').conflicts('releaseVersion'),
    )
    .option(
      '--kubernetes-version <version>',
      "Kubernetes version, e.g. 1.33 (default: the group's own)",
    )
    .option('--launch-template-version <version>', "version of the group's own launch template")
    .addOption(
      new Option('--strategy <strategy>', "update strategy (default: the group's own)").choices(
        updateStrategies,
      ),
    )
    .option(
      '--replace-equal',
      'replace all nodes, even if template content and release stay the same',
      false,
    )
    .option('--force', 'plan an update with --force', false);
  addPolicyFlags(update)
    .option('-r, --region <region>', 'AWS region')
    .option('--details', 'print every finding, batch by batch', false)
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['table', 'json', 'markdown'])
        .default('table'),
    )
    .option('--out <file>', 'save the plan for `drover update nodegroup --plan`')
    .option(
      '--waive <check[=reason]>',
      'accept the finding of a check (repeatable)',
      (text: string, before: readonly string[]) => [...before, text],
      [] as readonly string[],
    )
    .addHelpText('after', examples)
    .action(async (words: readonly string[], flags: PlanFlags) =>
      plan(context, connection(), oneNameOf(words, 'nodegroup'), flags),
    );
};
