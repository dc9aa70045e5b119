// EKS access entries with the real aws and kubectl. The mode can change in one direction only. The
// tests cover entries and policies, the callers that they authorize, and refusals in EKS' words.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { refusedCodes } from '../support/aws-client.ts';
import { eventually, missing, run, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

const cluster = 'ironman-2022';
const policy = 'arn:aws:eks::aws:cluster-access-policy';
const trust = '{"Version":"2012-10-17","Statement":[]}';

describe('access entries', { skip: skipWhen('access entries', whyNot), timeout: 600_000 }, () => {
  let world: ServedWorld;
  const suite = suiteWorld({
    args: ['--demo', '--no-controller', '--port', '0', '--speed', '10'],
  });
  before(() => {
    world = suite.world;
  });

  const eks = (operation: string, ...more: readonly string[]) =>
    world.aws('eks', operation, '--cluster-name', cluster, ...more);
  const json = async <T>(operation: string, ...more: readonly string[]): Promise<T> => {
    const ran = await eks(operation, ...more);
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout) as T;
  };
  const mode = async (): Promise<string> => {
    const query = 'cluster.[status,accessConfig.authenticationMode]';
    const what = ['--name', cluster, '--query', query, '--output', 'text'];
    return (await world.aws('eks', 'describe-cluster', ...what)).stdout.trim();
  };
  const setMode = (to: string) =>
    world.aws(
      ...['eks', 'update-cluster-config', '--name', cluster],
      ...['--access-config', `authenticationMode=${to}`],
    );
  const switched = (to: string) =>
    eventually(`mode ${to}`, async () => ((await mode()) === `ACTIVE\t${to}` ? true : undefined));

  /** Creates a role, and returns kubectl for a user who has assumed it. */
  const person = async (name: string) => {
    const document = ['--assume-role-policy-document', trust];
    const made = await world.aws('iam', 'create-role', '--role-name', name, ...document);
    const { Arn } = (JSON.parse(made.stdout) as { Role: { Arn: string } }).Role;
    const session = ['--role-arn', Arn, '--role-session-name', 'me@home'];
    const assumed = await world.aws('sts', 'assume-role', ...session);
    const { Credentials } = JSON.parse(assumed.stdout) as { Credentials: Record<string, string> };
    const file = join(world.dataDir, `${name}-kubeconfig`);
    await world.aws('eks', 'update-kubeconfig', '--name', cluster, '--kubeconfig', file);
    const env = {
      ...world.env,
      KUBECONFIG: file,
      AWS_ACCESS_KEY_ID: Credentials.AccessKeyId,
      AWS_SECRET_ACCESS_KEY: Credentials.SecretAccessKey,
      AWS_SESSION_TOKEN: Credentials.SessionToken,
    };
    return { arn: Arn, kubectl: (...args: readonly string[]) => run('kubectl', args, { env }) };
  };

  it('are refused where the cluster’s mode knows none', async () => {
    assert.equal(await mode(), 'ACTIVE\tCONFIG_MAP');
    const ran = await eks('list-access-entries');
    assert.notEqual(ran.code, 0);
    assert.match(
      ran.stderr,
      /InvalidRequestException.*authentication mode must be set to one of \[API, API_AND_CONFIG_MAP\]/,
    );
    const tooFar = await setMode('API');
    assert.match(tooFar.stderr, /Unsupported authentication mode update from CONFIG_MAP to API/);
  });

  it('come with the mode for managed groups, and no one falls out', async () => {
    const ran = await setMode('API_AND_CONFIG_MAP');
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /"type": "AccessConfigUpdate"/);
    await switched('API_AND_CONFIG_MAP');
    const back = await setMode('CONFIG_MAP');
    assert.match(
      back.stderr,
      /Unsupported authentication mode update from API_AND_CONFIG_MAP to CONFIG_MAP/,
    );
    const { accessEntries } = await json<{ accessEntries: string[] }>('list-access-entries');
    assert.equal(accessEntries.length, 2, String(accessEntries));
    for (const arn of accessEntries) {
      const { accessEntry } = await json<{ accessEntry: Record<string, unknown> }>(
        'describe-access-entry',
        ...['--principal-arn', arn],
      );
      assert.equal(accessEntry.type, 'EC2_LINUX');
      assert.equal(accessEntry.username, 'system:node:{{EC2PrivateDNSName}}');
      assert.match(
        String(accessEntry.accessEntryArn),
        /^arn:aws:eks:eu-west-1:111111111111:access-entry\/ironman-2022\/role\/111111111111\/\S+\/[0-9a-f-]{36}$/,
      );
    }
    const waited = await world.kubectl('wait', 'node', '--all', '--for=condition=Ready');
    assert.equal(waited.code, 0, waited.stderr);
  });

  it('let a person in, and their policies say what they may do', async () => {
    const { arn, kubectl } = await person('viewer');
    const before = await kubectl('get', 'pods', '-n', 'demo');
    assert.match(before.stderr, /Unauthorized|must be logged in to the server/);
    const made = await json<{ accessEntry: { type: string; username: string } }>(
      'create-access-entry',
      ...['--principal-arn', arn, '--kubernetes-groups', 'readers'],
    );
    assert.equal(made.accessEntry.type, 'STANDARD');
    const twice = await eks('create-access-entry', '--principal-arn', arn);
    assert.match(
      twice.stderr,
      /ResourceInUseException.*The specified access entry resource is already in use on this cluster/,
    );
    const who = await kubectl('auth', 'whoami');
    assert.match(
      who.stdout,
      /Username +arn:aws:sts::111111111111:assumed-role\/viewer\/me-home\n/,
      who.stderr,
    );
    assert.match(who.stdout, /Groups +\[readers system:authenticated\]\n/);
    assert.match(
      (await kubectl('get', 'pods', '-n', 'demo')).stderr,
      /cannot list resource "pods"/,
    );

    const view = ['--principal-arn', arn, '--policy-arn', `${policy}/AmazonEKSViewPolicy`];
    const scope = ['--access-scope', 'type=namespace,namespaces=demo'];
    assert.equal((await eks('associate-access-policy', ...view, ...scope)).code, 0);
    const seen = await kubectl('get', 'pods', '-n', 'demo');
    assert.equal(seen.code, 0, seen.stderr);
    assert.notEqual((await kubectl('get', 'pods', '-n', 'kube-system')).code, 0);
    assert.notEqual((await kubectl('delete', 'pods', '--all', '-n', 'demo')).code, 0);
    const listed = await json<{ associatedAccessPolicies: { accessScope: unknown }[] }>(
      'list-associated-access-policies',
      ...['--principal-arn', arn],
    );
    assert.deepEqual(
      listed.associatedAccessPolicies.map(({ accessScope }) => accessScope),
      [{ type: 'namespace', namespaces: ['demo'] }],
    );
    const known = await world.aws('eks', 'list-access-policies');
    assert.match(known.stdout, /AmazonEKSClusterAdminPolicy/);
    assert.equal((await eks('disassociate-access-policy', ...view)).code, 0);
    assert.notEqual((await kubectl('get', 'pods', '-n', 'demo')).code, 0);

    const admin = ['--policy-arn', `${policy}/AmazonEKSClusterAdminPolicy`];
    const everywhere = ['--access-scope', 'type=cluster'];
    await eks('associate-access-policy', '--principal-arn', arn, ...admin, ...everywhere);
    assert.equal((await kubectl('get', 'nodes')).code, 0);
    const renamed = ['--principal-arn', arn, '--username', 'viewer:{{SessionName}}'];
    assert.equal((await eks('update-access-entry', ...renamed)).code, 0);
    assert.match((await kubectl('auth', 'whoami')).stdout, /Username +viewer:me-home\n/);
    assert.equal((await eks('delete-access-entry', '--principal-arn', arn)).code, 0);
    assert.match((await kubectl('get', 'nodes')).stderr, /Unauthorized|must be logged in/);
  });

  const role = 'arn:aws:iam::111111111111:role/other';
  const refusals: readonly (readonly [string, readonly string[], RegExp])[] = [
    [
      'create-access-entry',
      ['--principal-arn', role, '--username', 'system:me'],
      /InvalidParameterException.*username cannot start with "system:"/,
    ],
    [
      'create-access-entry',
      ['--principal-arn', role, '--type', 'EC2_LINUX', '--kubernetes-groups', 'a'],
      /can only be performed on Access Entries with a type of "STANDARD"/,
    ],
    [
      'create-access-entry',
      ['--principal-arn', role, '--type', 'LINUX'],
      /InvalidParameterException.*EC2_WINDOWS/,
    ],
    [
      'create-access-entry',
      ['--principal-arn', role.replace('1111', '2222'), '--type', 'EC2_LINUX'],
      /InvalidParameterException/,
    ],
    [
      'create-access-entry',
      ['--principal-arn', 'arn:aws:sts::111111111111:assumed-role/a/b'],
      /InvalidParameterException.*The principalArn parameter format is not valid/,
    ],
    [
      'create-access-entry',
      ['--principal-arn', role],
      /InvalidParameterException.*The specified principalArn is invalid: invalid principal\./,
    ],
    [
      'describe-access-entry',
      ['--principal-arn', role],
      /ResourceNotFoundException.*access entries with 'list-access-entries'/,
    ],
    ['delete-access-entry', ['--principal-arn', role], /ResourceNotFoundException/],
  ];
  for (const [operation, args, words] of refusals) {
    it(`${operation} ${args.join(' ')} is refused`, async () => {
      const ran = await eks(operation, ...args);
      assert.ok(refusedCodes.includes(ran.code), ran.stdout);
      assert.match(ran.stderr, words);
    });
  }

  it('alone keep nodes in: those of a self-managed group need one of their own', async () => {
    assert.equal((await setMode('API')).code, 0);
    await switched('API');
    const own = ['node', '-l', 'alpha.eksctl.io/nodegroup-name=demo-self-ng'];
    const out = await world.kubectl(
      'wait',
      ...own,
      '--for=condition=Ready=Unknown',
      '--timeout=60s',
    );
    assert.equal(out.code, 0, out.stderr);
    const map = ['cm', '-n', 'kube-system', 'aws-auth', '-o', 'jsonpath={.data.mapRoles}'];
    const { stdout } = await world.kubectl('get', ...map);
    const arn = /rolearn: (\S*demo-sel\S*)/.exec(stdout)?.[1] ?? '';
    const made = await eks('create-access-entry', '--principal-arn', arn, '--type', 'EC2_LINUX');
    assert.equal(made.code, 0, made.stderr);
    const back = await world.kubectl('wait', ...own, '--for=condition=Ready', '--timeout=60s');
    assert.equal(back.code, 0, back.stderr);
  });

  it('are what `drover create nodegroup` lets a self-managed group in by, and go with it', async () => {
    const common = ['--cluster=ironman-2022', '--managed=false', '--name=own-ng'];
    const ran = await world.drover('create', 'nodegroup', '--nodes=1', ...common);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    const arn = /creating access entry of type EC2_LINUX for "(\S+)"/.exec(ran.stdout)?.[1] ?? '';
    const { accessEntries } = await json<{ accessEntries: string[] }>('list-access-entries');
    assert.ok(accessEntries.includes(arn), ran.stdout);
    const gone = await world.drover(
      ...['delete', 'ng', '--cluster=ironman-2022', '--name=own-ng', '--no-drain', '--wait'],
    );
    assert.equal(gone.code, 0, gone.stderr + gone.stdout);
    const left = await json<{ accessEntries: string[] }>('list-access-entries');
    assert.ok(!left.accessEntries.includes(arn));
  });
});
