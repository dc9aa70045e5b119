// The agent on this machine. Real kernel faults, made as root, are reported on the Node within
// seconds. The agent's checks find faults of processes and networks. Each report clears if
// possible. Faults that the machine cannot make are printed as not run. Every network fault stays
// in its own namespace.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createKubeClient,
  type KubeClient,
  loadKubeconfig,
} from '../../src/adapters/kube/index.ts';
import type { AgentReport } from '../../src/api/agent-report.ts';
import { type KubeObject, type Node, resourceTypes } from '../../src/api/kube.ts';
import { conditionFaults, logFaults, nothing } from '../support/agent-faults.ts';
import { ServedWorld } from '../support/demo-world.ts';
import {
  attempt,
  background,
  lacking,
  NetNamespace,
  sh,
  whyNoFaults,
} from '../support/node-faults.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot = whyNoFaults();
const program = join(import.meta.dirname, '..', '..', 'bin', 'drover.mjs');
const node = 'agent-host-1';
const seenWithinMs = 30_000;
/** A check with an active finding runs again within a little more than a minute. */
const clearedWithinMs = 100_000;

type Event = KubeObject & { readonly message: string; readonly reason: string };

/** `drover agent` as its own process, against the API of an embedded world. */
class RunningAgent {
  readonly world: ServedWorld;
  readonly kube: KubeClient;
  readonly #directory = mkdtempSync(join(tmpdir(), 'drover-agent-'));
  #child: ChildProcess | undefined;

  static async begin(): Promise<RunningAgent> {
    const world = await ServedWorld.start({ args: ['--no-controller', '--port', '0'] });
    const access = await loadKubeconfig({ env: world.env });
    const kube = createKubeClient({ ...access, userAgent: 'drover-test' });
    await kube.create(resourceTypes.nodes, { metadata: { name: node } });
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' };
    const body = { status: { conditions: [ready] } };
    const patch = { type: 'strategic', subresource: 'status', body } as const;
    await kube.patch(resourceTypes.nodes, { name: node }, patch);
    const agent = new RunningAgent(world, kube);
    agent.start();
    return agent;
  }

  private constructor(world: ServedWorld, kube: KubeClient) {
    this.world = world;
    this.kube = kube;
  }

  start(): void {
    const rules = join(this.#directory, 'rules.json');
    const change = [{ reason: 'ForkFailedOutOfPIDs', clearAfterSeconds: 10 }];
    writeFileSync(
      rules,
      JSON.stringify({ apiVersion: 'drover.dev/v1alpha1', kind: 'AgentRules', change }),
    );
    const record = join(this.#directory, 'record.json');
    // Kernel messages from before this test are skipped.
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const last = sh('dd if=/dev/kmsg iflag=nonblock bs=8192 2>/dev/null | grep -a ";" | tail -1');
    writeFileSync(record, JSON.stringify({ bootId, sequence: Number(last.split(',')[1]) }));
    const kubeconfig = String(this.world.env.KUBECONFIG);
    const words = ['--node', node, '--rules', rules, '--record-file', record];
    this.#child = spawn(
      process.execPath,
      [program, 'agent', ...words, '--kubeconfig', kubeconfig],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DROVER_LOG: 'warn' },
      },
    );
  }
  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
  async end(): Promise<void> {
    await this.stop();
    await this.kube.close();
    await this.world.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
  async condition(type: string): Promise<string> {
    const found = await this.kube.get<Node>(resourceTypes.nodes, { name: node });
    const all = found.kind === 'found' ? (found.object.status.conditions ?? []) : [];
    const one = all.find((each) => each.type === type);
    return `${one?.status ?? '-'} ${one?.reason ?? ''}`;
  }
  async events(): Promise<readonly string[]> {
    const { items } = await this.kube.list<Event>(resourceTypes.events);
    return items.map(({ reason, message }) => `${reason} ${message}`);
  }
}

/** Waits until `holds` and returns the seconds that it took. */
const until = async (what: string, holds: () => Promise<boolean>, ms = seenWithinMs) => {
  const begun = performance.now();
  while (!(await holds())) {
    if (performance.now() - begun > ms) assert.fail(`${what}: not within ${ms / 1000} s`);
    await sleep(200);
  }
  return ((performance.now() - begun) / 1000).toFixed(1);
};

