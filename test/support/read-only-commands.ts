// The commands of docs/start.md against a small cluster in virtual time, with each of their
// requests recorded: to the API server by its audit log, to AWS by the transport. docs/start.md and
// deploy/viewer.yaml are printed from what this records.
import { epochMs } from '../../src/api/brand.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { createProvisioning } from '../../src/aws-cloud/index.ts';
import { type CliContext, CommandError, exitCodes } from '../../src/cli/context.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { WorldTransport } from '../../src/sim/ports/aws-transport.ts';
import { helpOnlyContext } from '../builders/help-only-context.ts';
import { GivenGroup } from './given-group.ts';
import type { GroupLife } from './nodegroup-world.ts';

export interface Requests {
  /** `GROUP/RESOURCE VERB`; the core group is empty. */
  readonly cluster: readonly string[];
  /** `GROUP/RESOURCE NAME` of each object that is read by name. */
  readonly names: readonly string[];
  /** `SERVICE:OPERATION`. */
  readonly aws: readonly string[];
}

/** Each with the words of a shell; `NODE` is a node of the cluster. */
export const readOnlyCommands: Readonly<Record<string, readonly string[]>> = {
  'get nodes': ['get nodes'],
  'get nodegroup': ['get ng'],
  'describe nodegroup': ['describe ng base'],
  'explain node': ['explain node NODE'],
  'explain nodegroup': ['explain nodegroup base', 'explain nodegroup late'],
  'plan update [--eks]': ['plan update old', 'plan update --eks c/old'],
  adopt: ['adopt --asg mine'],
  'identity show': ['identity show'],
};

/** A release of the world's images that is not the newest. */
const older = '1.32.9-20251212';
const user = { username: 'reader', groups: ['system:masters'] };

export class Recorder {
  readonly cluster = new Set<string>();
  readonly names = new Set<string>();
  readonly aws = new Set<string>();

  audit(event: JsonObject): void {
    if (objectOr(event.user).username !== user.username) return;
    const { apiGroup = '', resource, subresource, name } = objectOr(event.objectRef);
    const what = subresource === undefined ? resource : `${resource}/${subresource}`;
    this.cluster.add(`${apiGroup}/${what} ${event.verb}`);
    if (event.verb === 'get') this.names.add(`${apiGroup}/${what} ${name}`);
  }

  take(): Requests {
    const all = {
      cluster: [...this.cluster].toSorted(),
      names: [...this.names].toSorted(),
      aws: [...this.aws].toSorted(),
    };
    this.cluster.clear();
    this.names.clear();
    this.aws.clear();
    return all;
  }
}

/** EKS describes its own groups; the embedded world describes NodeGroups in EKS' form. */
const eksAnswer =
  (life: GroupLife, nodegroup: JsonObject) =>
  (...call: AwsCall) => {
    const [service, operation, input] = call;
    if (operation === 'DescribeNodegroup') return { nodegroup };
    if (operation === 'ListNodegroups') {
      const groups = [...life.world.kube.readAll(resourceTypes.nodegroups)];
      return { nodegroups: groups.map(({ metadata }) => String(objectOr(metadata).name)) };
    }
    return life.world.aws.call(service, operation, input, { userAgent: 'drover-cli' });
  };
type AwsCall = readonly [service: string, operation: string, input: JsonObject];

/** `nodegroup`: EKS' answer to DescribeNodegroup; `print`: receives every line of the command. */
export const contextOf = (
  life: GroupLife,
  recorder: Recorder,
  nodegroup: JsonObject,
  print: (line: string) => void = () => undefined,
): CliContext => {
  const { world } = life;
  const identity = { user, userAgent: 'drover-cli' };
  const now = () => epochMs(Math.floor(world.kernel.now() / 1000));
  const { kube, cloud, clock, network } = createInProcessPorts(world, {
    component: 'reader',
    identity,
    onCloudCall: ({ service, operation }) => recorder.aws.add(`${service}:${operation}`),
  });
  const transport = new WorldTransport({
    call: eksAnswer(life, nodegroup),
    receive: () => () => undefined,
    network,
    now,
    onCall: ({ service, operation }) => recorder.aws.add(`${service}:${operation}`),
  });
  return {
    ...helpOnlyContext,
    out: print,
    err: print,
    progress: () => undefined,
    clock,
    kube: async () => kube,
    cloud: async () => cloud,
    provisioning: async () => createProvisioning(transport, clock),
    cluster: async () => ({ embedded: false, now: now() }),
    target: async () => ({ context: 'prod', server: 'https://prod' }),
  };
};

/** Findings and refusals are answers; anything else is a failure of this recorder. */
const ran = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.refused) throw error;
  }
};

/** Advances world time until `work` is done, by `seconds` a step. */
export const during = async (
  life: GroupLife,
  work: Promise<unknown>,
  seconds = 0.01,
): Promise<unknown> => {
  let isDone = false;
  const finish = (): void => {
    isDone = true;
  };
  work.then(finish, finish);
  for (let i = 0; i < 2_000 && !isDone; i++) await life.driver.advance(seconds);
  return work;
};

export interface ReadOnlyOptions {
  /** Called before the commands; returns fields for the group whose instances never join. */
  readonly plant?: (given: GivenGroup) => JsonObject;
  /** Receives every line that a command prints. */
  readonly print?: (line: string) => void;
}

/**
 * A cluster with a healthy group, one that can be updated, one whose instances never join, and one
 * that is not adopted.
 */
const stage = async (recorder: Recorder, { plant }: ReadOnlyOptions): Promise<GroupLife> => {
  const given = await GivenGroup.begin({ audit: (event) => recorder.audit(event) });
  const { life } = given;
  given.deploy(2, 0);
  const { world } = life;
  const scalingConfig = { minSize: 0, maxSize: 2, desiredSize: 1 };
  await life.create({ nodegroupName: 'old', releaseVersion: older, scalingConfig });
  await life.until('the old group is ACTIVE', () => life.isActive(1, 'old'));
  world.faults.inject('never-join', {});
  await life.create({ nodegroupName: 'late', ...plant?.(given) });
  await life.driver.advance(1_200);
  return life;
};

/** By command; O(commands) lives of a few virtual seconds. */
export const recordReadOnlyCommands = async (
  options: ReadOnlyOptions = {},
): Promise<Readonly<Record<string, Requests>>> => {
  const recorder = new Recorder();
  const life = await stage(recorder, options);
  const node = String(objectOr(life.nodes('base')[0]?.metadata).name);
  const named = { clusterName: 'c', nodegroupName: 'old' };
  const theirs = objectOr((await life.eks('DescribeNodegroup', named)).nodegroup);
  const context = contextOf(life, recorder, theirs, options.print);
  const run = (words: readonly string[]): Promise<unknown> => {
    const program = buildProgram(context, '0');
    return during(life, ran(program.parseAsync([...words], { from: 'user' })));
  };
  // `explain node` reads most of a node that drains; a budget keeps this one from its end.
  await run(['drain', node, '--no-wait']);
  const all: Record<string, Requests> = {};
  for (const [name, lines] of Object.entries(readOnlyCommands)) {
    recorder.take();
    for (const line of lines) {
      await run(line.replace('NODE', node).split(' '));
    }
    all[name] = recorder.take();
  }
  await life.end();
  return all;
};
