// drover update (or upgrade) nodegroup: eksctl's command and flags. Records a NodeGroupUpdate,
// which the controller carries out, and watches it until its end.

import { type Command, Option } from 'commander';
import { defined } from '../../api/defined.ts';
import { type UpdateStrategy, updateStrategies } from '../../api/nodegroup-update.ts';
import { revisionText } from '../../core/overview/index.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { patienceMs } from '../duration.ts';
import { planOfUpdate, printGroupPlan } from '../nodegroup/dry-run.ts';
import { outputOption } from '../output.ts';
import { askedBy, readPlan, recordedOf, refuseStale } from '../plan/carry-out.ts';
import { type Progress, progressOf } from '../progress.ts';
import { warningsBefore } from '../update/blockers.ts';
import { needFittingPolicies, type PolicyFlags, policiesAsked } from '../update/policies.ts';
import { addPolicyFlags } from '../update/policy-flags.ts';
import { needGroup } from '../update/read.ts';
import { changeWanted, requestUpdate } from '../update/request.ts';
import { nameCluster } from '../where.ts';
import { watchToEnd } from './get-updates.ts';
import { oneName } from './one-name.ts';
import { addUpgradeClusterCommand } from './upgrade-cluster.ts';

interface UpdateFlags extends PolicyFlags {
  readonly cluster?: string;
  readonly name?: string;
  readonly kubernetesVersion?: string;
  readonly releaseVersion?: string;
  readonly release?: string;
  readonly launchTemplateVersion?: string;
  readonly plan?: string;
  readonly strategy?: UpdateStrategy;
  readonly forceUpgrade: boolean;
  readonly force: boolean;
  readonly replaceEqual: boolean;
  readonly region?: string;
  readonly wait: boolean | string;
  readonly timeout: string;
  readonly dryRun: boolean;
  readonly output: OutputFormat;
}

/** `--wait=false` is eksctl's form of `--no-wait`. */
export const waits = (flag: boolean | string): boolean => {
  if (typeof flag === 'boolean') return flag;
  if (flag === 'true' || flag === 'false') return flag === 'true';
  throw new CommandError(exitCodes.usage, `--wait takes true or false, not ${flag}`);
};

/** Watches a newly recorded update, or prints how to. */
export const follow = async (
  context: CliContext,
  connection: Connection,
  progress: Progress,
  asked: {
    readonly id: string;
    readonly wait: boolean;
    readonly giveUpAfterMs: number | undefined;
  },
): Promise<void> => {
  const { id, wait, giveUpAfterMs } = asked;
  if (!wait) {
    progress.info(`\`drover get update ${id} --watch\` shows it`);
    return;
  }
  await watchToEnd(context, { connection, id, giveUpAfterMs, tell: (line) => progress.info(line) });
};

const update = async (
  context: CliContext,
  connection: Connection,
  positional: string | undefined,
  { release, ...given }: UpdateFlags,
): Promise<void> => {
  const flags = release === undefined ? given : { ...given, releaseVersion: release };
  const policies = policiesAsked(flags);
  const asked = { ...flags, force: flags.force || flags.forceUpgrade, policies };
  const plan = flags.plan === undefined ? undefined : await readPlan(context, flags.plan, asked);
  const name = oneName(positional, flags.name, 'nodegroup') ?? plan?.group;
  if (name === undefined) {
    throw new CommandError(exitCodes.usage, 'name the node group: drover update nodegroup NAME');
  }
  const wait = waits(flags.wait);
  const giveUpAfterMs = patienceMs(flags.timeout);
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const kube = await context.kube(connection);
  const group = await needGroup(kube, name, flags.cluster);
  const cloud = await context.cloud(there);
  const provisioning = await context.provisioning(there);
  const cluster = await provisioning.describeCluster(group.spec.clusterName);
  const around = { group, clusterVersion: cluster?.version };
  const force = asked.force || plan?.request.force === true;
  const asks =
    plan === undefined
      ? {
          version: flags.kubernetesVersion,
          releaseVersion: flags.releaseVersion,
          templateVersion: flags.launchTemplateVersion,
        }
      : askedBy(plan);
  const change = await changeWanted(cloud, around, asks);
  const progress = progressOf(context);
  const sources = { kube, cloud, provisioning, now: (await context.cluster(connection)).now };
  if (plan !== undefined) await refuseStale(sources, group, plan);
  const recorded = plan && recordedOf(plan);
  const planned = {
    ...recorded,
    ...defined({ strategy: flags.strategy, policies }),
    ...(flags.replaceEqual ? { replaceEqual: true } : {}),
  };
  needFittingPolicies(group, planned);
  if (plan === undefined) {
    const { strategy, replaceEqual } = flags;
    const intended = { name, asked: asks, strategy, policies, force, replaceEqual };
    for (const line of await warningsBefore(sources, intended)) progress.warning(line);
  }
  const request = { group, change, action: 'Update', force, planned } as const;
  if (flags.dryRun) {
    const made = await requestUpdate({ kube }, { ...request, dryRun: true });
    const printed = await planOfUpdate(sources, group, made);
    return printGroupPlan(context, flags.output, printed);
  }
  await nameCluster(context, connection, 'updating in');
  const { metadata } = await requestUpdate({ kube }, request);
  progress.info(
    `update ${metadata.name} of nodegroup "${name}" to ${revisionText(change)} recorded`,
  );
  await follow(context, connection, progress, { id: metadata.name, wait, giveUpAfterMs });
};

