// A small real world for tests: kernel, API server, controllers, kubelets; only the cloud is a test
// double behind its port. Not part of the product.
import type { JsonObject } from '../../../src/api/json.ts';
import type {
  Machine,
  MachineRegistry,
  ServiceBalancers,
  WantedLoadBalancer,
} from '../../contracts.ts';
import { Faults } from '../../faults/index.ts';
import { Kernel, type Micros, microsPerSecond, Tables } from '../../kernel/index.ts';
import { asNode, asPod, isReady, type PodView, resources } from '../actors/index.ts';
import { createKubelets, type Kubelets, type KubeletsOptions } from '../kubelet/index.ts';
import { seedRoles } from '../seed/index.ts';
import { createKubeApiServer, type KubeApiServer } from '../server/index.ts';
import { createKubeControllers, type KubeControllers } from './index.ts';

/** 2022-09-25T13:00:00Z, the date in the articles. */
const testStart: Micros = 1_664_110_800 * microsPerSecond;

export const aMachine = (number: number, more: Partial<Machine> = {}): Machine => ({
  instanceId: `i-${String(number).padStart(17, '0')}`,
  instanceType: 'm5.large',
  imageId: 'ami-08702177b0dcfc054',
  region: 'eu-west-1',
  zone: `eu-west-1${'abc'[number % 3] ?? 'a'}`,
  subnetId: 'subnet-1',
  privateIp: `192.168.${number % 250}.10`,
  privateDnsName: `n${number}`,
  capacityType: 'ON_DEMAND',
  cpus: 2,
  memoryMiB: 8192,
  maxPods: 29,
  nodeLabels: { 'eks.amazonaws.com/nodegroup': 'demo-ng' },
  nodeTaints: [],
  joins: true,
  ...more,
});

/** The cloud's side of machines, as plain settings. */
export class TestCloud implements MachineRegistry, ServiceBalancers {
  readonly states = new Map<string, ReturnType<MachineRegistry['instanceState']>>();
  readonly held = new Set<string>();
  readonly balancers = new Map<string, WantedLoadBalancer>();
  freeAddresses = 1000;
  #next = 1;
  instanceState(instanceId: string): ReturnType<MachineRegistry['instanceState']> {
    return this.states.get(instanceId) ?? 'unknown';
  }
  allocatePodAddress(): string | undefined {
    if (this.held.size >= this.freeAddresses) return undefined;
    const address = `192.168.${100 + Math.floor(this.#next / 250)}.${1 + (this.#next % 250)}`;
    this.#next++;
    this.held.add(address);
    return address;
  }
  releasePodAddress(_instanceId: string, address: string): void {
    this.held.delete(address);
  }
  ensure(wanted: WantedLoadBalancer): { readonly hostname: string } {
    this.balancers.set(wanted.name, wanted);
    return { hostname: `${wanted.name}.elb.eu-west-1.amazonaws.com` };
  }
  remove(name: string): void {
    this.balancers.delete(name);
  }
}

export class SmallWorld {
  readonly tables: Tables;
  readonly kernel: Kernel;
  readonly kube: KubeApiServer;
  readonly cloud: TestCloud;
  readonly faults: Faults;
  readonly kubelets: Kubelets;
  readonly controllers: KubeControllers;
  readonly audit: JsonObject[] = [];

