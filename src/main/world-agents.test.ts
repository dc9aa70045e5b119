// The add-on eks-node-monitoring-agent in a world: its pods run the real agent on simulated nodes,
// whose faults appear as Events and conditions; without the add-on there are none.
import { describe, expect, it } from 'vitest';
import { CollectingLog } from '../../test/builders/runtime.ts';
import { createWorld, seedCluster, type World } from '../../world/index.ts';
import { microsPerSecond } from '../../world/kernel/index.ts';
// Loaded before the world's time runs, as the first pod's agent would load it during a test.
import '../agent/index.ts';
import { objectOr } from '../api/json.ts';
import type { Condition } from '../api/kube.ts';
import { Driver } from '../sim/driver.ts';
import { WorldAgents } from './world-agents.ts';

const minute = 60;
const nodes = { group: '', resource: 'nodes' };
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const addon = { clusterName: 'c1', addonName: 'eks-node-monitoring-agent' };

interface Setup {
  readonly instanceType?: string;
  readonly withAddon?: boolean;
}

class AgentWorld {
  readonly world: World = createWorld({ seed: 7, startAt: 1_000 * microsPerSecond });
  readonly log = new CollectingLog();
  readonly #driver = new Driver(this.world.kernel, settle);
  #stop = new AbortController();
  agents = this.#agents();

