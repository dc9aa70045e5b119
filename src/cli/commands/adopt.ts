// drover adopt and drover release: start and stop managing an existing Auto Scaling group. Without
// --yes both only print what they would do. The controller installs and removes hooks and tags;
// these commands write only the NodeGroup.
import type { Command } from 'commander';
import { durationMs } from '../../api/brand.ts';
import { resourceTypes } from '../../api/kube.ts';
import { autoScalingGroupNameOf, isRetained } from '../../api/nodegroup.ts';
import type { Adoption } from '../../core/nodegroup/index.ts';
import { type KubeApi, readNodeGroup } from '../../ports/index.ts';
import { type AdoptionFlags, observeAdoptions } from '../adopt/observe.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { timeoutMs } from '../duration.ts';
import { plansOfDelete, printGroupPlan } from '../nodegroup/dry-run.ts';
import { outputOption, printDocument } from '../output.ts';
import { inspectedLines, readDrains } from '../uninstall/read.ts';
import { clusterText, nameCluster } from '../where.ts';
import { oneName } from './one-name.ts';

interface AdoptFlags extends AdoptionFlags {
  readonly yes: boolean;
  readonly wait: boolean;
  readonly timeout: string;
  readonly region?: string;
  readonly output: OutputFormat;
}

type ReleaseFlags = Pick<AdoptFlags, 'yes' | 'wait' | 'timeout'>;

const lookEveryMs = durationMs(1_000);
const apiVersion = 'drover.dev/v1alpha1';

const print = (context: CliContext, adoptions: readonly Adoption[]): void => {
  for (const { autoScalingGroup, nodeGroup, found, adds, warnings, refusal } of adoptions) {
    context.out(`Auto Scaling group ${autoScalingGroup}`);
    if (refusal !== undefined) {
      context.out(`  skipped: ${refusal}`);
      continue;
    }
    for (const line of found) context.out(`  found:   ${line}`);
    for (const line of adds) context.out(`  adds:    ${line}`);
    for (const line of warnings) context.out(`  warning: ${line}`);
    context.out(`  undo:    drover release ${nodeGroup} --yes`);
  }
};

const waitForAdoption = async (
  { context, kube, deadline }: Waiting,
  name: string,
): Promise<void> => {
  for (;;) {
    const group = await readNodeGroup(kube, name);
    const { state, health = [] } = group?.status ?? {};
    if (state === 'ACTIVE') return;
    const [issue] = health;
    if (state === 'DEGRADED' && issue !== undefined) {
      throw new CommandError(exitCodes.failed, `NodeGroup ${name}: ${issue.message}`);
    }
    if (context.clock.now() >= deadline || context.signal.aborted) {
      throw new CommandError(
        context.signal.aborted ? exitCodes.interrupted : exitCodes.timedOut,
        `NodeGroup ${name} is not ACTIVE yet (${state ?? 'no controller has looked at it'}); ` +
          `\`drover explain nodegroup ${name}\` shows what it waits for`,
      );
    }
    await context.clock.sleep(lookEveryMs, context.signal).catch(() => undefined);
  }
};