  constructor(
    options: {
      readonly seed?: number;
      readonly tables?: Tables;
      readonly cloud?: TestCloud;
      readonly kubelets?: KubeletsOptions;
      /** True: the test fills the cluster itself. */
      readonly empty?: boolean;
    } = {},
  ) {
    this.tables = options.tables ?? new Tables();
    const fresh = options.tables === undefined;
    this.kernel = new Kernel({
      seed: options.seed ?? 1,
      startAt: testStart,
      tables: this.tables,
    });
    this.cloud = options.cloud ?? new TestCloud();
    this.faults = new Faults(this.kernel);
    this.kube = createKubeApiServer({
      kernel: this.kernel,
      audit: (event) => this.audit.push(event),
      version: () => ({ gitVersion: 'v1.32.9-eks-113cf36', major: '1', minor: '32+' }),
      printers: {},
      defaultPrinter: [],
    });
    const { kernel, kube, cloud: machines, faults } = this;
    this.controllers = createKubeControllers({
      kernel,
      kube,
      machines,
      balancers: machines,
      faults,
    });
    this.kubelets = createKubelets({
      kernel,
      kube,
      machines,
      faults,
      options: options.kubelets ?? {},
    });
    if (fresh) {
      if (options.empty !== true) this.#namespaces();
    } else {
      this.controllers.resume();
      this.kubelets.resume();
    }
  }

  #namespaces(): void {
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease', 'demo']) {
      this.must(this.admin.create(resources.namespaces, undefined, named('v1', 'Namespace', name)));
    }
    seedRoles(this.kube, { addons: false });
  }

  get admin() {
    return this.kube.as({
      user: { username: 'admin', groups: ['system:masters'] },
      userAgent: 'kubectl/v1.32.4',
    });
  }

  must<T extends { readonly kind: string }>(result: T): Extract<T, { readonly kind: 'ok' }> {
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    return result as Extract<T, { readonly kind: 'ok' }>;
  }

  /** Runs every event due within `seconds` and advances time. */
  advance(seconds: number): void {
    const until = this.kernel.now() + Math.round(seconds * microsPerSecond);
    for (let next = this.kernel.nextAt(); next !== undefined && next <= until; ) {
      this.kernel.step();
      next = this.kernel.nextAt();
    }
    this.kernel.advanceTo(until);
  }

  /** Seconds of world time until `holds` returns true; throws after `limit`. */
  until(limit: number, holds: () => boolean): number {
    const from = this.kernel.now();
    while (!holds()) {
      if (this.kernel.now() - from > limit * microsPerSecond) throw new Error('never happened');
      this.kernel.step();
    }
    return (this.kernel.now() - from) / microsPerSecond;
  }

  start(...machines: Machine[]): void {
    for (const machine of machines) {
      this.cloud.states.set(machine.instanceId, 'running');
      this.kubelets.powerOn(machine);
    }
  }

  /** Machines 1 to `count`, booted and Ready. */
  ready(count: number): void {
    this.start(...Array.from({ length: count }, (_, i) => aMachine(i + 1)));
    this.until(15, () => {
      const nodes = [...this.kube.readAll(resources.nodes)].map(asNode);
      return nodes.length >= count && nodes.every(isSettled);
    });
  }

  node(name: string) {
    const object = this.kube.read(resources.nodes, { name });
    if (object === undefined) throw new Error(`no node ${name}`);
    return asNode(object);
  }

  pods(namespace = 'demo'): readonly PodView[] {
    return [...this.kube.readAll(resources.pods, namespace)].map(asPod);
  }

  readyPods(namespace = 'demo'): readonly PodView[] {
    return this.pods(namespace).filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp);
  }

  events(reason: string, namespace = 'demo'): readonly string[] {
    return [...this.kube.readAll(resources.events, namespace)]
      .filter((event) => event.reason === reason)
      .map((event) => String(event.message));
  }
}

const isSettled = (node: ReturnType<typeof asNode>): boolean =>
  node.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true &&
  (node.spec?.taints ?? []).length === 0;

export const named = (apiVersion: string, kind: string, name: string): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
});

export const aDeployment = (
  name: string,
  replicas: number,
  more: {
    readonly spec?: JsonObject;
    readonly pod?: JsonObject;
    readonly container?: JsonObject;
    readonly annotations?: JsonObject;
  } = {},
): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'demo' },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, annotations: more.annotations ?? {} },
      spec: {
        containers: [{ name, image: 'nginx:latest', ...more.container }],
        ...more.pod,
      },
    },
    ...more.spec,
  },
});
