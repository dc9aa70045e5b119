// The account's quota of vCPUs while the fault `vcpu-quota` is on: what was in use when it was switched on is all
// there is. Room that instances leave can be used again. Says what is refused; launches nothing.
import type { Table } from '../../kernel/index.ts';
import { type Scope, sentence } from '../scope.ts';
import { instanceTypes } from './instance-types.ts';
import type { InstanceRow } from './instances.ts';

const using = new Set(['pending', 'running']);

const vcpusOf = (instanceType: string): number => instanceTypes.get(instanceType)?.cpus ?? 2;

export class VcpuQuota {
  readonly #scope: Scope;
  readonly #instances: () => Iterable<InstanceRow>;
  readonly #limits: Table<{ readonly vcpus: number }>;

  constructor(scope: Scope, instances: () => Iterable<InstanceRow>) {
    this.#scope = scope;
    this.#instances = instances;
    this.#limits = scope.kernel.tables.open('aws/ec2/vcpu-quotas');
    scope.faults.onInject(() => this.#note());
  }

  #note(): void {
    for (const { id, kind } of this.#scope.faults.list()) {
      if (kind !== 'vcpu-quota' || this.#limits.get(id) !== undefined) continue;
      this.#limits.put(id, { vcpus: this.#used() });
    }
  }

  #used(): number {
    let vcpus = 0;
    for (const { state, instanceType } of this.#instances()) {
      if (using.has(state)) vcpus += vcpusOf(instanceType);
    }
    return vcpus;
  }

  /** EC2's words where another instance of the type would be above it. */
  refusal(instanceType: string): { readonly code: string; readonly message: string } | undefined {
    const fault = this.#scope.faults.list().find(({ kind }) => kind === 'vcpu-quota');
    const limit = fault && this.#limits.get(fault.id)?.vcpus;
    if (limit === undefined || this.#used() + vcpusOf(instanceType) <= limit) return undefined;
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
