// drover identity show|check|restore: the entries of kube-system/aws-auth, their problems, and the
// backups before Drover's writes. Only `restore` writes, after a backup of the current content.

import type { Command } from 'commander';
import { epochMs } from '../../api/brand.ts';
import {
  type Backup,
  backupsIn,
  differenceOf,
  identityFindings,
  planRestore,
} from '../../core/identity/index.ts';
import { awsAuthEntries } from '../../formats/index.ts';
import { listNodeGroups } from '../../ports/index.ts';
import { accessEntriesOf, type ShownEntry } from '../access-entries.ts';
import { changeAwsAuth, readAwsAuth, readBackups, rolesInUse, roleUsers } from '../aws-auth.ts';
import {
  type CliContext,
  CommandError,
  type Connection,
  exitCodes,
  type OutputFormat,
} from '../context.ts';
import { outputOption, print, printDocument } from '../output.ts';
import { renderTable } from '../table.ts';
import { nameCluster } from '../where.ts';

interface OutputFlags {
  readonly output: OutputFormat;
}

const backupDocument = ({ number, at, before, data }: Backup) => ({
  number,
  at,
  before,
  roles: (awsAuthEntries(data.mapRoles) ?? []).length,
});

/**
 * The world has one cluster. In an account, only the clusters that node groups name belong to this
 * API server.
 */
const clustersHere = async (
  context: CliContext,
  connection: Connection,
): Promise<readonly string[]> => {
  const { embedded } = await context.cluster(connection);
  if (embedded) return (await context.provisioning(connection)).listClusters();
  const kube = await context.kube(connection);
  const items = await listNodeGroups(kube);
  return [...new Set(items.map(({ spec }) => spec.clusterName))];
};

const printEntries = (context: CliContext, entries: readonly ShownEntry[]): void => {
  if (entries.length === 0) return;
  context.out('');
  const rows = entries.map(({ principalArn, type, username, groups, policies }) => [
    principalArn,
    type,
    username,
    groups.join(',') || '-',
    policies.join(',') || '-',
  ]);
  const header = ['ACCESS ENTRY', 'TYPE', 'USERNAME', 'GROUPS', 'POLICIES'];
  for (const line of renderTable(header, rows)) context.out(line);
};

/** The json and yaml form is version 1: `{roles, users, accessEntries, notLookedAt, backups}`. */
const show = async (context: CliContext, connection: Connection, flags: OutputFlags) => {
  const kube = await context.kube(connection);
  const map = await readAwsAuth(kube);
  const users = await rolesInUse(kube, await context.cloud(connection));
  const entries = awsAuthEntries(map?.data?.mapRoles);
  if (entries === undefined) {
    throw new CommandError(
      exitCodes.failed,
      'mapRoles of ConfigMap kube-system/aws-auth cannot be read; `drover identity check` says ' +
        'where, `drover identity restore --dry-run` what stood there before',
    );
  }
  const roles = entries.map((entry) => ({ ...entry, usedBy: users.get(entry.arn) ?? '' }));
  const backups = backupsIn(await readBackups(kube)).map(backupDocument);
  const others = awsAuthEntries(map?.data?.mapUsers, 'userarn') ?? [];
  const { entries: accessEntries, notLookedAt } = await accessEntriesOf({
    api: await context.provisioning(connection),
    cloud: await context.cloud(connection),
    clusters: () => clustersHere(context, connection),
    signal: context.signal,
  });
  const { output } = flags;
  if (output !== 'table') {
    const document = { roles, users: others, accessEntries, notLookedAt, backups };
    return printDocument(context, output, document);
  }
  const rows = [
    ...roles.map(({ arn, username, groups, usedBy }) => [arn, username, groups.join(','), usedBy]),
    ...others.map(({ arn, username, groups }) => [arn, username, groups.join(','), '']),
  ];
  for (const line of renderTable(['ARN', 'USERNAME', 'GROUPS', 'USED BY'], rows)) context.out(line);
  printEntries(context, accessEntries);
  for (const why of notLookedAt) context.out(`access entries not looked at: ${why}`);
  if (backups.length === 0) return;
  context.out('');
  const kept = backups.map(({ number, at, roles: count, before }) => [
    String(number),
    at,
    String(count),
    before,
  ]);
  for (const line of renderTable(['BACKUP', 'AT', 'ROLES', 'BEFORE'], kept)) context.out(line);
};

