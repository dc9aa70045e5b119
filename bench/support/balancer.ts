// A model of a network load balancer for a Service with externalTrafficPolicy Local: which requests
// would fail while its nodes are drained. It only watches nodes and pods. It sends no packets: a
// request is the random choice of a target, 100 times a second.
import type { KubeClient } from '../../src/adapters/kube/index.ts';
import {
  type KubeObject,
  type Node,
  type Pod,
  type ResourceType,
  resourceTypes,
} from '../../src/api/kube.ts';
import { isServing } from './workload.ts';

const tickMs = 50;
const requestsPerMs = 0.1;
/**
 * From the label or deletion of a node until no new connection reaches it: an assumption about the
 * service controller and the balancer together.
 */
const deregisterMs = 5_000;
/** Health checks of the node port of a Service with policy Local, as the AWS provider sets them. */
const checkEveryMs = 10_000;
const checksToChange = 2;
const exclusion = 'node.kubernetes.io/exclude-from-external-load-balancers';

interface Target {
  isHealthy: boolean;
  /** Results in a row that differ from `isHealthy`. */
  streak: number;
  nextCheckMs: number;
  /** When it was excluded or deleted. */
  leftMs: number | undefined;
}

export interface Traffic {
  readonly requests: number;
  readonly failed: number;
}

export class Balancer {
  readonly #nodes = new Map<string, Node>();
  readonly #pods = new Map<string, Pod>();
  readonly #targets = new Map<string, Target>();
  readonly #abort = new AbortController();
  readonly #tasks: Promise<void>[] = [];
  readonly #startedMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #requests = 0;
  #failed = 0;

  /** Starts with every eligible node as a healthy target. */
  static async start(api: KubeClient, namespace: string): Promise<Balancer> {
    const balancer = new Balancer();
    await balancer.#follow(api, resourceTypes.nodes, undefined, balancer.#nodes);
    await balancer.#follow(api, resourceTypes.pods, namespace, balancer.#pods);
    const now = performance.now();
    for (const [index, name] of [...balancer.#nodes.keys()].entries()) {
      const nextCheckMs = now + (checkEveryMs * (index + 1)) / balancer.#nodes.size;
      const target = { isHealthy: true, streak: 0, nextCheckMs, leftMs: undefined };
      if (balancer.#isEligible(name)) balancer.#targets.set(name, target);
    }
    balancer.#timer = setInterval(() => balancer.#tick(performance.now()), tickMs);
    return balancer;
  }

  async stop(): Promise<Traffic> {
    clearInterval(this.#timer);
    this.#abort.abort();
    await Promise.all(this.#tasks);
    return { requests: this.#requests, failed: this.#failed };
  }

  async #follow<T extends KubeObject>(
    api: KubeClient,
    type: ResourceType,
    namespace: string | undefined,
    into: Map<string, T>,
  ): Promise<void> {
    const { signal } = this.#abort;
    const where = namespace === undefined ? {} : { namespace };
    const list = await api.list<T>(type, { ...where, signal });
    for (const item of list.items) into.set(item.metadata.name, item);
    const watch = async (): Promise<void> => {
      const options = { ...where, resourceVersion: list.resourceVersion, signal };
      for await (const event of api.watch<T>(type, options)) {
        if (event.type === 'DELETED') into.delete(event.object.metadata.name);
        else if (event.type === 'ADDED' || event.type === 'MODIFIED') {
          into.set(event.object.metadata.name, event.object);
        }
      }
    };
    const task = watch().catch((error: unknown) => {
      if (!signal.aborted) process.stderr.write(`the balancer's watch ended: ${String(error)}\n`);
    });
    this.#tasks.push(task);
  }

  #isEligible(name: string): boolean {
    const node = this.#nodes.get(name);
    return node !== undefined && node.metadata.labels?.[exclusion] === undefined;
  }

  /** Pods of the Service on the node that answer: a terminating pod answers until it is gone. */
  #serves(name: string): boolean {
    if (!this.#nodes.has(name)) return false;
    return [...this.#pods.values()].some((pod) => pod.spec.nodeName === name && isServing(pod));
  }

  #check(name: string, target: Target, now: number): void {
    if (now < target.nextCheckMs) return;
    target.nextCheckMs += checkEveryMs;
    target.streak = this.#serves(name) === target.isHealthy ? 0 : target.streak + 1;
    if (target.streak < checksToChange) return;
    target.isHealthy = !target.isHealthy;
    target.streak = 0;
  }

  #tick(now: number): void {
    for (const [name, target] of this.#targets) {
      if (this.#isEligible(name)) target.leftMs = undefined;
      else target.leftMs ??= now;
      this.#check(name, target, now);
    }
    const registered = [...this.#targets].filter(
      ([, { leftMs }]) => leftMs === undefined || now - leftMs < deregisterMs,
    );
    const healthy = registered.filter(([, { isHealthy }]) => isHealthy);
    // Without a healthy target a balancer sends to all of them.
    const open = healthy.length > 0 ? healthy : registered;
    // A busy machine delays the timer: what is due is sent with the next tick.
    const due = Math.floor((now - this.#startedMs) * requestsPerMs);
    for (; this.#requests < due; this.#requests += 1) {
      const [name] = open[this.#requests % open.length] ?? [];
      if (name === undefined || !this.#serves(name)) this.#failed += 1;
    }
  }
}