describe('the agent on this machine', {
  skip: skipWhen('real faults of the kernel', whyNot),
  timeout: 600_000,
}, () => {
  let agent: RunningAgent;
  before(async () => {
    agent = await RunningAgent.begin();
    await until(
      'the first conditions',
      async () => (await agent.condition('AgentHealthy')) === 'True AgentIsHealthy',
    );
  });
  after(() => agent.end());

  it('leaves the kubelet’s condition alone', async () => {
    assert.equal(await agent.condition('Ready'), 'True KubeletReady');
  });

  for (const [index, { reason, message, needs = [], make }] of logFaults.entries()) {
    it(`reports ${reason} (${index + 1})`, async (test) => {
      const lacks = lacking(...needs);
      const undo = lacks === undefined ? make() : undefined;
      if (undo === undefined) {
        const why = lacks ?? 'this machine cannot make it';
        skipWhen(`the fault ${reason}`, why);
        test.skip(why);
        return;
      }
      try {
        const seconds = await until(reason, async () => {
          const events = await agent.events();
          return events.some((one) => one.includes(`${reason}: `) && message.test(one));
        });
        test.diagnostic(`${reason} after ${seconds} s`);
      } finally {
        undo();
      }
    });
  }

  for (const { condition, reason, message, needs = [], make } of conditionFaults) {
    it(`makes ${condition} False for ${reason}, and True again once it has gone`, async (test) => {
      const lacks = lacking(...needs);
      let undo = lacks === undefined ? make() : undefined;
      if (undo === undefined) {
        const why = lacks ?? 'this machine cannot make it';
        skipWhen(`the fault ${reason}`, why);
        test.skip(why);
        return;
      }
      try {
        const seconds = await until(
          reason,
          async () => (await agent.condition(condition)) === `False ${reason}`,
        );
        const events = await agent.events();
        assert.ok(
          events.some((one) => message.test(one)),
          events.join('\n'),
        );
        undo();
        undo = nothing;
        const cleared = await until(
          `${condition} True`,
          async () => (await agent.condition(condition)).startsWith('True '),
          clearedWithinMs,
        );
        test.diagnostic(`${reason} after ${seconds} s, cleared ${cleared} s after it had gone`);
      } finally {
        undo();
      }
    });
  }

  it('is not fooled by lines that user space writes to the kernel log', async () => {
    const before = (await agent.events()).filter((one) => one.includes('KernelBug')).length;
    writeFileSync('/dev/kmsg', '<3>BUG: kernel NULL pointer dereference, address: 0\n');
    writeFileSync('/dev/kmsg', '<0>EXT4-fs (vda): Remounting filesystem read-only\n');
    await sleep(4_000);
    const after = (await agent.events()).filter((one) => one.includes('KernelBug')).length;
    assert.equal(after, before);
    assert.match(await agent.condition('StorageReady'), /^True/);
  });

  it('says how many records it lost when the ring buffer went round', async (test) => {
    const sysctl = '/proc/sys/kernel/printk_devkmsg';
    const limits = readFileSync(sysctl, 'utf8').trim();
    agent.signal('SIGSTOP');
    try {
      sh(`echo on > ${sysctl}`);
      sh(
        'python3 -c "f=open(\\"/dev/kmsg\\",\\"w\\")\nfor i in range(50000): f.write(f\\"<7>drover filler {i:080d}\\\\n\\"); f.flush()"',
      );
    } finally {
      agent.signal('SIGCONT');
      sh(`echo ${limits} > ${sysctl}`);
    }
    const seconds = await until('LogRecordsLost', async () =>
      (await agent.events()).some((one) => /LogRecordsLost: \d+ records/.test(one)),
    );
    test.diagnostic(`LogRecordsLost after ${seconds} s`);
  });
});

