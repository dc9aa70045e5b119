// What the kubelet writes about its Node: registration, readiness, status every five minutes,
// lease. Never touches pods.
import type { JsonObject } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { WorldKube } from '../../contracts.ts';
import { type Kernel, microsPerSecond } from '../../kernel/index.ts';
import { asNode, kubeMicroTime, kubeTime, type NodeView, resources } from '../actors/index.ts';
import type { Heartbeats } from './heartbeats.ts';
import { type Host, type Hosts, nodeNameOf } from './hosts.ts';
import { nodeLabelsOf, nodeObject, nodeStatus } from './machine-facts.ts';

/** nodeStatusReportFrequency of the kubelet when nothing changes. */
export const statusPeriodMicros = 300 * microsPerSecond;
/** Lease of 40 s renewed at a quarter of it (kubelet's nodeLeaseDurationSeconds). */
const leaseSeconds = 40;
export const leasePeriodMicros = 10 * microsPerSecond;

export class NodeAgent {
  readonly #kernel: Kernel;
  readonly #kube: WorldKube;
  readonly #hosts: Hosts;
  readonly #heartbeats: Heartbeats;

  constructor(options: {
    readonly kernel: Kernel;
    readonly kube: WorldKube;
    readonly hosts: Hosts;
    readonly heartbeats: Heartbeats;
  }) {
    this.#kernel = options.kernel;
    this.#kube = options.kube;
    this.#hosts = options.hosts;
    this.#heartbeats = options.heartbeats;
  }

  node(host: Host): NodeView | undefined {
    const object = this.#kube.read(resources.nodes, { name: nodeNameOf(host) });
    if (object === undefined) return undefined;
    const node = asNode(object);
    return providerOf(host) === node.spec?.providerID ? node : undefined;
  }

  /** Creates the Node, or adopts the existing one of this machine. False: retry. */
  register(host: Host): boolean {
    const client = this.#hosts.client(host);
    const name = nodeNameOf(host);
    const existing = this.#kube.read(resources.nodes, { name });
    if (existing !== undefined && this.node(host) === undefined) {
      // The name belongs to another machine: like upstream's kubelet, this one deletes that node
      // and registers a new one.
      const gone = client.delete(resources.nodes, { name }, { uid: existing.metadata.uid });
      if (gone.kind === 'error' && gone.status.code !== 404) return false;
    }
    if (this.node(host) === undefined) {
      const body = nodeObject(host.machine, this.#hosts.release(host), {
        ids: idsOf(host),
        now: kubeTime(this.#kernel.now()),
      });
      if (client.create(resources.nodes, undefined, body).kind === 'error') return false;
      if (!this.report(host, false)) return false;
    } else if (!this.#relabel(host)) {
      return false;
    }
    this.#heartbeats.beat(name, host.machine.instanceId);
    this.renewLease(host);
    this.note(host, 'Starting', 'Starting kubelet.');
    return true;
  }

  /** Restores missing labels of the machine when a kubelet restarts. */
  #relabel(host: Host): boolean {
    const labels = this.node(host)?.metadata.labels ?? {};
    const wanted = nodeLabelsOf(host.machine, this.#hosts.release(host));
    const missing = Object.fromEntries(
      Object.entries(wanted).filter(([key, value]) => labels[key] !== value),
    );
    if (Object.keys(missing).length === 0) return true;
    const patched = this.#hosts
      .client(host)
      .patch(
        resources.nodes,
        { name: nodeNameOf(host) },
        { type: 'strategic', body: { metadata: { labels: missing } } },
      );
    return patched.kind === 'ok';
  }

  /** Writes the node's status; false when the API server refused. */
  report(host: Host, ready: boolean): boolean {
    const node = this.node(host);
    if (node === undefined) return false;
    const old = node.status?.conditions ?? [];
    const body = nodeStatus(host.machine, this.#hosts.release(host), {
      ids: idsOf(host),
      now: kubeTime(this.#kernel.now()),
      ready,
      old,
    });
    const patched = this.#hosts
      .client(host)
      .patch(
        resources.nodes,
        { name: nodeNameOf(host) },
        { type: 'merge', body: { status: body }, subresource: 'status' },
      );
    if (patched.kind === 'error') return false;
    const was = old.find((one) => one.type === 'Ready')?.status;
    if (ready && was !== 'True') {
      this.note(host, 'NodeReady', `Node ${nodeNameOf(host)} status is now: NodeReady`);
    }
    return true;
  }

  renewLease(host: Host): void {
    const node = this.node(host);
    if (node === undefined) return;
    const name = { namespace: 'kube-node-lease', name: nodeNameOf(host) };
    const renewTime = kubeMicroTime(this.#kernel.now());
    const client = this.#hosts.client(host);
    const existing = this.#kube.read(resources.leases, name);
    const lease = leaseOf(node, name.name, renewTime);
    if (existing === undefined) {
      client.create(resources.leases, name.namespace, lease);
      return;
    }
    const body: JsonObject = existing;
    client.update(resources.leases, { ...body, spec: lease.spec });
  }

  note(host: Host, reason: string, message: string): void {
    const name = nodeNameOf(host);
    const about: KubeObject = {
      apiVersion: 'v1',
      kind: 'Node',
      // Kubelets set the uid to the node's name; kubectl describe queries both values.
      metadata: { name, uid: name, resourceVersion: '', creationTimestamp: '' },
    };
    this.#hosts.recorder(host).record({ about, reason, message });
  }
}

const providerOf = (host: Host): string => `aws:///${host.machine.zone}/${host.machine.instanceId}`;

const idsOf = (host: Host): { machineId: string; systemUuid: string; bootId: string } => ({
  machineId: host.machineId,
  systemUuid: `ec2${host.machineId.slice(0, 5)}-${host.machineId.slice(8, 12)}-${host.bootId.slice(14, 23)}-${host.machineId.slice(20)}`,
  bootId: host.bootId,
});

const leaseOf = (
  node: NodeView,
  name: string,
  renewTime: string,
): JsonObject & { readonly spec: JsonObject } => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    name,
    namespace: 'kube-node-lease',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid }],
  },
  spec: { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime },
});