const check = async (context: CliContext, connection: Connection, flags: OutputFlags) => {
  const kube = await context.kube(connection);
  const users = await roleUsers(kube, await context.cloud(connection));
  const findings = identityFindings(await readAwsAuth(kube), users);
  if (findings.length > 0 || flags.output !== 'table') {
    print(context, flags.output, findings, () => ({
      header: ['LINE', 'RULE', 'SEVERITY', 'WHAT', 'REMEDY'],
      rows: findings.map(({ line, rule, severity, message, remedy }) => [
        line === undefined ? '-' : String(line),
        rule,
        severity,
        message,
        remedy,
      ]),
    }));
  }
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return;
  throw new CommandError(
    exitCodes.refused,
    `kube-system/aws-auth has ${errors} ` +
      `finding${errors === 1 ? ' that keeps' : 's that keep'} nodes out`,
  );
};

interface RestoreFlags {
  readonly to?: string;
  readonly dryRun: boolean;
  readonly force: boolean;
}

const chosen = (backups: readonly Backup[], to: string | undefined): Backup => {
  const found = to === undefined ? backups[0] : backups.find(({ number }) => String(number) === to);
  if (found !== undefined) return found;
  const known = backups.map(({ number }) => number).join(', ');
  throw new CommandError(
    exitCodes.refused,
    backups.length === 0
      ? 'there is no backup of aws-auth: Drover keeps one before each of its own writes'
      : `no backup ${to}; there are: ${known} (\`drover identity show\` tells of each)`,
  );
};

const restore = async (context: CliContext, connection: Connection, flags: RestoreFlags) => {
  const kube = await context.kube(connection);
  const backup = chosen(backupsIn(await readBackups(kube)), flags.to);
  const used = await rolesInUse(kube, await context.cloud(connection));
  const map = await readAwsAuth(kube);
  const { comesBack, goes, changes } = differenceOf(map?.data ?? {}, backup.data);
  for (const arn of comesBack) context.out(`+ ${arn}`);
  for (const arn of goes) context.out(`- ${arn}`);
  for (const what of changes) context.out(`~ ${what}`);
  const facts = { used, isForced: flags.force };
  const plan = planRestore(map, backup, facts);
  if (plan.kind === 'refused') {
    throw new CommandError(
      exitCodes.refused,
      `${plan.why}; choose another backup (\`drover identity show\`), or do it all the same ` +
        'with --force',
    );
  }
  for (const warning of plan.warnings) context.err(warning);
  const name = `backup ${backup.number} of ${backup.at}`;
  if (plan.kind === 'unchanged') return context.out(`aws-auth is as ${name} has it`);
  if (flags.dryRun) return context.out(`aws-auth would be as ${name} has it`);
  const change = {
    kube,
    now: epochMs(context.clock.now()),
    what: `restore backup ${backup.number}`,
    warn: () => undefined,
  };
  await nameCluster(context, connection, 'restoring aws-auth in');
  await changeAwsAuth(change, (now) => planRestore(now, backup, facts));
  context.out(`aws-auth is as ${name} has it again`);
};

/** Adds `identity` to the program. */
export const addIdentityCommands = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  const identity = program
    .command('identity')
    .description('check who is authorized as a node by kube-system/aws-auth');
  identity
    .command('show')
    .description('show aws-auth and access entries, the nodes that use them, and backups')
    .addOption(outputOption())
    .addHelpText('after', '\nExamples:\n  drover identity show\n  drover identity show -o json')
    .action((flags: OutputFlags) => show(context, connection(), flags));
  identity
    .command('check')
    .description('report mistakes in the entries that authorize nodes')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExamples:\n  drover identity check\n  drover identity check -o json\n\nExit codes: ' +
        '0 no mistake keeps nodes out, 2 usage, 3 nodes are kept out.',
    )
    .action((flags: OutputFlags) => check(context, connection(), flags));
  identity
    .command('restore')
    .description('restore a backup of aws-auth; refused if nodes would lose access')
    .option('--to <number>', 'number of the backup (default: the newest)')
    .option('--dry-run', 'print the changes and write nothing', false)
    .option('--force', 'restore even if existing nodes lose access', false)
    .addHelpText(
      'after',
      '\nExamples:\n  drover identity restore --dry-run\n  drover identity restore --to 3',
    )
    .action((flags: RestoreFlags) => restore(context, connection(), flags));
};