  #agents(): WorldAgents {
    return new WorldAgents(this.world, { log: this.log, signal: this.#stop.signal });
  }

  static async begin({ instanceType = 'm5.large', withAddon = true }: Setup = {}) {
    const made = new AgentWorld();
    seedCluster(made.world, {
      clusterName: 'c1',
      kubernetesVersion: '1.32.9',
      addons: true,
      workload: false,
      groups: [
        {
          name: 'ng',
          isManaged: true,
          min: 0,
          max: 4,
          desired: 2,
          instanceType,
          zones: ['a', 'b'],
        },
      ],
    });
    await made.advance(60);
    if (!withAddon) return made;
    made.world.aws.call('eks', 'CreateAddon', { ...addon, addonVersion: 'v1.0.0' });
    await made.advance(60);
    return made;
  }
  /** Ends the world's process and starts the next one from its state. */
  async restart(): Promise<void> {
    this.#stop.abort(new Error('told to stop'));
    await settle();
    this.#stop = new AbortController();
    this.agents = this.#agents();
  }
  advance(seconds: number): Promise<void> {
    return this.#driver.advance(seconds);
  }
  get names(): readonly string[] {
    return [...this.world.kube.readAll(nodes)].map(({ metadata }) => metadata.name).sort();
  }
  get node(): string {
    return this.names[0] ?? '';
  }
  conditions(name = this.node): readonly Condition[] {
    const node: unknown = this.world.kube.read(nodes, { name });
    const { conditions } = objectOr(objectOr(node).status);
    return (conditions ?? []) as unknown as readonly Condition[];
  }
  says(type: string, name = this.node): string {
    const found = this.conditions(name).find((one) => one.type === type);
    return found === undefined ? '-' : `${found.status} ${found.reason}`;
  }
  /** `node: reason: message` of the agents' Events. */
  get events(): readonly string[] {
    return [...this.world.kube.readAll({ group: '', resource: 'events' })].flatMap((event) => {
      const { source, involvedObject, reason, message } = objectOr(event as unknown);
      if (objectOr(source).component !== 'eks-node-monitoring-agent') return [];
      return [`${String(objectOr(involvedObject).name)}: ${String(reason)}: ${String(message)}`];
    });
  }
  get daemons(): readonly string[] {
    return [...this.world.kube.readAll({ group: 'apps', resource: 'daemonsets' })].map(
      ({ metadata }) => metadata.name,
    );
  }
}

describe('the add-on eks-node-monitoring-agent', () => {
  it('runs an agent on each node, whose conditions turn True', async () => {
    const life = await AgentWorld.begin();
    expect(life.agents.size).toBe(2);
    await life.advance(minute);
    for (const name of life.names) {
      expect(life.says('KernelReady', name)).toBe('True KernelIsReady');
      expect(life.says('StorageReady', name)).toBe('True DiskIsReady');
      expect(life.says('NetworkingReady', name)).toBe('True NetworkingIsReady');
      expect(life.says('ContainerRuntimeReady', name)).toBe('True ContainerRuntimeIsReady');
      expect(life.says('AgentHealthy', name)).toBe('True AgentIsHealthy');
      expect(life.says('AcceleratedHardwareReady', name)).toBe('-');
    }
    await life.advance(70 * minute);
    expect(life.events).toEqual([]);
    expect(life.log.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('reports the rule that drops packets to the metadata service, on that node alone', async () => {
    const life = await AgentWorld.begin();
    life.world.faults.inject('iptables-drop', { node: life.node });
    await life.advance(6 * minute);
    const rule = '-A OUTPUT -d 169.254.169.254/32 -p tcp -j DROP';
    expect(life.events).toEqual([
      `${life.node}: NetworkingReady: UnexpectedRejectRule: Found an unexpected iptables reject rule: "${rule}"`,
    ]);
    expect(life.says('NetworkingReady')).toBe('True NetworkingIsReady');
    // The agent also reports on a node whose kubelet has stopped.
    await life.advance(12 * minute);
    expect(life.says('Ready')).toBe('Unknown NodeStatusUnknown');
    life.world.faults.inject('kernel-fault', { node: life.node, fault: 'soft-lockup' });
    await life.advance(20);
    expect(life.events[1]).toBe(`${life.node}: KernelReady: SoftLockup: CPU stuck for 23s`);
  });

  it('makes a read-only volume False, and True when it accepts writes again', async () => {
    const life = await AgentWorld.begin();
    life.world.faults.inject('kernel-fault', { node: life.node, fault: 'read-only' });
    await life.advance(20);
    expect(life.says('StorageReady')).toBe('False ReadonlyFilesystem');
    await life.advance(10 * minute);
    expect(life.says('StorageReady')).toBe('False ReadonlyFilesystem');
    life.world.faults.clear('kernel-fault');
    await life.advance(3 * minute);
    expect(life.says('StorageReady')).toBe('True DiskIsReady');
    expect(life.says('StorageReady', life.names[1])).toBe('True DiskIsReady');
  });

  it('continues after a restart: what was False stays so since then, and no line is read twice', async () => {
    const life = await AgentWorld.begin();
    life.world.faults.inject('kernel-fault', { node: life.node, fault: 'read-only' });
    life.world.faults.inject('kernel-fault', { node: life.node, fault: 'soft-lockup' });
    await life.advance(5 * minute);
    const storage = () => life.conditions().find(({ type }) => type === 'StorageReady');
    const { lastTransitionTime } = storage() ?? {};
    const lockups = () => life.events.filter((event) => event.includes('SoftLockup'));
    expect(lockups()).toHaveLength(1);
    await life.restart();
    await life.advance(5 * minute);
    expect(life.agents.size).toBe(2);
    expect(storage()).toMatchObject({ status: 'False', lastTransitionTime });
    expect(lockups()).toHaveLength(1);
  });

  it('finds a GPU that fell off the bus, and errors of a disk', async () => {
    const life = await AgentWorld.begin({ instanceType: 'g4dn.xlarge' });
    expect(life.says('AcceleratedHardwareReady')).toBe('True NvidiaGPUIsReady');
    const { faults } = life.world;
    faults.inject('kernel-fault', { node: life.node, fault: 'xid' });
    faults.inject('kernel-fault', { node: life.node, fault: 'io-error' });
    await life.advance(20);
    expect(life.says('AcceleratedHardwareReady')).toBe('False NvidiaXID79Error');
    expect(life.events.join('\n')).toContain('BlockDeviceIOError: I/O error detected on block');
  });

  it('ends with the add-on, and does not exist without it', async () => {
    const life = await AgentWorld.begin();
    life.world.aws.call('eks', 'DeleteAddon', addon);
    await life.advance(2 * minute);
    expect(life.agents.size).toBe(0);
    expect(life.daemons).not.toContain('eks-node-monitoring-agent');
    const bare = await AgentWorld.begin({ withAddon: false });
    bare.world.faults.inject('iptables-drop', { node: bare.node });
    bare.world.faults.inject('kernel-fault', { node: bare.node, fault: 'read-only' });
    await bare.advance(6 * minute);
    expect(bare.agents.size).toBe(0);
    expect(bare.events).toEqual([]);
    expect(bare.says('StorageReady')).toBe('-');
  });
});
