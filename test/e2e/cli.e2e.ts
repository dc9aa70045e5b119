// The command line against served worlds: its writes, output and exit codes for valid and invalid
// input; and the control plane as its own process.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { eventually, missing, run, type ServedWorld } from '../support/demo-world.ts';
import { drover } from '../support/program.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);

const never = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: never, namespace: demo }
spec: { maxUnavailable: 0, selector: { matchLabels: { app: nginx-demo } } }
`;

/** No instance is terminated in these tests. */
const noHooks = {
  'hooks-never-run-out': 'drains by hand: no instance waits in a hook',
  'hooks-complete-when-empty': 'drains by hand: no instance waits in a hook',
  'foreign-hooks-left-alone': 'drains by hand: no instance waits in a hook',
};

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
    readonly spec: { readonly nodeName?: string; readonly unschedulable?: boolean };
  }[];
}

const list = async (world: ServedWorld, ...args: readonly string[]): Promise<Listed['items']> => {
  const ran = await world.kubectl('get', ...args, '-o', 'json');
  assert.equal(ran.code, 0, ran.stderr);
  return (JSON.parse(ran.stdout) as Listed).items;
};

/** The nodes that run nginx, once all its pods run. */
const nginxNodes = (world: ServedWorld): Promise<readonly string[]> =>
  eventually('nginx runs', async () => {
    const pods = await list(world, 'pods', '-n', 'demo', '--field-selector=status.phase=Running');
    const nodes = pods.flatMap(({ spec }) => spec.nodeName ?? []);
    return nodes.length >= 4 ? [...new Set(nodes)] : undefined;
  });

/** The node of demo-ng: it runs nginx, and CoreDNS, which has a budget. */
const dnsNode = async (world: ServedWorld): Promise<string> => {
  const [node, ...more] = await list(world, 'nodes', '-l', 'eks.amazonaws.com/nodegroup=demo-ng');
  assert.ok(node !== undefined && more.length === 0, 'demo-ng has one node');
  assert.ok((await nginxNodes(world)).includes(node.metadata.name), 'nginx runs on it');
  return node.metadata.name;
};

interface Background {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
}

/** A drover command that runs in the background during the test. */
const background = (world: ServedWorld, ...args: readonly string[]): Background => {
  const child = spawn(process.execPath, [drover, ...args], { env: world.env });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return { child, output: () => output, exited };
};

const theCommandLine = (): void => {
  let world: ServedWorld;
  let first = '';
  let second = '';

  const suite = suiteWorld({ judged: { settled: false, exempt: noHooks } });
  before(async () => {
    world = suite.world;
    assert.equal((await world.drover('world', 'advance', '60s')).code, 0);
    first = await dnsNode(world);
    [second = ''] = (await nginxNodes(world)).filter((name) => name !== first);
  });

  it('prints a plan and writes nothing with --dry-run', async () => {
    const before = world.audit().length;
    const ran = await world.drover('drain', first, '--dry-run');
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /merge patch .*exclude-from-external-load-balancers/);
    assert.match(ran.stdout, /merge patch {"spec":{"unschedulable":true}}/);
    assert.match(ran.stdout, /\nevict 1 +demo\/nginx/);
    assert.match(ran.stdout, /\nstay +kube-system\/aws-node-\w+ +DaemonSet\/aws-node/);
    assert.match(ran.stdout, /Dry run: nothing was written/);
    const events = world.audit().slice(before);
    const ours = events.filter(({ userAgent }) => userAgent?.startsWith('drover-cli'));
    assert.ok(ours.length >= 4, 'the dry run is seen in the audit log');
    assert.deepEqual([...new Set(ours.map(({ verb }) => verb))].sort(), ['get', 'list']);
    assert.deepEqual(await list(world, 'nodedisruptions'), []);
  });

  it('prints the same plan as JSON', async () => {
    const ran = await world.drover('drain', `node/${first}`, '--dry-run', '-o', 'json');
    const document = JSON.parse(ran.stdout);
    assert.equal(document.apiVersion, 'cli.drover.dev/v1');
    assert.equal(document.kind, 'DrainPreview');
    const kinds = document.items[0].plan.steps.map(({ kind }: { kind: string }) => kind);
    assert.deepEqual(kinds.slice(0, 3), ['PatchNode', 'PatchNode', 'Evict']);
  });

  it('drains a node, explains it and gives it back', async () => {
    const drained = await world.drover('drain', first);
    assert.equal(drained.code, 0, drained.stderr);
    assert.match(drained.stdout, /: drain recorded \(NodeDisruption i-[0-9a-f]+\)\n/);
    assert.match(drained.stdout, /: drained/);
    const [node] = (await list(world, 'nodes')).filter(({ metadata }) => metadata.name === first);
    assert.equal(node?.spec.unschedulable, true);
    const pods = await list(world, 'pods', '-n', 'demo');
    assert.ok(pods.every(({ spec }) => spec.nodeName !== first));
    const explained = await world.drover('explain', first);
    assert.match(explained.stdout, /: over: Drained/);
    assert.match(explained.stdout, /\ncordoned\n/);
    assert.match(explained.stdout, /Z {2}drained\n/);
    const undrained = await world.drover('undrain', first);
    assert.equal(undrained.code, 0, undrained.stderr);
    assert.match(undrained.stdout, /it takes pods again/);
    const again = await world.drover('undrain', first);
    assert.equal(again.code, 0);
    assert.match(again.stdout, /drover holds nothing on it/);
  });

  it('refuses what a budget can never allow, and fails at its deadline otherwise', async () => {
    assert.equal((await world.kubectlInput(never, 'apply', '-f', '-')).code, 0);
    const refused = await world.drover('drain', second);
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /could never end:\n.*pod demo\/nginx\S+ of ReplicaSet\/nginx/);
    assert.match(refused.stderr, /budget demo\/never/);
    const late = await world.drover('drain', second, '--timeout', '4s');
    assert.equal(late.code, 4, late.stderr);
    assert.match(late.stderr, /stays cordoned until `drover undrain`/);
    const explained = await world.drover('explain', 'node', second, '-o', 'json');
    const document = JSON.parse(explained.stdout);
    assert.equal(document.kind, 'Explanation');
    const { status } = document.disruption;
    assert.equal(status.outcome, 'Failed');
    // The delay after the deadline depends on the machine; the drain never ends before it.
    assert.ok(Date.parse(status.deadline) > Date.parse(status.startedAt), explained.stdout);
    assert.ok(Date.parse(status.endedAt) >= Date.parse(status.deadline), explained.stdout);
    const waiting = status.waitingOn[0];
    assert.deepEqual(waiting.budgets, ['demo/never']);
    assert.equal(waiting.neverAllows, true);
  });

  it('says on ^C that the drain continues, and how to stop it', async () => {
    const draining = background(world, 'drain', second, '--timeout', '10m');
    await eventually('it is under way', async () =>
      / pods? left/.test(draining.output()) ? true : undefined,
    );
    draining.child.kill('SIGINT');
    assert.equal(await draining.exited, 130);
    assert.match(draining.output(), /the drain continues. `drover undrain ip-\S+` stops it/);
    assert.equal((await world.drover('undrain', second)).code, 0);
    assert.equal((await world.kubectl('delete', 'pdb', '-n', 'demo', 'never')).code, 0);
  });

  it('forces what is left at the deadline when told so', async () => {
    assert.equal((await world.kubectlInput(never, 'apply', '-f', '-')).code, 0);
    const [victim = ''] = await nginxNodes(world);
    const args = ['--timeout', '16s', '--force-at-deadline', '-o', 'json'];
    const ran = await world.drover('drain', victim, ...args);
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(JSON.parse(ran.stdout).items[0].outcome, 'Forced');
    assert.match(ran.stderr, /drained by force at its deadline/);
    assert.equal((await world.drover('undrain', victim)).code, 0);
    assert.equal((await world.kubectl('delete', 'pdb', '-n', 'demo', 'never')).code, 0);
  });

  it('does not take back what others asked for', async () => {
    const { stdout } = await world.drover('explain', first, '-o', 'json');
    const { name } = JSON.parse(stdout).disruption;
    const cause = {
      kind: 'ScaleIn',
      id: 'scale-in/test',
      receivedAt: '2026-01-01T00:00:00.000Z',
      onDeadline: 'fail',
      followUp: 'Release',
      confirmation: { state: 'Confirmed', at: '2026-01-01T00:00:00Z', reason: 'EC2' },
    };
    const patch = JSON.stringify([{ op: 'add', path: '/spec/causes/-', value: cause }]);
    const patched = await world.kubectl('patch', 'nd', name, '--type=json', '-p', patch);
    assert.equal(patched.code, 0, patched.stderr);
    const refused = await world.drover('undrain', first);
    assert.equal(refused.code, 3, refused.stdout);
    assert.match(refused.stderr, /is held by ScaleIn/);
  });

  const bad: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ['an unknown node', ['drain', 'ip-1-2-3-4'], 1, /no node ip-1-2-3-4 in this cluster; /],
    ['an unknown name', ['explain', 'nothing'], 1, /no node nothing in this cluster/],
    ['no node', ['drain'], 2, /name at least one node/],
    ['names and labels', ['drain', 'n1', '-l', 'a=b'], 2, /not both/],
    ['labels that no node has', ['undrain', '-l', 'a=b'], 1, /no node has the labels a=b/],
    ['a timeout without unit', ['drain', 'n1', '--timeout', '5'], 2, /takes a duration/],
    ['force without deadline', ['drain', 'n1', '--force-at-deadline'], 2, /needs a deadline/],
    ['an unknown flag', ['drain', 'n1', '--forse'], 2, /unknown option '--forse'/],
    ['an unknown format', ['explain', 'n1', '-o', 'xml'], 2, /Allowed choices are table, json/],
    ['an unknown command', ['dran'], 2, /unknown command 'dran'/],
    ['an unknown fault', ['world', 'inject', 'boom'], 2, /no fault boom; .*--list/],
    ['an unknown fault to clear', ['world', 'clear', 'boom'], 2, /no fault boom/],
    ['a duration without unit', ['world', 'advance', '30'], 2, /takes a duration/],
    ['a queue without address', ['controller', '--queue-url', 'q'], 2, /takes the address/],
    ['a port that is none', ['up', '--port', '99999'], 2, /--port takes a whole number/],
    ['no such kubeconfig', ['--kubeconfig', '/nowhere', 'drain', 'n1'], 2, /does not exist/],
    ['no such context', ['--context', 'other', 'explain', 'n1'], 1, /other/],
    ['no world there', ['--data-dir', '/tmp/no-world-here', 'env'], 1, /holds no world/],
  ];
  it('answers bad input with one clear error and its exit code', async () => {
    const left = [...bad];
    // Each is its own process and mostly start-up time, so a few run at a time.
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [what, args, code, message] = next;
        const ran = await world.drover(...args);
        assert.equal(ran.code, code, `${what}: ${ran.stderr}`);
        assert.match(ran.stderr, message, what);
        assert.doesNotMatch(ran.stderr, /\n\s+at /, `${what}: no stack`);
        assert.equal(ran.stdout, '', what);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
  });

  it('controls time and faults of the world', async () => {
    const time = async (): Promise<number> => {
      const ran = await world.drover('world', 'status', '-o', 'json');
      return Date.parse(String(JSON.parse(ran.stdout).now));
    };
    const start = await time();
    assert.match((await world.drover('world', 'advance', '2m')).stdout, /world time is now 20/);
    assert.ok((await time()) - start >= 120_000);
    assert.match((await world.drover('world', 'inject', '--list')).stdout, /^kubelet-stop /m);
    const injected = await world.drover('world', 'inject', 'kubelet-stop', '--node', second);
    assert.equal(injected.code, 0, injected.stderr);
    assert.match((await world.drover('world', 'status')).stdout, /kubelet-stop/);
    assert.match((await world.drover('world', 'clear')).stdout, /cleared 1 fault/);
    assert.doesNotMatch((await world.drover('world', 'status')).stdout, /kubelet-stop/);
  });

  it('a node whose kubelet stops is NotReady, until the fault is cleared', async () => {
    const ready = async (): Promise<string> => {
      const ran = await world.kubectl('get', 'node', second, '--no-headers');
      return ran.stdout.trim().split(/\s+/)[1] ?? ran.stderr;
    };
    await world.drover('world', 'inject', 'kubelet-stop', '--node', second);
    await world.drover('world', 'advance', '1m');
    assert.match(await ready(), /^NotReady/);
    await world.drover('world', 'clear');
    await world.drover('world', 'advance', '1m');
    assert.match(await ready(), /^Ready/);
  });

  it('is no failure when its reader goes away', async () => {
    const script = `"${process.execPath}" "${drover}" world inject --list | true; echo "\${PIPESTATUS[0]}"`;
    const ran = await run('bash', ['-c', script], { env: world.env });
    assert.equal(ran.stderr, '');
    assert.equal(ran.stdout, '0\n');
  });

  it('prints the environment as export lines', async () => {
    const ran = await world.drover('--data-dir', world.dataDir, 'env');
    assert.equal(ran.code, 0, ran.stderr);
    const keys = [...ran.stdout.matchAll(/^export ([A-Z_]+)='[^']+'$/gm)].map((match) => match[1]);
    assert.deepEqual(keys.sort(), [
      'AWS_ACCESS_KEY_ID',
      'AWS_DEFAULT_REGION',
      'AWS_ENDPOINT_URL',
      'AWS_SECRET_ACCESS_KEY',
      'DROVER_URL',
      'KUBECONFIG',
    ]);
  });

  it('leaves a foreign directory untouched, and nothing behind where a port is busy', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'drover-foreign-'));
    const fresh = join(dir, 'fresh');
    mkdirSync(join(dir, 'theirs'));
    writeFileSync(join(dir, 'theirs', 'letter.txt'), 'dear');
    try {
      const foreign = await world.drover('--data-dir', join(dir, 'theirs'), 'up', '--port', '0');
      assert.equal(foreign.code, 1);
      assert.match(foreign.stderr, /not a data directory of drover; it is left untouched/);
      assert.deepEqual(readdirSync(join(dir, 'theirs')), ['letter.txt']);
      const { port } = new URL(String(world.env.AWS_ENDPOINT_URL));
      const busy = await world.drover('--data-dir', fresh, 'up', '--port', port);
      assert.equal(busy.code, 1);
      assert.match(busy.stderr, new RegExp(`${port}.*--port`));
      assert.deepEqual(readdirSync(dir), ['theirs']);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('comes back on the same ports after kill -9', async () => {
    const { env } = world;
    await world.kill();
    const down = await world.drover('world', 'status');
    assert.equal(down.code, 1);
    assert.match(down.stderr, /no world answers at .*drover up/);
    await world.restart(['--demo']);
    assert.match(world.readyLine, /resumed where it was/);
    assert.ok(world.readyLine.includes(String(env.AWS_ENDPOINT_URL)), world.readyLine);
    const explained = await world.drover('explain', `node/${second}`);
    assert.match(explained.stdout, /because of Manual/);
  });
};

const theController = (): void => {
  let world: ServedWorld;
  const suite = suiteWorld({
    args: ['--demo', '--no-controller', '--port', '0'],
    judged: { settled: false, compat: 'native', exempt: noHooks },
  });
  before(() => {
    world = suite.world;
  });

  const lease = async (): Promise<string> => {
    const path = 'jsonpath={.spec.holderIdentity}';
    const ran = await world.kubectl(
      'get',
      'lease',
      '-n',
      'kube-system',
      'drover-controller',
      '-o',
      path,
    );
    return ran.stdout;
  };

  it('does as a process of its own what was recorded before it came', async () => {
    const node = await dnsNode(world);
    const recorded = await world.drover('drain', node, '--no-wait');
    assert.equal(recorded.code, 0, recorded.stderr);
    const explained = await world.drover('explain', node);
    assert.match(explained.stdout, /no controller has acted on it yet/);

    const queue = `${String(world.env.AWS_ENDPOINT_URL)}/111111111111/drover-notices`;
    const controller = background(world, 'controller', '--compat', 'native', '--queue-url', queue);
    try {
      const drained = await world.drover('drain', node);
      assert.equal(drained.code, 0, drained.stderr);
      assert.match(drained.stdout, /is being drained already/);
      assert.match(await lease(), /\S/);
      assert.match(controller.output(), /"message":"leading"/);
      // The controller reads the queue: it drops the test notification that Auto Scaling sends
      // first.
      assert.match(controller.output(), /"message":"notice:dropped"/);
      const marks = world
        .audit()
        .filter(
          ({ verb, objectRef, userAgent }) =>
            verb === 'patch' &&
            objectRef?.resource === 'nodes' &&
            /^drover\/\d/.test(userAgent ?? ''),
        );
      assert.equal(marks.length, 1, 'one patch in native mode');
      const undrained = await world.drover('undrain', node);
      assert.equal(undrained.code, 0, undrained.stderr);
    } finally {
      controller.child.kill('SIGTERM');
    }
    assert.equal(await controller.exited, 0, controller.output());
    assert.equal(await lease(), '');
  });

  it('keeps trying, and says so, while no one answers', async () => {
    await world.kill();
    for (const args of [[], ['--no-leader-elect']]) {
      const controller = background(world, 'controller', ...args);
      await eventually('a warning', async () =>
        /ECONNREFUSED/.test(controller.output()) ? true : undefined,
      );
      assert.match(controller.output(), /"level":"warn"/);
      assert.equal(controller.child.exitCode, null);
      controller.child.kill('SIGTERM');
      assert.equal(await controller.exited, 0, controller.output());
    }
  });
};

// Each test has its own world.
describe('drover', {
  skip: skipWhen('stories of the command line and drover controller', whyNot),
  timeout: 300_000,
  concurrency: 2,
}, () => {
  describe('the command line', { concurrency: 1 }, theCommandLine);
  describe('drover controller', { concurrency: 1 }, theController);
});
