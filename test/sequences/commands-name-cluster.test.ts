// Commands that write name their cluster, and the AWS account if they write there, on stderr before
// the first write, so that an operator can stop one that found another cluster than was meant. The
// commands are those of the program: a new one is either a row here or has a reason to be none.
import { expect, it } from 'vitest';
import { commandsOf } from '../../scripts/print-cli.ts';
import { epochMs } from '../../src/api/brand.ts';
import { objectOr } from '../../src/api/json.ts';
import { addIdentity } from '../../src/cli/aws-auth.ts';
import { CommandError } from '../../src/cli/context.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { helpOnlyContext } from '../builders/help-only-context.ts';
import { GivenGroup } from '../support/given-group.ts';
import type { GroupLife } from '../support/nodegroup-world.ts';
import { contextOf, during, Recorder } from '../support/read-only-commands.ts';
import { latest } from '../support/update-world.ts';

const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];
const cluster = 'context prod (https://prod)';
const account = 'AWS account 111111111111, region eu-west-1';
const both = `${cluster}, ${account}`;

/** In this order, since each changes what the next one finds. */
const writing = [
  ['drain NODE --no-wait', `draining in ${cluster}`],
  ['undrain NODE --no-wait', `undraining in ${cluster}`],
  ['repair NODE --hold', `holding a node in ${cluster}`],
  ['repair NODE --release', `removing the hold of a node in ${cluster}`],
  ['repair NODE', `repairing in ${cluster}`],
  ['scale nodegroup base --nodes 2', `scaling in ${cluster}`],
  [`update nodegroup old --no-wait --release-version ${newest}`, `updating in ${cluster}`],
  ['pause update --nodegroup old', `pausing in ${cluster}`],
  ['resume update --nodegroup old', `resuming in ${cluster}`],
  ['approve update --nodegroup old', `approving in ${cluster}`],
  ['complete update --nodegroup old', `completing in ${cluster}`],
  ['abort update --nodegroup old', `aborting in ${cluster}`],
  ['rollback nodegroup old --no-wait', `rolling back in ${cluster}`],
  ['update sequence base --name s --no-wait', `updating in ${cluster}`],
  ['pause sequence s', `pausing in ${cluster}`],
  ['resume sequence s', `resuming in ${cluster}`],
  ['abort sequence s', `aborting in ${cluster}`],
  ['adopt --asg mine --yes --no-wait', `adopting in ${cluster}`],
  ['release mine --yes --no-wait', `releasing in ${cluster}`],
  ['identity restore --force', `restoring aws-auth in ${cluster}`],
  ['create nodegroup --cluster c --name own --nodes 1', `creating in ${both}`],
  ['create addon --cluster c --name eks-pod-identity-agent --no-wait', `creating in ${account}`],
  ['delete addon --cluster c --name coredns', `deleting in ${account}`],
  ['update cluster --name c --approve --no-wait', `updating in ${account}`],
  ['create cluster --name d --without-nodegroup', `creating in ${account}`],
  ['delete nodegroup base --cluster c', `deleting in ${both}`],
  ['uninstall --yes --no-leader-elect', `uninstalling from ${cluster}`],
] as const;

/** The phase of the newest update in which a verb has something to do. */
const awaited: Readonly<Record<string, string>> = { complete: 'Soaking', rollback: 'Ended' };

/** Commands that write to no cluster and to no account, by the reason. */
const others: Readonly<Record<string, readonly string[]>> = {
  'they read': [
    'get cluster',
    'get addon',
    'get updates',
    'get nodes',
    'get disruptions',
    'get repairs',
    'get nodegroup',
    'get sequences',
    'describe nodegroup',
    'describe update',
    'describe sequence',
    'explain',
    'explain nodegroup',
    'explain node',
    'explain update',
    'top',
    'plan update',
    'identity show',
    'identity check',
    'logs query',
    'logs story',
    'notify test',
  ],
  'they work on this machine': [
    'node init',
    'node show',
    'userdata render',
    'userdata lint',
    'userdata explain',
    'userdata diff',
    'agent check',
    'agent bundle',
    'setup aws',
    'completion',
    'version',
  ],
  'they run until they are stopped, and log where': ['controller', 'agent', 'up'],
  'only an embedded world has them': [
    'env',
    'page',
    'down',
    'world advance',
    'world status',
    'world inject',
    'world clear',
  ],
};

