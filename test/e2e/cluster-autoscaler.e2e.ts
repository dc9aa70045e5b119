// The real cluster-autoscaler, 1.36, against the demo. It adds nodes for pods that do not fit,
// removes idle nodes through the lifecycle hooks, scales a group up from zero, and acts beside an
// update. Its clock is the wall clock.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { howToInstall, peerProgram } from '../support/peers.ts';
import { rowsOf, type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const autoscaler = peerProgram('cluster-autoscaler');
const whyNot =
  howToInstall('cluster-autoscaler', await missing(autoscaler, ['--help'])) ??
  (await missing('kubectl', ['version', '--client']));
const waitMs = 240_000;
/** Machines boot, pods move, and an empty node stands for a minute before it is terminated. */
const updateMs = 600_000;
/** No m5.large fits two pods with this request. */
const cpu = '1200m';

const evictedAlready = 'the autoscaler may have evicted all pods before the hook begins';

/** The autoscaler reads the endpoints of Auto Scaling, EC2 and EKS only from this file. */
const cloudConfig = (url: string, region: string): string =>
  ['autoscaling', 'ec2', 'eks']
    .map((service) =>
      [
        `[ServiceOverride "${service}"]`,
        ...[`Service = ${service}`, `Region = ${region}`, `URL = ${url}`],
        `SigningRegion = ${region}`,
      ].join('\n'),
    )
    .join('\n');

describe('cluster-autoscaler', {
  skip: skipWhen('cluster-autoscaler', whyNot),
  timeout: 1_500_000,
}, () => {
  let world: ServedWorld;
  let kubectl: Steps;
  let child: ChildProcess | undefined;
  let dir = '';
  let errors = '';
  let decisions = '';

  // Registered first, so that a violation in the world does not leave the autoscaler running.
  after(async () => {
    if (child === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    child.on('close', () => resolve());
    child.kill('SIGTERM');
    await promise;
    rmSync(dir, { recursive: true, force: true });
  });
  const suite = suiteWorld({
    // In a world ahead of the wall clock, pods would be created in the autoscaler's future.
    args: ['--demo', '--port', '0'],
    judged: {
      settled: false,
      exempt: {
        'nothing-forced-early': evictedAlready,
        'marks-before-eviction': evictedAlready,
        'only-drainable-pods': evictedAlready,
        'evictions-sent-once': evictedAlready,
      },
    },
  });
  before(() => {
    world = suite.world;
    kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
    dir = mkdtempSync(join(tmpdir(), 'drover-autoscaler-'));
    const file = join(dir, 'cloud.conf');
    const region = String(world.env.AWS_DEFAULT_REGION);
    writeFileSync(file, cloudConfig(String(world.env.AWS_ENDPOINT_URL), region));
    child = spawn(
      autoscaler,
      [
        '--cloud-provider=aws',
        `--cloud-config=${file}`,
        `--kubeconfig=${world.env.KUBECONFIG}`,
        '--leader-elect=false',
        '--node-group-auto-discovery=asg:tag=k8s.io/cluster-autoscaler/enabled',
        '--address=127.0.0.1:0',
        '--scan-interval=5s',
        '--v=2',
        '--scale-down-unneeded-time=10s',
        '--scale-down-delay-after-add=10s',
        '--unremovable-node-recheck-timeout=10s',
        '--skip-nodes-with-system-pods=false',
      ],
      { env: { ...world.env, AWS_REGION: region }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    child.stderr?.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\n'))
        if (line.startsWith('E')) errors += `${line}\n`;
        else if (/scale-up plan|is unschedulable|removing (?:empty )?node/.test(line)) {
          decisions += `${line}\n`;
        }
    });
  });

  const deploy = (name: string, replicas: number, nodeSelector: object = {}): Promise<string> => {
    const labels = { app: name };
    const container = { name: 'c', image: 'nginx', resources: { requests: { cpu } } };
    const object = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: 'demo' },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { nodeSelector, containers: [container] } },
      },
    };
    return kubectl.okWith(JSON.stringify(object), 'apply -f -');
  };
  const running = async (name: string): Promise<number> =>
    rowsOf(await kubectl.ok(`get pods -n demo -l app=${name}`)).filter((row) =>
      / Running /.test(row),
    ).length;
  const startUpdate = async (group: string): Promise<string> => {
    const args = ['--cluster-name', 'ironman-2022', '--nodegroup-name', group];
    const ran = await world.aws('eks', 'update-nodegroup-version', ...args, '--output', 'json');
    assert.equal(ran.code, 0, ran.stderr);
    return (JSON.parse(ran.stdout) as { readonly update: { readonly id: string } }).update.id;
  };
  const phaseOf = async (update: string): Promise<string> =>
    (await kubectl.ok(`get nodegroupupdate ${update} -o jsonpath={.status.status}`)).trim();
  /** Desired sizes of the two managed groups, by name. */
  const sizes = async (): Promise<Readonly<Record<string, number>>> => {
    const path = '{range .items[*]}{.metadata.name}={.spec.scaling.desired} {end}';
    const told = await kubectl.ok('get ng -o', `jsonpath=${path}`);
    const pairs = told.trim().split(' ');
    return Object.fromEntries(
      pairs.map((pair) => [pair.split('=')[0] ?? '', Number(pair.split('=')[1])]),
    );
  };
  const sum = async (): Promise<number> =>
    Object.values(await sizes()).reduce((all, one) => all + one, 0);

  it('adds nodes for pods that fit nowhere', async () => {
    await deploy('big', 6);
    await eventually(
      'all pods run',
      async () => ((await running('big')) === 6 ? true : undefined),
      waitMs,
    );
    assert.ok(rowsOf(await kubectl.ok('get nodes')).length >= 6);
  });

  it('evicts pods and terminates idle nodes, which the hooks drain', async () => {
    await kubectl.ok('delete deployment big -n demo');
    await eventually(
      'a group is empty',
      async () => ((await sum()) <= 1 ? true : undefined),
      waitMs,
    );
    // The autoscaler may still inspect these nodes; the test does not wait for their pods.
    const ended = await eventually('the hooks have drained its nodes', async () => {
      const rows = rowsOf(await kubectl.ok('get nodedisruptions'));
      const done = rows.filter((row) => / Ended /.test(row));
      return done.length >= 2 ? done : undefined;
    });
    for (const row of ended) assert.match(row, /LifecycleHook\s+Confirmed\s+Ended\s+Drained/);
  });

  it('starts a group from zero by what EKS says of it', async () => {
    // Pods of another node that the autoscaler removes meanwhile could need a third node.
    await kubectl.ok(
      'annotate nodes --all cluster-autoscaler.kubernetes.io/scale-down-disabled=true',
    );
    const [empty] = Object.entries(await sizes()).find(([, size]) => size === 0) ?? [];
    assert.ok(empty !== undefined);
    // The autoscaler takes a node that still drains for one of those that it asks for.
    await eventually('the last nodes of that group are gone', async () => {
      const left = await kubectl.ok(`get nodes -l eks.amazonaws.com/nodegroup=${empty} -o name`);
      return left.trim() === '' ? true : undefined;
    });
    await deploy('zero', 2, { 'eks.amazonaws.com/nodegroup': empty });
    await eventually(
      'its pods run',
      async () => ((await running('zero')) === 2 ? true : undefined),
      waitMs,
    );
    assert.equal((await sizes())[empty], 2, decisions);
    assert.equal(errors, '', 'the autoscaler logs no error');
  });

  it('adds a node during an update, and removes none of those that the update needs', async () => {
    // An operator's annotation would keep the autoscaler from the new nodes as well.
    const group = 'demo-ng';
    const before = (await sizes())[group] ?? 0;
    assert.ok(before > 0);
    const update = await startUpdate(group);
    await eventually('the update has begun', async () =>
      (await phaseOf(update)) === 'InProgress' ? true : undefined,
    );
    await deploy('during', before + 2, { 'eks.amazonaws.com/nodegroup': group });
    await eventually(
      'the update has ended',
      async () => ((await phaseOf(update)) === 'InProgress' ? undefined : true),
      updateMs,
    );
    assert.equal(await phaseOf(update), 'Successful');
    await eventually(
      'its pods run',
      async () => ((await running('during')) === before + 2 ? true : undefined),
      waitMs,
    );
    assert.ok(((await sizes())[group] ?? 0) >= before + 2, decisions);
    const releases = await kubectl.ok(
      `get nodes -l eks.amazonaws.com/nodegroup=${group} -o`,
      'jsonpath={.items[*].status.nodeInfo.kubeletVersion}',
    );
    assert.equal(new Set(releases.trim().split(' ')).size, 1, releases);
    assert.equal(errors, '', 'the autoscaler logs no error');
  });
});
