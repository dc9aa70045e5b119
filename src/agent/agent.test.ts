// The agent on a node in memory with a small API server, in virtual time: what it writes, when, and
// what it leaves unchanged, across restarts, outages and floods.
import { beforeEach, describe, expect, it } from 'vitest';
import { ended, MemoryHost } from '../../test/builders/node-host.ts';
import { CollectingLog, TestRandom, testStart, VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { epochMs, formatKubeTime } from '../api/brand.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import { type Condition, resourceTypes } from '../api/kube.ts';
import { AgentMetrics, NodeAgent } from './index.ts';

const { nodes, events } = resourceTypes;
const second = 1_000;
const minute = 60 * second;

const conditionsOf = (status: unknown): readonly Condition[] =>
  (objectOr(status).conditions ?? []) as unknown as readonly Condition[];

class Life {
  readonly clock = new VirtualClock();
  readonly kube = new FakeKube(this.clock);
  readonly host = new MemoryHost();
  readonly log = new CollectingLog();
  readonly metrics = new AgentMetrics({
    version: '1',
    startedAtSeconds: 0,
    residentBytes: () => 0,
  });
  #stop = new AbortController();
  #running: Promise<void> | undefined;
  #starts = 0;

  constructor(conditions: readonly Condition[] = [{ type: 'Ready', status: 'True' }]) {
    this.kube.put(nodes, { name: 'n1', status: { conditions } });
  }

  async start(rulesFile?: string): Promise<this> {
    this.#stop = new AbortController();
    const agent = await NodeAgent.begin(
      {
        host: this.host,
        kube: this.kube,
        clock: this.clock,
        random: () => new TestRandom(++this.#starts),
        log: this.log,
        metrics: this.metrics,
      },
      { node: 'n1', component: 'drover-agent', ...(rulesFile === undefined ? {} : { rulesFile }) },
    );
    this.#running = agent.run(this.#stop.signal);
    await this.clock.settle();
    return this;
  }
  async stop(): Promise<void> {
    this.#stop.abort(new Error('told to stop'));
    await this.clock.advance(second);
    await this.#running;
  }
  /** The node's uptime is read once, at the start. */
  get seconds(): number {
    return 3600 + (this.clock.now() - testStart) / second;
  }
  kernel(text: string, facility = 0): void {
    this.host.kernel(text, { seconds: this.seconds, facility });
  }
  condition(type: string): Condition | undefined {
    const all = conditionsOf(this.kube.peek(nodes, 'n1')?.status);
    return all.find((one) => one.type === type);
  }
  says(type: string): string {
    const { status = '-', reason = '', lastTransitionTime = '' } = this.condition(type) ?? {};
    return `${status} ${reason} ${lastTransitionTime.slice(11, 19)}`.trim();
  }
  get events(): readonly JsonObject[] {
    return this.kube.requests
      .filter(({ verb, resource }) => verb === 'create' && resource === events.resource)
      .map(({ body }) => objectOr(body));
  }
  get patches(): number {
    return this.kube.requests.filter(
      ({ verb, resource }) => verb === 'patch' && resource === nodes.resource,
    ).length;
  }
}

const fork = 'cgroup: fork rejected by pids controller in /system.slice/kubelet.service';
let life: Life;
beforeEach(async () => {
  life = new Life();
});

describe('a healthy node', () => {
  it('has EKS’ conditions True, and no others', async () => {
    await life.start();
    await life.clock.advance(minute);
    const all = conditionsOf(life.kube.peek(nodes, 'n1')?.status).map(
      ({ type, status, reason, message }) => `${type} ${status} ${reason ?? ''}: ${message ?? ''}`,
    );
    expect(all.toSorted()).toEqual([
      'AgentHealthy True AgentIsHealthy: The agent reads the kernel log and every source it can',
      'ContainerRuntimeReady True ContainerRuntimeIsReady: Monitoring for the ContainerRuntime system is active',
      'KernelReady True KernelIsReady: Monitoring for the Kernel system is active',
      'NetworkingReady True NetworkingIsReady: Monitoring for the Networking system is active',
      'Ready True : ',
      'StorageReady True DiskIsReady: Monitoring for the Disk system is active',
    ]);
    await life.stop();
  });

  it('with GPUs has one more', async () => {
    life.host.files.set('/dev/nvidia0', '');
    await life.start();
    await life.clock.advance(minute);
    expect(life.says('AcceleratedHardwareReady')).toMatch(/^True NvidiaGPUIsReady/);
    await life.stop();
  });

  it('is written to every five minutes or so, and nothing is asked for again', async () => {
    await life.start();
    await life.clock.advance(60 * minute);
    expect(life.patches).toBeGreaterThanOrEqual(11);
    expect(life.patches).toBeLessThanOrEqual(16);
    expect(life.kube.count('get')).toBe(1);
    expect(life.says('KernelReady')).toBe('True KernelIsReady 00:00:00');
    await life.stop();
  });
});

describe('a fault', () => {
  it('is on the Node within two seconds, with an Event in EKS’ words', async () => {
    await life.start();
    await life.clock.advance(minute);
    life.kernel(fork);
    await life.clock.advance(2 * second);
    expect(life.condition('KernelReady')).toMatchObject({
      status: 'False',
      reason: 'ForkFailedOutOfPIDs',
      message:
        'A fork or exec call has failed due to the system being out of process IDs or memory',
    });
    const message = life.events.map((event) => `${event.type} ${event.reason} ${event.message}`);
    expect(message).toEqual([
      'Warning KernelReady ForkFailedOutOfPIDs: A fork or exec call has failed due to the system being out of process IDs or memory',
    ]);
    const { text } = await life.metrics.read();
    const labels = 'condition="KernelReady",reason="ForkFailedOutOfPIDs"';
    expect(text).toContain(`drover_agent_findings_total{${labels}} 1`);
    expect(text).toContain('drover_agent_condition{condition="KernelReady"} 0');
    expect(text).toContain('drover_agent_condition{condition="StorageReady"} 1');
    expect(text).toMatch(/drover_agent_reports_total\{result="sent"\} [1-9]/);
    await life.stop();
  });

  it('of the packet filter is an Event that names the rule', async () => {
    const rule = '-A OUTPUT -d 169.254.169.254/32 -p tcp -j DROP';
    life.host.programs.set('iptables-nft-save', ended(`*filter\n${rule}\nCOMMIT\n`));
    await life.start();
    await life.clock.advance(3 * second);
    expect(life.events).toHaveLength(1);
    expect(life.events[0]).toMatchObject({
      type: 'Warning',
      reason: 'NetworkingReady',
      message: `UnexpectedRejectRule: Found an unexpected iptables reject rule: "${rule}"`,
      involvedObject: { kind: 'Node', name: 'n1' },
      source: { component: 'drover-agent', host: 'n1' },
    });
    expect(life.says('NetworkingReady')).toMatch(/^True/);
    // Found at each look, reported in one Event with a count.
    await life.clock.advance(30 * minute);
    expect(life.events).toHaveLength(1);
    const told = life.kube.peek(events, {
      namespace: 'default',
      name: String(objectOr(life.events[0]?.metadata).name),
    }) as unknown as JsonObject;
    expect(Number(told.count)).toBeGreaterThanOrEqual(3);
    await life.stop();
  });

  it('that a pod writes to the kernel log is none', async () => {
    await life.start();
    await life.clock.advance(minute);
    life.kernel(fork, 1);
    life.kernel('BUG: kernel NULL pointer dereference, address: 0', 1);
    await life.clock.advance(minute);
    expect(life.says('KernelReady')).toMatch(/^True/);
    expect(life.events).toEqual([]);
    await life.stop();
  });

  it('of the boot is seen though the agent started later, and history is not told', async () => {
    life.host.kernel(fork, { seconds: 3000 });
    life.host.kernel('traps: old[1] trap invalid opcode', { seconds: -90 });
    await life.start();
    await life.clock.advance(3 * second);
    expect(life.says('KernelReady')).toMatch(/^False ForkFailedOutOfPIDs/);
    expect(life.events).toHaveLength(1);
    await life.stop();
  });

  it('clears, and is told to have cleared', async () => {
    await life.start();
    await life.clock.advance(minute);
    life.kernel(fork);
    await life.clock.advance(17 * minute);
    expect(life.says('KernelReady')).toBe('True KernelIsReady 00:16:00');
    expect(life.events.map(({ type }) => type)).toEqual(['Warning', 'Normal']);
    await life.stop();
  });

  it('that a line told of is looked at a minute later, whenever the next look was due', async () => {
    await life.start();
    await life.clock.advance(minute);
    life.kernel('EXT4-fs (nvme1n1): Remounting filesystem read-only');
    await life.clock.advance(30 * second);
    expect(life.says('StorageReady')).toMatch(/^False ReadonlyFilesystem/);
    // The mount table lists none: it was repaired or unmounted.
    await life.clock.advance(minute);
    expect(life.says('StorageReady')).toMatch(/^True/);
    await life.stop();
  });

  it('that a look finds twice is set, and looked at again each minute until it has gone', async () => {
    life.host.files.set('/sys/class/net/ens5/flags', '0x1002');
    await life.start();
    await life.clock.advance(5 * second);
    expect(life.says('NetworkingReady')).toMatch(/^True/);
    await life.clock.advance(70 * second);
    expect(life.says('NetworkingReady')).toMatch(/^False InterfaceNotUp/);
    life.host.files.set('/sys/class/net/ens5/flags', '0x1003');
    await life.clock.advance(80 * second);
    expect(life.says('NetworkingReady')).toMatch(/^True/);
    await life.stop();
  });
});

describe('other writers', () => {
  it('keep their conditions, whatever they write between our read and our write', async () => {
    await life.start();
    await life.clock.advance(minute);
    const others = conditionsOf(life.kube.peek(nodes, 'n1')?.status).map((one) =>
      one.type === 'Ready' ? { ...one, status: 'Unknown' as const } : one,
    );
    life.kube.put(nodes, { name: 'n1', status: { conditions: others } });
    life.kernel(fork);
    await life.clock.advance(10 * minute);
    expect(life.says('Ready')).toBe('Unknown');
    const patched = life.kube.requests.filter(({ verb }) => verb === 'patch');
    const types = patched.flatMap(({ body }) =>
      conditionsOf(objectOr(body).status).map(({ type }) => type),
    );
    expect(types).not.toContain('Ready');
    await life.stop();
  });
});

describe('a restart', () => {
  it('neither clears a fault nor counts its time anew, with a record and without', async () => {
    for (const withRecord of [true, false]) {
      life = new Life();
      await life.start();
      await life.clock.advance(minute);
      life.kernel(fork);
      await life.clock.advance(5 * minute);
      await life.stop();
      if (!withRecord) life.host.record = undefined;
      life.host.files.set('/proc/uptime', `${life.seconds} 1`);
      await life.start();
      await life.clock.advance(3 * minute);
      expect(life.says('KernelReady')).toBe('False ForkFailedOutOfPIDs 00:01:01');
      await life.clock.advance(30 * minute);
      expect(life.says('KernelReady')).toMatch(/^True/);
      await life.stop();
    }
  });

  it('goes on in the kernel log where it was: nothing is told twice or missed', async () => {
    await life.start();
    await life.clock.advance(minute);
    life.kernel('traps: one[1] trap invalid opcode');
    await life.clock.advance(minute);
    await life.stop();
    life.kernel('traps: two[2] trap invalid opcode');
    life.host.files.set('/proc/uptime', `${life.seconds} 1`);
    await life.start();
    await life.clock.advance(minute);
    expect(life.events.map(({ message }) => message)).toEqual([
      'AppCrash: Process "one" on the node has crashed',
      'AppCrash: Process "two" on the node has crashed',
    ]);
    await life.stop();
  });

  it('adopts what stood on the Node before its first look', async () => {
    const old = formatKubeTime(epochMs(testStart - 20 * minute));
    life = new Life([
      {
        type: 'NetworkingReady',
        status: 'False',
        reason: 'InterfaceNotUp',
        message: 'Interface Name: "ens5"',
        lastTransitionTime: old,
        lastHeartbeatTime: formatKubeTime(epochMs(testStart - minute)),
      },
    ]);
    life.host.files.set('/sys/class/net/ens5/flags', '0x1002');
    await life.start();
    await life.clock.advance(minute);
    expect(life.condition('NetworkingReady')?.lastTransitionTime).toBe(old);
    expect(life.says('NetworkingReady')).toMatch(/^False InterfaceNotUp/);
    await life.stop();
  });
});

describe('an API server that does not answer', () => {
  it('is tried again, ever more slowly, and then told how things are', async () => {
    await life.start();
    await life.clock.advance(minute);
    life.kube.fail('patch', 'Unreachable', { times: 10_000 });
    const before = life.patches;
    life.kernel(fork);
    await life.clock.advance(30 * minute);
    expect(life.patches - before).toBeGreaterThan(5);
    expect(life.patches - before).toBeLessThan(40);
    life.kube.heal();
    life.kernel(fork);
    await life.clock.advance(6 * minute);
    expect(life.says('KernelReady')).toMatch(/^False/);
    await life.stop();
  });

  it('is waited for at the start', async () => {
    life.kube.fail('get', 'Unreachable', { times: 5 });
    life.kernel(fork);
    await life.start();
    await life.clock.advance(5 * minute);
    expect(life.says('KernelReady')).toMatch(/^False/);
    await life.stop();
  });

  it('without the Node is asked until it exists', async () => {
    life.kube.remove(nodes, 'n1');
    await life.start();
    await life.clock.advance(2 * minute);
    expect(life.patches).toBe(0);
    life.kube.put(nodes, { name: 'n1', status: { conditions: [] } });
    await life.clock.advance(2 * minute);
    expect(life.says('KernelReady')).toMatch(/^True/);
    await life.stop();
  });
});

describe('a flood', () => {
  it('of lines is sampled, and told to be so', async () => {
    await life.start();
    await life.clock.advance(minute);
    for (let n = 0; n < 50_000; n++) life.kernel(`traps: p${n % 900}[1] trap invalid opcode`);
    await life.clock.advance(minute);
    const messages = life.events.map(({ message }) => String(message));
    expect(messages.filter((text) => text.startsWith('AppCrash'))).toHaveLength(10);
    expect(messages.find((text) => text.startsWith('LogFlood'))).toMatch(
      /^LogFlood: \d{5} lines of kernel came faster than they are read; one in 50 was looked at$/,
    );
    await life.stop();
  });
});

describe('the agent itself', () => {
  it('that no longer sees its marker says so, and says when it does again', async () => {
    await life.start();
    await life.clock.advance(2 * minute);
    expect(life.says('AgentHealthy')).toMatch(/^True/);
    life.host.echoes = false;
    await life.clock.advance(62 * minute);
    expect(life.condition('AgentHealthy')).toMatchObject({
      status: 'False',
      reason: 'KernelLogNotSeen',
      message: expect.stringContaining('did not come back'),
    });
    life.host.echoes = true;
    await life.clock.advance(3 * minute);
    expect(life.says('AgentHealthy')).toMatch(/^True/);
    await life.stop();
  });

  it('whose kernel log fails says so at once, and reads on once it can', async () => {
    await life.start();
    await life.clock.advance(minute);
    life.host.isKernelLogOpen = false;
    await life.clock.advance(30 * second);
    expect(life.says('AgentHealthy')).toMatch(/^False KernelLogNotSeen/);
    life.kernel(fork);
    life.host.isKernelLogOpen = true;
    await life.clock.advance(3 * minute);
    expect(life.says('KernelReady')).toMatch(/^False/);
    expect(life.says('AgentHealthy')).toMatch(/^True/);
    await life.stop();
  });

  it('tells of records that were overwritten', async () => {
    await life.start();
    life.host.lost = 17;
    await life.clock.advance(minute);
    expect(life.events.map(({ message }) => message)).toEqual([
      'LogRecordsLost: 17 records of the kernel log were overwritten before they were read',
    ]);
    await life.stop();
  });
});

describe('a rules file', () => {
  const file = (change: object): string =>
    JSON.stringify({ apiVersion: 'drover.dev/v1alpha1', kind: 'AgentRules', change: [change] });

  it('is taken without a restart; a wrong one changes nothing and is told', async () => {
    const path = '/etc/drover/rules.json';
    life.host.files.set(path, file({ reason: 'AppCrash', severity: 'Condition' }));
    await life.start(path);
    await life.clock.advance(minute);
    life.kernel('traps: one[1] trap invalid opcode');
    await life.clock.advance(minute);
    expect(life.says('KernelReady')).toMatch(/^False AppCrash/);
    life.host.files.set(path, '{"kind": 1}');
    await life.clock.advance(minute);
    expect(life.says('KernelReady')).toMatch(/^False AppCrash/);
    expect(life.events.at(-1)?.message).toMatch(
      /^RulesFileRefused: \/etc\/drover\/rules\.json:1:1: apiVersion: must be/,
    );
    life.host.files.set(path, file({ reason: 'AppCrash', enabled: false }));
    await life.clock.advance(minute);
    expect(life.says('KernelReady')).toMatch(/^True/);
    await life.stop();
  });
});
