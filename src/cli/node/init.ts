// drover node init: from user data to written configuration and, on request, a started kubelet.
// Runs once on a node. Writes complete files in an order that lets another run recover from a kill
// at any step. Never shows a secret, never runs commands from user data.
import { defined } from '../../api/defined.ts';
import {
  digestText,
  type InitImage,
  type InitPlan,
  type InitStep,
  initFiles,
  initProblems,
  markPath,
  type PresentFile,
  pathsOfMark,
  planInit,
  servicesLookedFor,
  servicesOf,
  unitDirectories,
  vendorDropIns,
} from '../../core/bootstrap/index.ts';
import {
  type Evaluation,
  evaluateUserData,
  type NodeFacts,
  type NodeFile,
  nvidiaRuntimeFile,
} from '../../formats/index.ts';
import { type HostApi, HostError } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { shownMessage } from '../userdata/findings.ts';
import { cidrGiven, familyNamed, usage, versionGiven } from '../userdata/options.ts';
import { printFiles } from './files.ts';
import { factsGiven, readSource, type Source } from './source.ts';

export interface InitFlags {
  readonly configSource: string;
  readonly root: string;
  readonly imdsEndpoint?: string;
  readonly fact: readonly string[];
  readonly family?: string;
  readonly kubernetes?: string;
  readonly endpoint?: string;
  readonly certificateAuthority?: string;
  readonly serviceCidr?: string;
  readonly dryRun?: boolean;
  readonly start?: boolean;
  readonly replace?: boolean;
}

/** The node's identity: without these it would register as another node. */
const needed = [
  ['instanceId', 'instance-id'],
  ['zone', 'zone'],
  ['region', 'region'],
  ['privateIp', 'private-ip'],
  ['privateDnsName', 'private-dns-name'],
] as const;

const regionOf = (zone: string | undefined): string | undefined =>
  /^([a-z]{2}(?:-[a-z]+)+-\d)[a-z]$/.exec(zone ?? '')?.[1];

const providerBinary = '/etc/eks/image-credential-provider/ecr-credential-provider';

const isThere = async (host: HostApi, path: string): Promise<boolean> => {
  const slash = path.lastIndexOf('/');
  return (await host.list(path.slice(0, slash))).includes(path.slice(slash + 1));
};

const factsFor = async (host: HostApi, source: Source, flags: InitFlags): Promise<NodeFacts> => {
  const given = factsGiven(flags.fact);
  const isThis = host.root === '/';
  const machine = isThis ? host.machine() : undefined;
  const version =
    flags.kubernetes === undefined ? await host.kubeletVersion() : versionGiven(flags.kubernetes);
  if (version === undefined) {
    throw usage(
      `no /usr/bin/kubelet ${isThis ? 'tells its version' : `is asked in ${host.root}`}: give ` +
        '--kubernetes VERSION',
    );
  }
  const [own] = machine?.addresses ?? [];
  const known: Partial<NodeFacts> = {
    instanceType: 'unknown',
    lifecycle: 'on-demand',
    ...(machine === undefined
      ? {}
      : { privateDnsName: machine.hostname, cpus: machine.cpus, memoryMiB: machine.memoryMiB }),
    ...defined({ privateIp: own }),
    ...source.facts,
    ...given,
  };
  const region = known.region ?? regionOf(known.zone);
  const facts: Partial<NodeFacts> = { ...known, ...defined({ region }) };
  const missing = needed.filter(([field]) => facts[field] === undefined);
  if (missing.length > 0) {
    throw usage(
      `${source.name} does not tell ${missing.map(([, name]) => name).join(', ')} of the ` +
        'instance: ' +
        `give ${missing.map(([, name]) => `--fact ${name}=...`).join(' ')}`,
    );
  }
  const isOfEks = await isThere(host, providerBinary);
  return {
    // containerd 1 and 2 both read version 2 of its configuration.
    ...(isOfEks ? {} : { containerdMajor: 1 }),
    ...(facts as NodeFacts),
    kubernetesVersion: version,
    hasNvidiaRuntime: await isThere(host, nvidiaRuntimeFile),
    lacks: isOfEks ? [] : ['credential-provider', 'pause-image'],
    cluster: {
      ...defined({ endpoint: flags.endpoint, certificateAuthority: flags.certificateAuthority }),
      ...(flags.serviceCidr === undefined ? {} : { serviceCidr: cidrGiven(flags.serviceCidr) }),
    },
  };
};

/**
 * A unit is masked by an empty file or a link to /dev/null; the first directory that contains it
 * decides.
 */
const isMasked = async (host: HostApi, path: string): Promise<boolean> => {
  try {
    return ((await host.read(path))?.bytes.length ?? 0) === 0;
  } catch (error) {
    // In a tree, the link to /dev/null points outside of it.
    if (error instanceof HostError && error.code === 'outside') return true;
    throw error;
  }
};

const unitsOf = async (host: HostApi): Promise<ReadonlySet<string>> => {
  const found = new Map<string, boolean>();
  for (const directory of unitDirectories) {
    const names = (await host.list(directory)).filter((name) => servicesLookedFor.includes(name));
    for (const name of names) {
      if (!found.has(name)) found.set(name, !(await isMasked(host, `${directory}/${name}`)));
    }
  }
  return new Set([...found].flatMap(([name, runs]) => (runs ? [name] : [])));
};

