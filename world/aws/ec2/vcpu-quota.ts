// The account's vCPU quotas, one per group of instance families and purchase option; Service Quotas
// reports them and EC2 enforces them. While the fault `vcpu-quota` is on, the limit is the usage at
// its start, until a requested increase is granted. Returns refusals; launches nothing.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Table } from '../../kernel/index.ts';
import { type Scope, sentence } from '../scope.ts';
import type { InstanceRow } from './instance-row.ts';
import { instanceTypes } from './instance-types.ts';

const using = new Set(['pending', 'running']);

type CapacityType = InstanceRow['capacityType'];

/** As Service Quotas names them. */
export interface VcpuBucket {
  readonly code: string;
  readonly name: string;
  /** Dimensions of CloudWatch's usage metric: Standard/OnDemand, G/Spot, ... */
  readonly usage: { readonly family: string; readonly market: 'OnDemand' | 'Spot' };
}

const standard = 'Standard (A, C, D, H, I, M, R, T, Z)';
const bucket = (code: string, name: string, family: string): VcpuBucket => ({
  code,
  name,
  usage: { family, market: name.startsWith('All ') ? 'Spot' : 'OnDemand' },
});

/** Quotas of the families of the world's instance types. */
const buckets = {
  standard: {
    ON_DEMAND: bucket('L-1216C47A', `Running On-Demand ${standard} instances`, 'Standard'),
    SPOT: bucket('L-34B43A08', `All ${standard} Spot Instance Requests`, 'Standard'),
  },
  graphics: {
    ON_DEMAND: bucket('L-DB2E81BA', 'Running On-Demand G and VT instances', 'G'),
    SPOT: bucket('L-3819A6DF', 'All G and VT Spot Instance Requests', 'G'),
  },
} as const;

export const vcpuBuckets: readonly VcpuBucket[] = Object.values(buckets).flatMap((one) =>
  Object.values(one),
);

const bucketOf = (instanceType: string, capacityType: CapacityType): VcpuBucket =>
  (instanceType.startsWith('g') ? buckets.graphics : buckets.standard)[capacityType];

/** A request for an increase; AWS grants small ones automatically within minutes. */
interface Raise extends JsonObject {
  readonly id: string;
  readonly code: string;
  readonly vcpus: number;
  readonly requestedAt: number;
}
const grantedAfterMs = 180_000;

/** The quota of a large account; worlds of tests and demonstrations stay far below it. */
export const standingVcpus = 100_000;

const vcpusOf = (instanceType: string): number => instanceTypes.get(instanceType)?.cpus ?? 2;

const keyOf = (fault: string, one: VcpuBucket | undefined): string => `${fault}/${one?.code ?? ''}`;

export class VcpuQuota {
  readonly #scope: Scope;
  readonly #instances: () => Iterable<InstanceRow>;
  /** Per fault and quota code: the usage at the fault's start. */
  readonly #limits: Table<{ readonly vcpus: number }>;

  readonly #raises: Table<Raise>;

  constructor(scope: Scope, instances: () => Iterable<InstanceRow>) {
    this.#scope = scope;
    this.#instances = instances;
    this.#limits = scope.kernel.tables.open('aws/ec2/vcpu-quotas');
    this.#raises = scope.kernel.tables.open('aws/ec2/vcpu-raises');
    scope.faults.onInject(() => this.#note());
  }

  #note(): void {
    for (const { id, kind } of this.#scope.faults.list()) {
      if (kind !== 'vcpu-quota' || this.#limits.has(keyOf(id, vcpuBuckets[0]))) continue;
      for (const one of vcpuBuckets) this.#limits.put(keyOf(id, one), { vcpus: this.#used(one) });
      // A new fault voids earlier increases.
      for (const raise of [...this.#raises.values()]) this.#raises.delete(raise.id);
    }
  }

  raises(): readonly Raise[] {
    return [...this.#raises.values()];
  }
  isGranted({ requestedAt }: Raise): boolean {
    return this.#scope.now() >= requestedAt + grantedAfterMs;
  }
  raise({ code }: VcpuBucket, vcpus: number): Raise {
    const id = this.#scope.uuid('aws.service-quotas');
    const raise = { id, code, vcpus, requestedAt: this.#scope.now() };
    this.#raises.put(id, raise);
    return raise;
  }

  #used({ code }: VcpuBucket): number {
    let vcpus = 0;
    for (const { state, instanceType, capacityType } of this.#instances()) {
      if (!using.has(state) || bucketOf(instanceType, capacityType).code !== code) continue;
      vcpus += vcpusOf(instanceType);
    }
    return vcpus;
  }

  limit(one: VcpuBucket): number {
    const fault = this.#scope.faults.list().find(({ kind }) => kind === 'vcpu-quota');
    const limit = (fault && this.#limits.get(keyOf(fault.id, one))?.vcpus) ?? standingVcpus;
    const raises = this.raises().filter(
      (raise) => raise.code === one.code && this.isGranted(raise),
    );
    return Math.max(limit, ...raises.map(({ vcpus }) => vcpus));
  }

  /** EC2's error if another instance of the type would exceed the quota. */
  refusal(
    instanceType: string,
    capacityType: CapacityType,
  ): { readonly code: string; readonly message: string } | undefined {
    const one = bucketOf(instanceType, capacityType);
    const limit = this.limit(one);
    // Counting all instances for each launch is slow, and no world reaches the quota without the
    // fault.
    if (limit >= standingVcpus) return undefined;
    if (this.#used(one) + vcpusOf(instanceType) <= limit) return undefined;
    if (capacityType === 'SPOT') {
      return { code: 'MaxSpotInstanceCountExceeded', message: 'Max spot instance count exceeded' };
    }
    return {
      code: 'VcpuLimitExceeded',
      message: sentence(
        `You have requested more vCPU capacity than your current vCPU limit of ${limit} allows`,
        'for the instance bucket that the specified instance type belongs to.',
        'Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to',
        'this limit.',
      ),
    };
  }
}
