// The cloud controller manager's node lifecycle: deletes a node whose instance is terminated, and
// taints one whose instance is shut down until it is Ready again. Asks the cloud only about nodes
// that are not Ready or whose kubelet has stopped. Upstream:
// cloud-provider/controllers/nodelifecycle.
import { instanceIdOfProviderId } from '../../../src/api/brand.ts';
import type { MachineRegistry, StoreChange, WorldClient } from '../../contracts.ts';
import { microsPerSecond } from '../../kernel/index.ts';
import {
  asNode,
  cloudControllerIdentity,
  conditionOf,
  type EventRecorder,
  type NodeView,
  resources,
  Ticker,
} from '../actors/index.ts';
import type { Heartbeats } from '../kubelet/index.ts';
import { type Controller, type ControllerContext, controllerClient } from './context.ts';

/** nodeMonitorPeriod of the cloud controller manager. */
const periodMicros = 5 * microsPerSecond;
const shutdownTaint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };

type Taints = NonNullable<NonNullable<NodeView['spec']>['taints']>;

const isShutDown = ({ spec }: NodeView): boolean =>
  spec?.taints?.some(({ key }) => key === shutdownTaint.key) === true;

export class CloudNodeController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #events: EventRecorder;
  readonly #machines: MachineRegistry;
  readonly #heartbeats: Heartbeats;
  readonly #ticker: Ticker;
  readonly #notReady = new Set<string>();
  /** Ready, with the taint of an instance that was shut down. */
  readonly #back = new Set<string>();

  constructor(context: ControllerContext, machines: MachineRegistry, heartbeats: Heartbeats) {
    this.#context = context;
    this.#machines = machines;
    this.#heartbeats = heartbeats;
    const identity = cloudControllerIdentity(context.version);
    const { client, events } = controllerClient(
      context,
      'cloud-node-lifecycle-controller',
      identity,
    );
    this.#client = client;
    this.#events = events;
    context.kube.onChange(resources.nodes, (change) => this.#nodeChanged(change));
    this.#ticker = new Ticker({
      kernel: context.kernel,
      name: 'cloud-node',
      periodMicros,
      tick: () => this.#monitor(),
      isNeeded: () => heartbeats.stopped.size > 0 || this.#notReady.size > 0 || this.#back.size > 0,
    });
    heartbeats.onStop(() => this.#ticker.wake());
  }

  resume(): void {
    for (const node of this.#context.kube.readAll(resources.nodes)) this.#note(asNode(node));
  }

  #nodeChanged({ type, object }: StoreChange): void {
    if (type === 'DELETED') {
      this.#notReady.delete(object.metadata.name);
      this.#back.delete(object.metadata.name);
    } else this.#note(asNode(object));
  }

  #note(node: NodeView): void {
    const ready = conditionOf(node.status?.conditions, 'Ready')?.status === 'True';
    if (ready) {
      this.#notReady.delete(node.metadata.name);
      if (!isShutDown(node)) return void this.#back.delete(node.metadata.name);
      this.#back.add(node.metadata.name);
      this.#ticker.wake();
      return;
    }
    this.#back.delete(node.metadata.name);
    this.#notReady.add(node.metadata.name);
    this.#ticker.wake();
  }

  #monitor(): void {
    for (const name of this.#back) {
      const object = this.#context.kube.read(resources.nodes, { name });
      if (object !== undefined) this.#untaint(asNode(object));
    }
    for (const name of new Set([...this.#heartbeats.stopped, ...this.#notReady])) {
      const object = this.#context.kube.read(resources.nodes, { name });
      if (object !== undefined) this.#check(asNode(object));
    }
  }

  #check(node: NodeView): void {
    const instanceId = instanceIdOfProviderId(node.spec?.providerID);
    if (instanceId === undefined) return;
    const state = this.#machines.instanceState(instanceId);
    if (state === 'terminated') this.#delete(node);
    else if (state === 'stopped') this.#taint(node);
  }

  #delete(node: NodeView): void {
    const { name, uid } = node.metadata;
    this.#events.record({
      about: node,
      reason: 'DeletingNode',
      message: `Deleting node ${name} because it does not exist in the cloud provider`,
    });
    // A refused deletion is retried at the next period.
    this.#client.delete(resources.nodes, { name }, { uid });
  }

  #taint(node: NodeView): void {
    if (isShutDown(node)) return;
    this.#putTaints(node, [...(node.spec?.taints ?? []), shutdownTaint]);
  }

  #untaint(node: NodeView): void {
    const taints = node.spec?.taints ?? [];
    this.#putTaints(
      node,
      taints.filter((taint) => taint.key !== shutdownTaint.key),
    );
  }

  #putTaints({ metadata: { name, uid, resourceVersion } }: NodeView, taints: Taints): void {
    const body = { metadata: { uid, resourceVersion }, spec: { taints: [...taints] } };
    this.#client.patch(resources.nodes, { name }, { type: 'merge', body });
  }
}