const refuseProblems = (evaluation: Evaluation, source: Source, image: InitImage): void => {
  const problems = initProblems(evaluation, image);
  if (problems.length === 0) return;
  const lines = problems.map(
    ({ rule, at, message }) =>
      `  ${source.name}:${at.line}:${at.column}: ${rule}: ${shownMessage(message)}`,
  );
  throw new CommandError(
    exitCodes.refused,
    [
      'refused, and nothing is written:',
      ...lines,
      '`drover userdata lint` lists the rules; correct the user data or add what is missing',
    ].join('\n'),
  );
};

const presentOf = async (
  host: HostApi,
  paths: readonly string[],
): Promise<ReadonlyMap<string, PresentFile>> => {
  const present = new Map<string, PresentFile>();
  for (const path of paths) {
    const found = await host.read(path);
    if (found === undefined) continue;
    present.set(path, { content: new TextDecoder().decode(found.bytes), mode: found.mode });
  }
  return present;
};

const planFor = async (
  host: HostApi,
  wanted: readonly NodeFile[],
  replaces: boolean,
): Promise<InitPlan> => {
  const found = await host.read(markPath);
  const mark = found === undefined ? undefined : new TextDecoder().decode(found.bytes);
  const paths = [...new Set([...wanted.map(({ path }) => path), ...pathsOfMark(mark)])];
  return planInit({
    wanted,
    digest: host.digest(digestText(wanted)),
    mark,
    present: await presentOf(host, paths),
    replaces,
  });
};

export const applySteps = async (host: HostApi, steps: readonly InitStep[]): Promise<void> => {
  for (const step of steps) {
    if (step.kind === 'remove') await host.remove(step.path);
    else await host.write(step.file);
  }
};

const stepText = (step: InitStep): readonly string[] => {
  switch (step.kind) {
    case 'mark':
      return [];
    case 'remove':
      return [`remove   ${step.path}`];
    case 'write':
      return [`${step.isNew ? 'write  ' : 'replace'}  ${step.file.path}`];
  }
};

const start = async (
  context: CliContext,
  host: HostApi,
  { owesStart, started }: Extract<InitPlan, { kind: 'plan' }>,
  files: readonly NodeFile[],
): Promise<void> => {
  if (!host.hasSystemd()) {
    const why =
      host.root === '/' ? 'systemd does not run here' : `${host.root} is no running machine`;
    throw new CommandError(
      exitCodes.failed,
      `the configuration is written, and nothing is started: ${why}; leave --start out, and ` +
        'start /usr/bin/kubelet by other means',
    );
  }
  if (owesStart) {
    await host.systemctl('daemon-reload');
    for (const service of [...servicesOf(files), 'containerd']) {
      await host.systemctl('restart', service);
    }
  }
  await host.systemctl('enable', 'kubelet');
  await host.systemctl(owesStart ? 'restart' : 'start', 'kubelet');
  // Last: after a kill before this, the next run restarts the kubelet once more, which is harmless.
  if (owesStart) await host.write(started);
  context.out('kubelet started');
};

const missingPrograms = async (host: HostApi): Promise<readonly string[]> => {
  const missing: string[] = [];
  for (const path of ['/usr/bin/kubelet', '/usr/bin/containerd']) {
    if (!(await isThere(host, path))) missing.push(path);
  }
  return missing;
};

export const runInit = async (context: CliContext, flags: InitFlags): Promise<void> => {
  const host = await context.host(flags.root);
  if ((await host.list('/')).length === 0) {
    throw usage(`--root ${flags.root} is no tree that a machine could run: nothing is there`);
  }
  const source = await readSource(flags.configSource, {
    readBytes: context.readBytes,
    host: context.host,
    metadata: () => context.metadata(flags.imdsEndpoint),
  });
  const facts = await factsFor(host, source, flags);
  const evaluation = evaluateUserData(source.userData, facts, familyNamed(flags.family));
  refuseProblems(evaluation, source, { units: await unitsOf(host) });
  const files = initFiles(evaluation, await host.list(vendorDropIns));
  const plan = await planFor(host, files, flags.replace === true);
  if (plan.kind === 'refused') {
    throw new CommandError(exitCodes.refused, `refused: ${plan.message}`);
  }
  const { bootstrap, node } = evaluation;
  const scripts = bootstrap.scripts.length - (evaluation.data.family === 'al2023' ? 0 : 1);
  if (scripts > 0) {
    context.err(`${scripts} other script parts are cloud-init’s to run: nothing is run here`);
  }
  for (const path of await missingPrograms(host)) context.err(`${path} is not there yet`);
  if (flags.dryRun === true) {
    for (const line of plan.steps.flatMap(stepText)) context.out(line);
    context.out('');
    printFiles(context, files);
    return;
  }
  if (plan.goesOn) context.out('going on with a run that was stopped half-way');
  await applySteps(host, plan.steps);
  for (const line of plan.steps.flatMap(stepText)) context.out(line);
  context.out(
    plan.steps.length === 0
      ? `${node.nodeName} of ${node.cluster.name}: as it was, nothing to write`
      : `${node.nodeName} of ${node.cluster.name}: ${files.length} files are as its user data says`,
  );
  if (flags.start === true) await start(context, host, plan, files);
  else context.out('start it with --start, or: systemctl enable --now kubelet');
};