interface Waiting {
  readonly context: CliContext;
  readonly kube: KubeApi;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

const adopt = async (
  context: CliContext,
  connection: Connection,
  flags: AdoptFlags,
): Promise<void> => {
  const there = flags.region === undefined ? connection : { ...connection, region: flags.region };
  const { kube, adoptions, karpenterNodes, hasDefinitions } = await observeAdoptions(
    context,
    there,
    flags,
  );
  if (flags.output === 'table') {
    print(context, adoptions);
    if (karpenterNodes > 0) {
      context.out(
        `Karpenter manages ${karpenterNodes} nodes; they are in no Auto Scaling group and stay its own`,
      );
    }
  } else {
    printDocument(context, flags.output, { apiVersion, kind: 'AdoptionList', items: adoptions });
  }
  const able = adoptions.filter(({ refusal }) => refusal === undefined);
  if (able.length === 0) {
    throw new CommandError(exitCodes.refused, 'nothing to adopt: the reasons are printed above');
  }
  const where = await clusterText(context, there);
  if (!flags.yes) {
    context.err(`nothing was changed in ${where}: add --yes to adopt ${able.length} of them`);
    return;
  }
  if (!hasDefinitions) {
    throw new CommandError(
      exitCodes.refused,
      `${where} has no definitions of drover.dev, so no NodeGroup can be written and nothing was ` +
        'changed: install them with the chart deploy/charts/drover-crds or `kubectl apply -f ' +
        'deploy/crds`, then start `drover controller`',
    );
  }
  await nameCluster(context, there, 'adopting in');
  const deadline = context.clock.now() + timeoutMs(flags.timeout);
  for (const { autoScalingGroup, nodeGroup } of able) {
    const spec = { autoScalingGroupName: autoScalingGroup };
    const metadata = { name: nodeGroup };
    const kind = 'NodeGroup';
    await kube.create(resourceTypes.nodegroups, { apiVersion, kind, metadata, spec });
    if (flags.wait) await waitForAdoption({ context, kube, deadline }, nodeGroup);
    context.err(`adopted ${autoScalingGroup} as nodegroup ${nodeGroup}`);
  }
};

const released = async ({ context, kube, deadline }: Waiting, name: string): Promise<void> => {
  for (;;) {
    if ((await readNodeGroup(kube, name)) === undefined) return;
    if (context.clock.now() >= deadline || context.signal.aborted) {
      throw new CommandError(
        context.signal.aborted ? exitCodes.interrupted : exitCodes.timedOut,
        `nodegroup ${name} is still being released; a running controller removes its hooks and ` +
          'tags, then the NodeGroup',
      );
    }
    await context.clock.sleep(lookEveryMs, context.signal).catch(() => undefined);
  }
};

const release = async (
  context: CliContext,
  connection: Connection,
  word: string,
  flags: ReleaseFlags,
): Promise<void> => {
  const name = oneName(word, undefined, 'nodegroup') ?? word;
  const kube = await context.kube(connection);
  const group = await readNodeGroup(kube, name);
  if (group === undefined) {
    throw new CommandError(exitCodes.failed, `no nodegroup ${name}; \`drover get ng\` lists them`);
  }
  const asg = autoScalingGroupNameOf(group);
  if (!isRetained(group)) {
    throw new CommandError(
      exitCodes.refused,
      `nodegroup ${name} has deletionPolicy Delete: without it Auto Scaling group ${asg} would be ` +
        `deleted with its instances. To keep them, first run \`kubectl patch nodegroup ${name} ` +
        `--type merge -p '{"spec":{"deletionPolicy":"Retain"}}'\``,
    );
  }
  context.out(`nodegroup ${name}, Auto Scaling group ${asg}`);
  context.out(
    '  removes: the lifecycle hooks and tags that Drover added, and its labels and taints on nodes',
  );
  context.out(`  stays:   the group, its ${group.status?.instances ?? 0} instances and sizes`);
  const { inspected } = await readDrains(kube);
  for (const line of inspectedLines(inspected.filter(({ spec }) => spec.nodeGroup === name))) {
    context.out(`  stays:   ${line}`);
  }
  context.out('  then:    instances that are terminated are no longer drained');
  const where = await clusterText(context, connection);
  if (!flags.yes) {
    const cloud = await context.cloud(connection);
    const { now } = await context.cluster(connection);
    const { now: plan, ...more } = await plansOfDelete({ kube, cloud, now }, group);
    printGroupPlan(context, 'table', plan, more);
    context.err(`nothing was changed in ${where}: add --yes to release it`);
    return;
  }
  await nameCluster(context, connection, 'releasing in');
  await kube.delete(resourceTypes.nodegroups, { name });
  const deadline = context.clock.now() + timeoutMs(flags.timeout);
  if (flags.wait) await released({ context, kube, deadline }, name);
  context.err(flags.wait ? `released nodegroup ${name}` : `the release of ${name} has begun`);
};

export const addAdoptCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('adopt')
    .description('manage the nodes of an existing Auto Scaling group')
    .option('--asg <name>', 'this Auto Scaling group')
    .option('--tag <key[=value]>', 'every Auto Scaling group with this tag')
    .option('--name <name>', 'name of the NodeGroup (default: from its tags, or its own name)')
    .option('--yes', 'adopt; without it, only print what was found and what would be added', false)
    .option('--no-wait', 'do not wait until the controller has adopted it')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .option('-r, --region <region>', 'AWS region')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nEKS managed node groups, control planes of kOps and groups of other controllers are left ' +
        'alone. `drover release` undoes an adoption.\n\nExamples:\n  drover adopt --asg my-asg\n' +
        '  drover adopt --tag kops.k8s.io/instancegroup=nodes --yes\n\n' +
        'Exit codes: 0 printed or adopted, 3 nothing can be adopted, 4 timed out.',
    )
    .action((flags: AdoptFlags) => adopt(context, connection(), flags));
  program
    .command('release <nodegroup>')
    .description('stop managing an adopted Auto Scaling group, and leave it as it was')
    .option('--yes', 'release; without it, only print what would happen', false)
    .option('--no-wait', 'do not wait until hooks and tags are removed')
    .option('--timeout <duration>', 'how long to wait', '5m')
    .addHelpText(
      'after',
      '\nExamples:\n  drover release my-asg\n  drover release my-asg --yes\n\n' +
        'Exit codes: 0 printed or released, 3 refused, 4 timed out.',
    )
    .action((name: string, flags: ReleaseFlags) => release(context, connection(), name, flags));
};