const updateHelp = `
The default strategy is spec.updateConfig.updateStrategy. The flags from --on-timeout to
--batch-soak apply to SURGE and BLUE_GREEN, and override spec.updateConfig for this update.
BLUE_GREEN keeps the old nodes for a while: \`drover abort update X\` returns to them. ^C ends the
watching, not the update. Blockers that the plan finds are printed as warnings before the update
is recorded. --dry-run prints the next steps; \`drover plan update\` predicts the whole update.
With --plan all settings come from the plan.

Examples:
  drover update nodegroup demo-ng --cluster ironman-2022
  drover upgrade nodegroup --name demo-ng --cluster ironman-2022 --kubernetes-version 1.33
  drover update ng demo-ng --release-version 1.32.9-20260919 --force
  drover update --plan plan.json
  drover update ng demo-ng --strategy BLUE_GREEN --soak 30m
  drover update ng demo-ng --drain-timeout 10m --on-timeout Quarantine --max-quarantined 2

Exit codes: 0 Successful (or recorded), 1 Failed, 2 usage, 3 refused or Cancelled, 4 timed out,
130 interrupted (the update continues).`;

/** Adds `update` to the program, with eksctl's alias `upgrade`. */
export const addUpdateCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const family = program
    .command('update')
    .alias('upgrade')
    .description('update a cluster or a node group to another version');
  addUpgradeClusterCommand(family, context, connection);
  const nodegroup = family
    .command('nodegroup [name]', { isDefault: true })
    .alias('ng')
    .description(
      'replace the nodes of a managed node group by nodes of another version, release or template',
    )
    .option('--cluster <name>', 'name of the cluster')
    .option('-n, --name <name>', 'name of the node group')
    .option(
      '--kubernetes-version <version>',
      "Kubernetes version, e.g. 1.33 (default: the group's own)",
    )
    .option(
      '--release-version <release>',
      'release of the image (default: the newest of that version)',
    )
    .addOption(
      new Option('--release <release>', 'same as --release-version').conflicts('releaseVersion'),
    )
    .option('--launch-template-version <version>', "version of the group's own launch template")
    .addOption(
      new Option('--strategy <strategy>', "update strategy (default: the group's own)").choices(
        updateStrategies,
      ),
    )
    .option(
      '--plan <file>',
      'follow a plan saved by `drover plan update --out`; refused when stale',
    )
    .option(
      '--replace-equal',
      'replace all nodes, even if template content and release stay the same',
      false,
    )
    .option('--force', 'like EKS, delete pods that budgets still protect after 15 minutes', false);
  addPolicyFlags(nodegroup)
    .addOption(new Option('--force-upgrade', 'same as --force').default(false))
    .option('-r, --region <region>', 'AWS region')
    .option('-w, --wait [bool]', 'watch until the end', true)
    .option('--no-wait', 'return once the update is recorded')
    .option('--timeout <duration>', 'how long to watch; 0s means no limit', '0s')
    .option('--dry-run', "print the controller's steps and change nothing", false)
    .addOption(outputOption())
    .addHelpText('after', updateHelp)
    .action((name: string | undefined, flags: UpdateFlags) =>
      update(context, connection(), name, flags),
    );
};
