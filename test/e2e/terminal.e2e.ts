// Drover in a person's terminal: `drover top` driven by keys in a pseudo-terminal while a drain is
// blocked, its lines without a terminal, and words completed for bash and for kubectl.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin');
const drover = join(bin, 'drover.mjs');
const pty = join(import.meta.dirname, '..', 'support', 'in_terminal.py');
const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('python3', ['--version']));

const never = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: never, namespace: demo }
spec: { maxUnavailable: 0, selector: { matchLabels: { app: nginx-demo } } }
`;
const noHooks = {
  'hooks-never-run-out': 'drains by hand: no instance waits in a hook',
  'hooks-complete-when-empty': 'drains by hand: no instance waits in a hook',
  'foreign-hooks-left-alone': 'drains by hand: no instance waits in a hook',
};

interface Session {
  readonly child: ChildProcess;
  readonly press: (keys: string) => void;
  /** Everything since the last drawing began. */
  readonly screen: () => string;
  readonly all: () => string;
  readonly exited: Promise<number | null>;
}

const redraw = '\u001b[0J';

const session = (world: ServedWorld, program: string, args: readonly string[]): Session => {
  const child = spawn(program, args, { env: world.env, stdio: ['pipe', 'pipe', 'inherit'] });
  let all = '';
  child.stdout.on('data', (chunk: Buffer) => {
    all += chunk.toString();
  });
  return {
    child,
    press: (keys) => child.stdin.write(keys),
    screen: () => all.slice(all.lastIndexOf(redraw) + 1),
    all: () => all,
    exited: new Promise((resolve) => child.on('exit', resolve)),
  };
};

const shows = (one: Session, what: RegExp): Promise<true> =>
  eventually(`the screen shows ${what}`, async () => (what.test(one.screen()) ? true : undefined));

describe('in a terminal', {
  skip: skipWhen('drover top and completion', whyNot),
  timeout: 300_000,
  concurrency: 1,
}, () => {
  let world: ServedWorld;
  let node = '';
  const suite = suiteWorld({ judged: { settled: false, exempt: noHooks } });
  before(async () => {
    world = suite.world;
    assert.equal((await world.drover('world', 'advance', '60s')).code, 0);
    const label = 'eks.amazonaws.com/nodegroup=demo-ng';
    const listed = await world.kubectl('get', 'nodes', '-l', label, '-o', 'name');
    node = listed.stdout.trim().replace('node/', '');
    assert.match(node, /^ip-/);
  });

  it('top shows a drain that begins meanwhile, what it waits for, and quits at once', async () => {
    const top = session(world, 'python3', [pty, process.execPath, drover, 'top']);
    try {
      await shows(top, /node groups .*\(\d groups, 4 nodes, 0 draining/);
      assert.equal((await world.kubectlInput(never, 'apply', '-f', '-')).code, 0);
      const asked = ['drain', node, '--no-wait', '--no-preflight'];
      const drained = await world.drover(...asked);
      assert.equal(drained.code, 0, drained.stderr);
      await shows(top, /> demo-ng +\d +\d +1 /);
      top.press('\r');
      await shows(top, new RegExp(`nodes of demo-ng[\\s\\S]*> ${node} .*drain: `));
      top.press('\r');
      await shows(top, /budgets?\s+demo\/never/);
      top.press('\u001b');
      await shows(top, /nodes of demo-ng/);
      top.press('n/zzz\r');
      await shows(top, /nothing here[\s\S]*filter: zzz/);
      top.press('?');
      await shows(top, /ctrl-c +quit/);
      top.press('\u0003');
      assert.equal(await top.exited, 0);
    } finally {
      top.child.kill();
    }
  });

  it('top without a terminal prints the tables and then a line for each change', async () => {
    const top = session(world, process.execPath, [drover, 'top']);
    try {
      await eventually('the tables', async () => /1 draining/.test(top.all()) || undefined);
      assert.equal((await world.drover('undrain', node)).code, 0);
      const line = new RegExp(`^\\S+Z node ${node}: (?!.*drain: )`, 'm');
      await eventually('a line', async () => line.test(top.all()) || undefined);
      assert.ok(!top.all().includes('\u001b'), 'no escapes');
      top.child.kill('SIGINT');
      assert.equal(await top.exited, 0);
    } finally {
      top.child.kill();
    }
  });

  it('names of nodes and groups are completed, for drover and for kubectl', async () => {
    const asked = await world.drover('__complete', '--', 'drain', 'ip-');
    assert.ok(asked.stdout.split('\n').includes(node), asked.stdout);
    const dir = mkdtempSync(join(tmpdir(), 'drover-bin-'));
    try {
      for (const name of ['kubectl-drover', 'kubectl_complete-drover']) {
        symlinkSync(join(bin, name), join(dir, name));
      }
      const env = { ...world.env, PATH: `${dir}:${process.env.PATH}` };
      const words = ['__complete', 'drover', 'explain', 'nodegroup', 'demo-'];
      const told = execFileSync('kubectl', words, { encoding: 'utf8', env, stdio: 'pipe' });
      assert.deepEqual(told.trim().split('\n'), ['demo-ng', ':4']);
      const ran = execFileSync('kubectl', ['drover', 'get', 'nodes'], { encoding: 'utf8', env });
      assert.match(ran, new RegExp(`^${node} `, 'm'));
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