/** Findings of `drover agent check`, optionally in a network namespace. */
const check = (namespace?: NetNamespace, before = ''): readonly string[] => {
  const command = `${before}${process.execPath} ${program} agent check -o json`;
  const place = namespace === undefined ? '' : `ip netns exec ${namespace.name} `;
  let text: string;
  try {
    text = execFileSync('sh', ['-c', `exec ${place}${command}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
    });
  } catch (error) {
    text = String((error as { readonly stdout?: string }).stdout ?? '');
  }
  const { checks } = JSON.parse(text) as AgentReport;
  return checks.flatMap(({ findings }) =>
    findings.map(({ reason, message }) => `${reason}: ${message}`),
  );
};

interface NetFault {
  readonly name: string;
  readonly found: RegExp;
  readonly needs?: readonly string[];
  readonly make: string;
  readonly undo: string;
  /** The fault is a process that ends with its namespace. */
  readonly stays?: boolean;
}

const dropMetadata = '-p tcp -d 169.254.169.254 -j DROP';
const dropped = /^UnexpectedRejectRule: .*"-A OUTPUT -d 169\.254\.169\.254\/32 -p tcp -j DROP"/;

const netFaults: readonly NetFault[] = [
  {
    name: 'the rule of article 004, in iptables’ nft backend',
    found: dropped,
    needs: ['iptables-nft'],
    make: `iptables-nft -I OUTPUT 1 ${dropMetadata}`,
    undo: `iptables-nft -D OUTPUT ${dropMetadata}`,
  },
  {
    name: 'the rule of article 004, in iptables’ legacy backend',
    found: dropped,
    needs: ['iptables-legacy'],
    make: `iptables-legacy -I OUTPUT 1 ${dropMetadata}`,
    undo: `iptables-legacy -D OUTPUT ${dropMetadata}`,
  },
  {
    name: 'a rule in a native nftables table',
    found: /^UnexpectedRejectRule: .*inet drover c: ip daddr 169\.254\.169\.254 drop/,
    needs: ['nft'],
    make:
      'nft add table inet drover; nft add chain inet drover c "{ type filter hook output priority 0; }"; ' +
      'nft add rule inet drover c ip daddr 169.254.169.254 drop',
    undo: 'nft delete table inet drover',
  },
  {
    name: 'a chain’s policy',
    found: /^UnexpectedRejectRule: .*":INPUT DROP"/,
    needs: ['iptables-nft'],
    make: 'iptables-nft -P INPUT DROP',
    undo: 'iptables-nft -P INPUT ACCEPT',
  },
  {
    name: 'a redirection of the kubelet’s port',
    found: /^PortConflict: Potential iptables rule conflict on port 10250/,
    needs: ['iptables-nft'],
    make: 'iptables-nft -t nat -A PREROUTING -p tcp --dport 10250 -j DNAT --to-destination 10.0.0.1:80',
    undo: 'iptables-nft -t nat -F',
  },
  {
    name: 'no forwarding',
    found: /^NetworkSysctl: .*net\.ipv4\.ip_forward is 0/,
    make: 'echo 0 > /proc/sys/net/ipv4/ip_forward',
    undo: 'echo 1 > /proc/sys/net/ipv4/ip_forward',
  },
  {
    name: 'an interface that is down',
    found: /^InterfaceNotUp: Interface Name: "drv0"/,
    make: 'ip link add drv0 type veth peer name drv1; ip link set drv1 up',
    undo: 'ip link del drv0',
  },
  {
    name: 'an interface without carrier',
    found: /^InterfaceNotRunning: Interface Name: "drv0"/,
    make: 'ip link add drv0 type veth peer name drv1; ip link set drv0 up',
    undo: 'ip link del drv0',
  },
  {
    name: 'a kubelet that is not well',
    found: /^KubeletUnhealthy: .*: 500/,
    make: 'python3 -c "import http.server as h\nclass H(h.BaseHTTPRequestHandler):\n  def do_GET(s): s.send_error(500, \\"syncloop\\", \\"syncloop\\")\n  def log_message(*a): pass\nh.HTTPServer((\\"127.0.0.1\\", 10248), H).serve_forever()" >/dev/null 2>&1 & sleep 1',
    undo: ':',
    stays: true,
  },
];

describe('the agent’s checks in a network of their own', {
  skip: skipWhen('real faults of the network', whyNot),
  timeout: 600_000,
}, () => {
  for (const { name, found, needs = [], make, undo, stays } of netFaults) {
    it(`find ${name}, and nothing once it has gone`, (test) => {
      const lacks = lacking(...needs);
      if (lacks !== undefined) {
        skipWhen(name, lacks);
        test.skip(lacks);
        return;
      }
      const namespace = new NetNamespace();
      const isFound = (): boolean => check(namespace).some((one) => found.test(one));
      try {
        assert.equal(isFound(), false, 'found before it was made');
        namespace.sh(make);
        assert.equal(isFound(), true, `not found: ${check(namespace).join('\n')}`);
        namespace.sh(undo);
        if (stays !== true) assert.equal(isFound(), false, 'found after it had gone');
      } finally {
        attempt(`ip netns pids ${namespace.name} | xargs -r kill`);
        namespace.end();
      }
    });
  }

  it('find a full table of connections, of which the kernel says nothing', (test) => {
    const lacks = lacking('iptables-nft');
    if (lacks !== undefined) {
      skipWhen('the fault ConntrackExceededKernel', lacks);
      test.skip(lacks);
      return;
    }
    const namespace = new NetNamespace();
    try {
      namespace.sh('iptables-nft -A INPUT -m conntrack --ctstate NEW -j ACCEPT');
      const script =
        'import socket\\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\\n' +
        'for a in range(1,7):\\n  for p in range(1,60001):\\n' +
        '    try: s.sendto(b\\"\\", (\\"127.0.0.%d\\" % a, p))\\n    except OSError: pass\\n';
      namespace.sh(`python3 -c "exec(\\"\\"\\"${script}\\"\\"\\")"`);
      const findings = check(namespace);
      assert.ok(
        findings.some((one) => /^ConntrackExceededKernel: .*: \d+ of \d+ connections/.test(one)),
        findings.join('\n'),
      );
    } finally {
      namespace.end();
    }
  });
});

describe('the agent’s checks of processes', {
  skip: skipWhen('real faults of processes', whyNot),
  timeout: 600_000,
}, () => {
  const find = (pattern: RegExp, namespace?: string): boolean =>
    check(undefined, namespace).some((one) => pattern.test(one));

  it('find zombies, and none once they were collected', () => {
    const zombies =
      'import os,signal,time\nsignal.signal(signal.SIGUSR1, lambda *_: [os.wait() for _ in range(25)])\n' +
      'for i in range(25):\n  if os.fork()==0: os._exit(0)\nwhile True: time.sleep(100)';
    const { child, undo } = background('python3', '-c', zombies);
    try {
      sh('sleep 1');
      assert.equal(find(/^ExcessiveZombieProcesses: Detected \d+ zombie/), true);
      child.kill('SIGUSR1');
      sh('sleep 1');
      assert.equal(find(/^ExcessiveZombieProcesses/), false);
    } finally {
      undo();
    }
  });

  it('find a large environment', () => {
    const environment = Array.from({ length: 1_010 }, (_, n) => `DROVER_${n}=1`);
    const { undo } = background('env', ...environment, 'sleep', '100');
    try {
      sh('sleep 0.5');
      assert.equal(find(/^LargeEnvironment: PID \d+ has .* at 10\d\d/), true);
    } finally {
      undo();
    }
  });

  it('tell of a clock that nothing disciplines', (test) => {
    let status = '';
    try {
      status = sh('busybox adjtimex | grep status');
    } catch {
      // The skip below reports it.
    }
    if (!status.includes('UNSYNC')) {
      const why = status === '' ? 'busybox not installed' : 'the clock is synchronized';
      skipWhen('the fault ClockUnsynchronized', why);
      test.skip(why);
      return;
    }
    assert.equal(find(/^ClockUnsynchronized: /), true);
  });

  it('say so where the kernel log cannot be seen', () => {
    const hidden = 'unshare -m sh -c \'mount --bind /dev/null /dev/kmsg; exec "$@"\' sh ';
    assert.equal(find(/^KernelLogNotSeen: /, hidden), true);
    assert.equal(find(/^KernelLogNotSeen: /), false);
  });

  it('find a containerd that does not answer', async (test) => {
    const lacks = lacking('containerd', 'ctr');
    const isTaken = existsSync('/run/containerd/containerd.sock');
    if (lacks !== undefined || isTaken) {
      const why = lacks ?? 'containerd of this machine runs';
      skipWhen('the fault ContainerRuntimeUnhealthy', why);
      test.skip(why);
      return;
    }
    const directory = mkdtempSync(join(tmpdir(), 'drover-containerd-'));
    const words = ['--root', join(directory, 'root'), '--state', join(directory, 'state')];
    const child = spawn('containerd', [...words, '--config', '/dev/null'], { stdio: 'ignore' });
    try {
      await until('containerd', async () => existsSync('/run/containerd/containerd.sock'));
      await until('containerd answers', async () => !find(/^ContainerRuntimeUnhealthy/));
      child.kill('SIGSTOP');
      assert.equal(find(/^ContainerRuntimeUnhealthy: containerd does not answer: /), true);
      child.kill('SIGCONT');
      assert.equal(find(/^ContainerRuntimeUnhealthy/), false);
    } finally {
      child.kill('SIGKILL');
      attempt('rm -rf /run/containerd/containerd.sock*');
      rmSync(directory, { recursive: true, force: true });
    }
  });

  for (const name of ['unit that restarts', 'unit that fails to start']) {
    it(`find a ${name}`, (test) => {
      const why = existsSync('/run/systemd/system')
        ? 'the test makes no unit of its own'
        : 'systemd does not run here';
      skipWhen(`the fault of a ${name}`, why);
      test.skip(why);
    });
  }
});