const writes = /^(?:create|patch|delete|update|terminate)/;

/** The API server answers a review and keeps nothing of it. */
const isReview = (type: unknown): boolean =>
  /reviews$/.test(String((type as { readonly resource?: string } | undefined)?.resource));

/** Each writing call becomes a line; the first one of a command ends its waiting. */
const recording = <T extends object>(target: T, told: () => void): T =>
  new Proxy(target, {
    get: (on, name) => {
      const value = Reflect.get(on, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        if (writes.test(String(name)) && !isReview(given[0])) told();
        return value.apply(on, given);
      };
    },
  });

/** The lines on stderr and a `write` for each writing call, in their order. */
const linesOf = async (life: GroupLife, words: readonly string[]): Promise<readonly string[]> => {
  const context = contextOf(life, new Recorder(), {});
  const log: string[] = [];
  const stopped = new AbortController();
  const told = (): void => {
    log.push('write');
    stopped.abort();
  };
  const program = buildProgram(
    {
      ...context,
      err: (line) => void log.push(line),
      signal: stopped.signal,
      kube: async () => recording(await context.kube({}), told),
      cloud: async () => recording(await context.cloud({}), told),
      provisioning: async () => recording(await context.provisioning({}), told),
    },
    '0',
  );
  const work = program.parseAsync(words, { from: 'user' }).catch((error: unknown) => {
    // The write was made; that it ends the command is this test's doing.
    if (!(error instanceof CommandError) || !stopped.signal.aborted) throw error;
  });
  await during(life, work);
  return log;
};

/** A group a release behind, which keeps its old nodes during an update. */
const makeOld = async (life: GroupLife): Promise<void> => {
  await life.create({
    nodegroupName: 'old',
    releaseVersion: older,
    scalingConfig: { minSize: 0, maxSize: 2, desiredSize: 1 },
  });
  await life.until('the old group is ACTIVE', () => life.isActive(1, 'old'));
  const updateConfig = { updateStrategy: 'BLUE_GREEN', blueGreen: { soakSeconds: 7_200 } };
  life.patch({ spec: { updateConfig } }, 'old');
};

/** An entry of aws-auth, before which its content was kept. */
const addEntry = async (life: GroupLife): Promise<void> => {
  const kube = await contextOf(life, new Recorder(), {}).kube({});
  const change = { kube, now: epochMs(0), what: 'a test', warn: () => undefined };
  await during(life, addIdentity(change, 'arn:aws:iam::111111111111:role/one', 'linux'));
};

it('each command writes to no cluster or says before which one it writes to', () => {
  const all = commandsOf(buildProgram(helpOnlyContext, '0'), 'drover').map(([name]) =>
    name.replace(/^drover /, ''),
  );
  const reading = Object.values(others).flat();
  const named = writing.map(([line]) => line as string);
  const isNamed = (name: string): boolean =>
    named.some((line) => line === name || line.startsWith(`${name} `));
  expect(all.filter((name) => !reading.includes(name) && !isNamed(name))).toEqual([]);
  expect(reading.filter((name) => !all.includes(name) || isNamed(name))).toEqual([]);
});

it('commands that write name the cluster before they do', async () => {
  const given = await GivenGroup.begin();
  const { life } = given;
  await makeOld(life);
  await addEntry(life);
  const node = String(objectOr(life.nodes('base')[0]?.metadata).name);
  for (const [line, said] of writing) {
    const phase = awaited[line.split(' ')[0] ?? ''];
    const isThere = () => latest(life)?.status?.phase === phase;
    if (phase !== undefined) await life.until(`the update is ${phase}`, isThere, 7_200);
    const log = await linesOf(life, line.replace('NODE', node).split(' '));
    const first = log.indexOf('write');
    expect(first, `${line} writes`).toBeGreaterThan(0);
    expect(
      log.slice(0, first).some((one) => one.startsWith(said)),
      line,
    ).toBe(true);
  }
  await life.end();
});
