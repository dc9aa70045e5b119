// Classic Load Balancers: registered instances and the time of each registration. Health depends on
// the instance's state and the time since its registration; traffic is not modelled.
import { hexString, type Table } from '../../kernel/index.ts';
import type { Instances } from '../ec2/instances.ts';
import type { Tags } from '../filters.ts';
import { refuse, type Scope } from '../scope.ts';

export type ClassicListener = {
  readonly protocol: string;
  readonly port: number;
  readonly instanceProtocol: string;
  readonly instancePort: number;
};

export type ClassicHealthCheck = {
  readonly target: string;
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
  readonly unhealthyCount: number;
  readonly healthyCount: number;
};

export type ClassicBalancerRow = {
  readonly name: string;
  readonly dnsName: string;
  readonly scheme: 'internet-facing' | 'internal';
  readonly listeners: readonly ClassicListener[];
  readonly vpcId: string;
  readonly subnets: readonly { readonly zone: string; readonly subnetId: string }[];
  readonly securityGroups: readonly string[];
  readonly healthCheck: ClassicHealthCheck;
  readonly createdAt: number;
  readonly tags: Tags;
  readonly instances: readonly { readonly id: string; readonly registeredAt: number }[];
};

export interface ClassicHealth {
  readonly state: 'InService' | 'OutOfService';
  readonly reason: 'N/A' | 'ELB' | 'Instance';
  readonly description: string;
}

const component = 'aws.elb.classic';

export class ClassicBalancers {
  readonly #scope: Scope;
  readonly #instances: Instances;
  readonly #rows: Table<ClassicBalancerRow>;

  constructor(scope: Scope, instances: Instances) {
    this.#scope = scope;
    this.#instances = instances;
    this.#rows = scope.kernel.tables.open<ClassicBalancerRow>('aws/elb/classic');
  }

  all(): readonly ClassicBalancerRow[] {
    return [...this.#rows.values()];
  }
  find(name: string): ClassicBalancerRow | undefined {
    return this.#rows.get(name);
  }
  need(name: string): ClassicBalancerRow {
    const row = this.#rows.get(name);
    if (row !== undefined) return row;
    throw refuse('LoadBalancerNotFound', `There is no ACTIVE Load Balancer named '${name}'`);
  }
  put(row: ClassicBalancerRow): void {
    this.#rows.put(row.name, row);
  }
  remove(name: string): void {
    this.#rows.delete(name);
  }

  add(row: Omit<ClassicBalancerRow, 'dnsName' | 'createdAt' | 'instances'>): ClassicBalancerRow {
    const suffix = hexString(this.#scope.kernel.random(component), 10);
    const prefix = row.scheme === 'internal' ? 'internal-' : '';
    const made: ClassicBalancerRow = {
      ...row,
      dnsName: `${prefix}${row.name}-${suffix}.${this.#scope.region}.elb.amazonaws.com`,
      createdAt: this.#scope.now(),
      instances: [],
    };
    this.put(made);
    return made;
  }

  /** No-op if the load balancer does not exist, or already has the instance. */
  register(name: string, id: string): void {
    const row = this.#rows.get(name);
    if (row === undefined || row.instances.some((one) => one.id === id)) return;
    const registered = { id, registeredAt: this.#scope.now() };
    this.put({ ...row, instances: [...row.instances, registered] });
  }

  deregister(name: string, id: string): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    this.put({ ...row, instances: row.instances.filter((one) => one.id !== id) });
  }

  /** Ids of the registered instances, without terminated ones. */
  registered(row: ClassicBalancerRow): readonly string[] {
    const isKnown = (id: string): boolean => {
      const state = this.#instances.get(id)?.state;
      return state !== undefined && state !== 'terminated';
    };
    return row.instances.map(({ id }) => id).filter(isKnown);
  }

  healthOf({ healthCheck, instances }: ClassicBalancerRow, id: string): ClassicHealth {
    const state = this.#instances.get(id)?.state ?? 'terminated';
    const known = instances.find((one) => one.id === id);
    if (known === undefined) {
      const description = 'Instance is not currently registered with the LoadBalancer.';
      return { state: 'OutOfService', reason: 'Instance', description };
    }
    if (state !== 'running') {
      const description = `Instance is in ${state} state.`;
      return { state: 'OutOfService', reason: 'Instance', description };
    }
    const healthyAfterMs = healthCheck.healthyCount * healthCheck.intervalSeconds * 1000;
    if (this.#scope.now() < known.registeredAt + healthyAfterMs) {
      const description = 'Instance registration is still in progress.';
      return { state: 'OutOfService', reason: 'ELB', description };
    }
    return { state: 'InService', reason: 'N/A', description: 'N/A' };
  }
}
