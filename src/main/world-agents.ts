// Node agents of the embedded world: one for each running pod of the add-on
// eks-node-monitoring-agent, on the node's simulated sources and in the world's time. Does nothing
// without the add-on.
import type { UserInfo } from '../../world/contracts.ts';
import {
  createSimulatedHost,
  monitoringAgent,
  type PoweredNode,
  poweredNode,
  type World,
} from '../../world/index.ts';
import { microsPerMs } from '../../world/kernel/index.ts';
import { durationMs } from '../api/brand.ts';
import { objectOr } from '../api/json.ts';
import type { KubeObject } from '../api/kube.ts';
import type { Log } from '../ports/index.ts';
import { onAbort, sleepOrAbort, TaskRegistry } from '../runtime/index.ts';
import { createInProcessPorts } from '../sim/index.ts';

/**
 * Time between two passes. A real agent polls each second; here a pass is an event of the world,
 * and checks run every five minutes.
 */
const passMs = durationMs(10_000);
const shutdownMs = 1_000;
const legMicros = 2 * microsPerMs;
const pods = { group: '', resource: 'pods' };
const userAgent = `${monitoringAgent.name} (linux/amd64) kubernetes/$Format`;

interface AgentPod {
  readonly uid: string;
  readonly name: string;
  readonly node: string;
}

/** A pod of the DaemonSet whose container is running, or undefined. */
const agentPodOf = ({ metadata, ...rest }: KubeObject): AgentPod | undefined => {
  const [[label, value]] = Object.entries(monitoringAgent.labels) as [[string, string]];
  const { spec, status } = rest as { readonly spec?: unknown; readonly status?: unknown };
  const { nodeName } = objectOr(spec);
  const isOurs =
    metadata.namespace === monitoringAgent.namespace && metadata.labels?.[label] === value;
  if (!isOurs || typeof nodeName !== 'string') return undefined;
  if (metadata.deletionTimestamp !== undefined || objectOr(status).phase !== 'Running') {
    return undefined;
  }
  return { uid: metadata.uid, name: metadata.name, node: nodeName };
};

/** The service account's identity, bound to the pod. */
const userOf = ({ uid, name, node }: AgentPod): UserInfo => {
  const { namespace, name: account } = monitoringAgent;
  const claim = 'authentication.kubernetes.io';
  return {
    username: `system:serviceaccount:${namespace}:${account}`,
    groups: [
      'system:serviceaccounts',
      `system:serviceaccounts:${namespace}`,
      'system:authenticated',
    ],
    extra: {
      [`${claim}/node-name`]: [node],
      [`${claim}/pod-name`]: [name],
      [`${claim}/pod-uid`]: [uid],
    },
  };
};

export class WorldAgents {
  readonly #world: World;
  readonly #log: Log;
  readonly #tasks: TaskRegistry;
  readonly #running = new Map<string, AbortController>();

  /** Runs until `signal` aborts. */
  constructor(world: World, { log, signal }: { readonly log: Log; readonly signal: AbortSignal }) {
    this.#world = world;
    this.#log = log;
    const clock = createInProcessPorts(world, {
      component: 'node-agents',
      identity: { user: { username: '', groups: [] }, userAgent },
    }).ownClock;
    this.#tasks = new TaskRegistry({
      clock,
      report: ({ task, error }) => log.error('an agent ended', { task, error: String(error) }),
    });
    onAbort(signal, () => void this.#tasks.shutdown({ withinMs: shutdownMs }));
    world.kube.onChange(pods, ({ type, object }) => {
      if (type === 'DELETED') this.#stop(object.metadata.uid);
      else this.#look(object);
    });
    for (const pod of world.kube.readAll(pods, monitoringAgent.namespace)) this.#look(pod);
  }

  get size(): number {
    return this.#running.size;
  }

  #look(object: KubeObject): void {
    const { uid } = object.metadata;
    const pod = agentPodOf(object);
    if (pod === undefined) {
      if (this.#running.size > 0) this.#stop(uid);
      return;
    }
    if (this.#running.has(uid) || this.#tasks.signal.aborted) return;
    const stopped = new AbortController();
    this.#running.set(uid, stopped);
    // A listener of the store may only schedule work.
    this.#world.kernel.after(0, () => {
      if (this.#tasks.signal.aborted) return;
      this.#tasks.start(`agent ${pod.name}`, (ending) =>
        this.#run(pod, AbortSignal.any([ending, stopped.signal])),
      );
    });
  }

  #stop(uid: string): void {
    this.#running.get(uid)?.abort(new Error('the pod of the agent stopped'));
    this.#running.delete(uid);
  }

  /** One agent per boot of the node's machine; none while it is powered off. */
  async #run(pod: AgentPod, signal: AbortSignal): Promise<void> {
    const { kernel, faults, kubelets } = this.#world;
    // The agent with its rules costs 40 MB: loaded only with the add-on.
    const { NodeAgent } = await import('../agent/index.ts');
    const ports = createInProcessPorts(this.#world, {
      component: `node-agents.${pod.node}`,
      identity: { user: userOf(pod), userAgent },
      legMicros,
    });
    const { hosts } = kubelets;
    try {
      while (!signal.aborted) {
        const powered = poweredNode(hosts, pod.node);
        if (powered !== undefined) {
          const host = createSimulatedHost({ kernel, faults, hosts }, powered.instanceId);
          const agent = await NodeAgent.begin(
            { host, kube: ports.kube, clock: ports.clock, random: ports.random, log: this.#log },
            { node: pod.node, component: monitoringAgent.name },
          );
          while (this.#isSame(pod.node, powered)) {
            await agent.pass(signal);
            await sleepOrAbort(ports.ownClock, passMs, signal);
            if (signal.aborted) return;
          }
        }
        await sleepOrAbort(ports.ownClock, passMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #isSame(node: string, { instanceId, bootId }: PoweredNode): boolean {
    const powered = poweredNode(this.#world.kubelets.hosts, node);
    return powered?.instanceId === instanceId && powered.bootId === bootId;
  }
}
