// Article 002's two updates of aws-auth as its query finds them in the audit log, with both
// writers. `drover identity` reports authorized roles and faults, and restores an overwritten map.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type AuditEvent, missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

const map = ['cm', '-n', 'kube-system', 'aws-auth'];
const entryOf = (role: string): string =>
  '- groups:\n  - system:bootstrappers\n  - system:nodes\n' +
  `  rolearn: ${role}\n  username: system:node:{{EC2PrivateDNSName}}\n`;

const why = 'no node is drained';
const noDrain = {
  'evictions-within-budgets': why,
  'nothing-forced-early': why,
  'marks-before-eviction': why,
  'evictions-sent-once': why,
  'only-drainable-pods': why,
  'marks-undone': why,
  'intent-before-effect': why,
  'fixed-state-writes-nothing': why,
  'journal-economics': why,
};

describe('drover identity', { skip: skipWhen('drover identity', whyNot), timeout: 300_000 }, () => {
  let world: ServedWorld;
  const suite = suiteWorld({
    args: ['--demo', '--port', '0', '--speed', '10'],
    judged: { settled: true, exempt: noDrain },
  });
  before(() => {
    world = suite.world;
  });

  const mapRoles = async (): Promise<string> =>
    (await world.kubectl('get', ...map, '-o', 'jsonpath={.data.mapRoles}')).stdout;
  /** Article 002's query: all writes, in order. */
  const writes = () =>
    world
      .audit()
      .filter(
        ({ objectRef, verb }) =>
          objectRef?.name === 'aws-auth' && !['get', 'list', 'watch'].includes(verb),
      );
  const roleOf = async (group: string): Promise<string> => {
    const stack = `eksctl-ironman-2022-nodegroup-${group}`;
    const query =
      'StackResourceSummaries[?LogicalResourceId==`NodeInstanceRole`].PhysicalResourceId';
    const what = ['--stack-name', stack, '--query', query, '--output', 'text'];
    const { stdout } = await world.aws('cloudformation', 'list-stack-resources', ...what);
    return `arn:aws:iam::111111111111:role/${stdout.trim()}`;
  };
  const bodyOf = (event: AuditEvent | undefined) =>
    (event?.requestObject ?? {}) as {
      readonly metadata?: { readonly resourceVersion?: string };
      readonly data?: Readonly<Record<string, string>>;
    };

  it('a managed group is authorized by EKS, a self-managed one by who makes it (article 002)', async () => {
    const atFirst = await mapRoles();
    const { length } = writes();
    const common = ['--nodes=1', '--cluster=ironman-2022'];
    const managed = await world.drover(
      'create',
      'nodegroup',
      ...common,
      '--managed',
      '--name=m-ng',
    );
    assert.equal(managed.code, 0, managed.stderr + managed.stdout);
    const own = await world.drover('create', 'ng', ...common, '--managed=false', '--name=own-ng');
    assert.equal(own.code, 0, own.stderr + own.stdout);
    const [mRole, ownRole] = [await roleOf('m-ng'), await roleOf('own-ng')];
    assert.ok(own.stdout.includes(`adding identity "${ownRole}" to auth ConfigMap`), own.stdout);
    assert.equal(await mapRoles(), atFirst + entryOf(mRole) + entryOf(ownRole));

    const [first, second, ...more] = writes().slice(length);
    assert.deepEqual(more, []);
    assert.equal(first?.user?.username, 'eks:node-manager');
    assert.deepEqual(first?.user?.groups, ['system:authenticated']);
    assert.equal(first?.userAgent, 'vpcLambda/v0.0.0 (linux/amd64) kubernetes/$Format');
    assert.equal(bodyOf(first).data?.mapRoles, atFirst + entryOf(mRole));
    assert.match(bodyOf(first).metadata?.resourceVersion ?? '', /^\d+$/);

    assert.equal(second?.user?.username, 'kubernetes-admin');
    assert.deepEqual(second?.user?.groups, ['system:masters', 'system:authenticated']);
    assert.match(second?.userAgent ?? '', /^drover-cli\/\d/);
    assert.deepEqual(bodyOf(second).data, {
      mapRoles: atFirst + entryOf(mRole) + entryOf(ownRole),
      mapUsers: '[]\n',
    });
    assert.match(bodyOf(second).metadata?.resourceVersion ?? '', /^\d+$/);
    for (const { responseStatus } of [first, second]) assert.equal(responseStatus?.code, 200);
  });

  it('shows who is authorized and who uses it, and finds nothing wrong', async () => {
    const shown = await world.drover('identity', 'show');
    assert.equal(shown.code, 0, shown.stderr);
    const [header] = shown.stdout.split('\n');
    assert.match(header ?? '', /^ARN +USERNAME +GROUPS +USED BY$/);
    assert.match(shown.stdout, /role\/\S+ +system:node:\S+ +\S+,system:nodes +node group m-ng\n/);
    assert.match(shown.stdout, /role\/\S+ .* stack eksctl-ironman-2022-nodegroup-own-ng\n/);
    assert.match(
      shown.stdout,
      /\nBACKUP +AT +ROLES +BEFORE\n2 +\S+ +4 +let arn:\S+ in for node group own-ng\n/,
    );
    const checked = await world.drover('identity', 'check');
    assert.deepEqual([checked.code, checked.stdout], [0, ''], checked.stderr);
  });

  it('tells what a wiped map does, and brings it back as it was', async () => {
    const whole = await mapRoles();
    // Each backup holds the map as it was before a write of Drover, so only a third one is
    // complete.
    const dry = await world.drover('identity', 'restore', '--dry-run');
    assert.equal(dry.code, 3, dry.stdout);
    assert.match(dry.stderr, /with backup 2 arn:\S+, which stack \S+ uses, would not be let in/);
    const own = await roleOf('own-ng');
    const wiped = JSON.stringify({ data: { mapRoles: entryOf(own) } });
    await world.kubectl('patch', ...map, '--type=merge', '-p', wiped);
    const checked = await world.drover('identity', 'check');
    assert.equal(checked.code, 3, checked.stdout);
    assert.match(
      checked.stdout,
      /- +role-not-mapped +error +\S+ of node group m-ng is not in mapRoles/,
    );
    const forced = await world.drover('identity', 'restore', '--to', '2', '--force');
    assert.equal(forced.code, 0, forced.stderr);
    assert.ok(forced.stdout.includes(`+ ${await roleOf('m-ng')}\n`), forced.stdout);
    assert.ok(forced.stdout.includes(`- ${own}\n`), forced.stdout);
    assert.equal(await mapRoles(), whole.replace(entryOf(own), ''));
    const patch = JSON.stringify({ data: { mapRoles: whole } });
    await world.kubectl('patch', ...map, '--type=merge', '-p', patch);
    const unknown = await world.drover('identity', 'restore', '--to', '99');
    assert.equal(unknown.code, 3);
    assert.match(unknown.stderr, /no backup 99; there are: 3, 2, 1/);
  });

  it('is never written over when no one can read it, and no group is made then', async () => {
    const whole = await mapRoles();
    const broken = JSON.stringify({ data: { mapRoles: 'a: [' } });
    await world.kubectl('patch', ...map, '--type=merge', '-p', broken);
    const words = ['--nodes=1', '--cluster=ironman-2022', '--managed=false', '--name=late-ng'];
    const ran = await world.drover('create', 'nodegroup', ...words);
    assert.equal(ran.code, 3, ran.stdout);
    assert.match(ran.stderr, /aws-auth cannot be changed: mapRoles is not YAML/);
    assert.equal(await mapRoles(), 'a: [');
    const checked = await world.drover('identity', 'check', '-o', 'json');
    assert.equal(checked.code, 3);
    assert.equal(JSON.parse(checked.stdout)[0].rule, 'AUTH006');
    const back = JSON.stringify({ data: { mapRoles: whole } });
    await world.kubectl('patch', ...map, '--type=merge', '-p', back);
  });

  it('loses no entry with a group when its role exists by another actor’s hand', async () => {
    const own = await roleOf('own-ng');
    const theirs = JSON.stringify({
      metadata: { annotations: { 'drover.dev/added-roles': null } },
    });
    await world.kubectl('patch', ...map, '--type=merge', '-p', theirs);
    const words = ['--cluster=ironman-2022', '--name=own-ng', '--wait'];
    const ran = await world.drover('delete', 'nodegroup', ...words);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(
      ran.stdout + ran.stderr,
      /identity "arn:\S+" stays in auth ConfigMap: Drover did not/,
    );
    assert.ok((await mapRoles()).includes(entryOf(own)));
  });
});
