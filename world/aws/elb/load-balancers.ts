// Network Load Balancers of Services, with a listener and a target group of instances per port, as
// the AWS cloud provider creates them. Only the cloud controller manager creates, changes and
// deletes them; users read. Traffic is not modelled.
import type { ServiceBalancers, WantedLoadBalancer } from '../../contracts.ts';
import { hexString, type Table } from '../../kernel/index.ts';
import type { Network } from '../ec2/network.ts';
import type { Tags } from '../filters.ts';
import type { Clusters } from '../platform/clusters.ts';
import { refuse, type Scope } from '../scope.ts';
import { defaultAttributes, type TargetGroups } from './target-groups.ts';

export type ListenerRow = {
  readonly arn: string;
  readonly port: number;
  readonly protocol: string;
  readonly targetGroup: string;
};

export type LoadBalancerRow = {
  readonly arn: string;
  readonly name: string;
  readonly dnsName: string;
  readonly scheme: 'internet-facing' | 'internal';
  readonly vpcId: string;
  readonly subnets: readonly { readonly zone: string; readonly subnetId: string }[];
  readonly createdAt: number;
  readonly listeners: readonly ListenerRow[];
  readonly tags: Tags;
};

const component = 'aws.elb.balancers';
/** Shorter than the minutes of AWS, but long enough for clients to observe `provisioning`. */
const provisioningMs = 20_000;
/** The health check settings that the AWS cloud provider requests for a Network Load Balancer. */
const healthCheck = {
  protocol: 'TCP',
  port: 'traffic-port',
  path: '',
  intervalSeconds: 10,
  timeoutSeconds: 10,
  healthyCount: 2,
  unhealthyCount: 2,
};

export interface BalancerParts {
  readonly targets: TargetGroups;
  readonly network: Network;
  readonly clusters: Clusters;
}

export class LoadBalancers implements ServiceBalancers {
  readonly #scope: Scope;
  readonly #parts: BalancerParts;
  readonly #rows: Table<LoadBalancerRow>;

  constructor(scope: Scope, parts: BalancerParts) {
    this.#scope = scope;
    this.#parts = parts;
    this.#rows = scope.kernel.tables.open<LoadBalancerRow>('aws/elb/load-balancers');
  }

  all(): readonly LoadBalancerRow[] {
    return [...this.#rows.values()];
  }
  need(arn: string): LoadBalancerRow {
    const row = this.all().find((one) => one.arn === arn);
    if (row !== undefined) return row;
    throw refuse('LoadBalancerNotFound', `Load balancer '${arn}' not found`);
  }
  put(row: LoadBalancerRow): void {
    this.#rows.put(row.name, row);
  }
  /** The load balancer that forwards to a target group. */
  ofTargetGroup(arn: string): LoadBalancerRow | undefined {
    return this.all().find((row) => row.listeners.some((one) => one.targetGroup === arn));
  }
  stateOf({ createdAt }: LoadBalancerRow): 'provisioning' | 'active' {
    return this.#scope.now() < createdAt + provisioningMs ? 'provisioning' : 'active';
  }

  ensure(wanted: WantedLoadBalancer): { readonly hostname: string } {
    const before = this.#rows.get(wanted.name) ?? this.#create(wanted);
    const listeners = this.#listeners(before, wanted);
    if (listeners !== before.listeners) this.put({ ...before, listeners });
    for (const { targetGroup } of listeners) this.#register(targetGroup, wanted.instances);
    return { hostname: before.dnsName };
  }

  remove(name: string): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    this.#rows.delete(name);
    for (const { targetGroup } of row.listeners) this.#parts.targets.remove(targetGroup);
  }

  #create({ name, service, isInternal }: WantedLoadBalancer): LoadBalancerRow {
    const { network, clusters } = this.#parts;
    const [cluster] = clusters.all();
    const vpcId = cluster?.vpcId ?? network.vpcs()[0]?.vpcId ?? '';
    const byZone = new Map<string, string>();
    for (const subnet of network.subnets()) {
      if (subnet.vpcId !== vpcId || subnet.isPublic === isInternal) continue;
      if (!byZone.has(subnet.zone)) byZone.set(subnet.zone, subnet.subnetId);
    }
    const suffix = this.#hex(16);
    const row: LoadBalancerRow = {
      arn: this.#scope.arn('elasticloadbalancing', `loadbalancer/net/${name}/${suffix}`),
      name,
      dnsName: `${name}-${suffix}.elb.${this.#scope.region}.amazonaws.com`,
      scheme: isInternal ? 'internal' : 'internet-facing',
      vpcId,
      subnets: [...byZone].map(([zone, subnetId]) => ({ zone, subnetId })),
      createdAt: this.#scope.now(),
      listeners: [],
      tags: {
        'kubernetes.io/service-name': service,
        ...(cluster === undefined ? {} : { [`kubernetes.io/cluster/${cluster.name}`]: 'owned' }),
      },
    };
    this.put(row);
    return row;
  }

  /** Returns the same list object if nothing changes. */
  #listeners(row: LoadBalancerRow, { ports, service }: WantedLoadBalancer): readonly ListenerRow[] {
    const { targets } = this.#parts;
    const isFor = (listener: ListenerRow, port: WantedLoadBalancer['ports'][number]): boolean =>
      listener.port === port.port &&
      listener.protocol === port.protocol &&
      targets.get(listener.targetGroup)?.port === port.nodePort;
    const kept = row.listeners.filter((one) => ports.some((port) => isFor(one, port)));
    const missing = ports.filter((port) => !kept.some((one) => isFor(one, port)));
    if (missing.length === 0 && kept.length === row.listeners.length) return row.listeners;
    for (const one of row.listeners) if (!kept.includes(one)) targets.remove(one.targetGroup);
    return [...kept, ...missing.map((port) => this.#listen(row, service, port))];
  }

  #listen(
    row: LoadBalancerRow,
    service: string,
    { port, nodePort, protocol }: WantedLoadBalancer['ports'][number],
  ): ListenerRow {
    const [namespace = '', name = ''] = service.split('/');
    const group = this.#parts.targets.add({
      name: `k8s-${namespace.slice(0, 8)}-${name.slice(0, 8)}-${this.#hex(10)}`,
      protocol,
      port: nodePort,
      vpcId: row.vpcId,
      targetType: 'instance',
      healthCheck,
      attributes: defaultAttributes,
      tags: row.tags,
    });
    const own = row.arn.replace(':loadbalancer/', ':listener/');
    return { arn: `${own}/${this.#hex(16)}`, port, protocol, targetGroup: group.arn };
  }

  #register(group: string, instances: readonly string[]): void {
    const { targets } = this.#parts;
    for (const id of instances) targets.register(group, id, undefined);
    for (const target of targets.targets(group)) {
      if (!instances.includes(target.id)) targets.deregister(group, target.id);
    }
  }

  #hex(digits: number): string {
    return hexString(this.#scope.kernel.random(component), digits);
  }
}
