// Capacity Rebalancing: replaces a spot member with a rebalance recommendation before EC2
// interrupts it. Launches the replacement first; once that is in service, terminates the member
// with its hooks. Source: Auto Scaling user guide, "Capacity Rebalancing to handle EC2 Spot
// interruptions".
import { microsPerMs, type Table, type WorldEvent } from '../../kernel/index.ts';
import type { Instances } from '../ec2/instances.ts';
import { type Span, sentence } from '../scope.ts';
import type { Launcher } from './launcher.ts';
import { capacityOf, type GroupRow, isCounted, type MemberRow } from './rows.ts';
import type { GroupStore } from './store.ts';

/** From the recommendation to the launch. */
const launchMs: Span = [2_000, 5_000];
/** From a launch that failed or is not allowed to the next attempt. */
const retryMs: Span = [60_000, 120_000];
/** How far a rebalance may exceed the group's maximum size, in percent of its desired capacity. */
const marginPercent = 10;
const actor = 'aws.autoscaling.spot-rebalance';

type RebalanceRow = {
  readonly instanceId: string;
  readonly group: string;
  /** Empty until one is launched. */
  readonly replacementId: string;
};

export interface SpotRebalancerParts {
  readonly store: GroupStore;
  readonly instances: Instances;
  readonly launcher: Launcher;
  readonly terminate: (member: MemberRow, cause: string) => void;
}

export class SpotRebalancer {
  readonly #parts: SpotRebalancerParts;
  /** By the instance to replace. */
  readonly #rows: Table<RebalanceRow>;

  constructor(parts: SpotRebalancerParts) {
    this.#parts = parts;
    const { kernel } = parts.store.scope;
    this.#rows = kernel.tables.open<RebalanceRow>('aws/autoscaling/spot-rebalances');
    kernel.register({ name: actor, handle: (event) => this.#handle(event) });
  }

  /** EC2 recommends rebalancing the instance; ignored if its group has the option off. */
  recommended(instanceId: string): void {
    const { store, instances } = this.#parts;
    const member = store.member(instanceId);
    if (member?.state !== 'InService' || this.#rows.get(instanceId) !== undefined) return;
    const isSpot = instances.get(instanceId)?.capacityType === 'SPOT';
    if (!isSpot || !store.needGroup(member.group).capacityRebalance) return;
    this.#rows.put(instanceId, { instanceId, group: member.group, replacementId: '' });
    this.#later(instanceId, launchMs);
  }

  /** Members whose replacements already count: the group's surplus above desired capacity. */
  replaced(group: string): readonly MemberRow[] {
    const { store } = this.#parts;
    const rows = this.#of(group).filter(({ replacementId }) => this.#counts(replacementId));
    return rows
      .flatMap(({ instanceId }) => store.member(instanceId) ?? [])
      .filter(({ state }) => isCounted(state));
  }

  /** A member entered service: terminates the member that it replaces. */
  inService({ instanceId, group }: MemberRow): void {
    const { store, terminate } = this.#parts;
    const row = this.#of(group).find(({ replacementId }) => replacementId === instanceId);
    if (row === undefined) return;
    this.#rows.delete(row.instanceId);
    const member = store.member(row.instanceId);
    if (member === undefined || !isCounted(member.state)) return;
    terminate(
      member,
      sentence(
        `${store.at()} an instance was taken out of service in response to an EC2 instance`,
        'rebalance recommendation.',
      ),
    );
  }

  #of(group: string): readonly RebalanceRow[] {
    return [...this.#rows.values()].filter((row) => row.group === group);
  }

  #counts(instanceId: string): boolean {
    const member = this.#parts.store.member(instanceId);
    return member !== undefined && isCounted(member.state);
  }

  #later(instanceId: string, span: Span): void {
    const { scope } = this.#parts.store;
    const afterMicros = Math.max(scope.delay(actor, span), microsPerMs);
    scope.kernel.schedule({ afterMicros, actor, kind: 'replace', args: { instanceId } });
  }

  #handle({ args }: WorldEvent): void {
    const row = this.#rows.get(String(args.instanceId));
    if (row === undefined) return;
    const { store, launcher } = this.#parts;
    const group = store.group(row.group);
    const isOver = group === undefined || group.isDeleting || !group.capacityRebalance;
    if (isOver || !this.#counts(row.instanceId)) {
      this.#rows.delete(row.instanceId);
      return;
    }
    if (!this.#counts(row.replacementId) && this.#mayLaunch(group)) {
      const cause = sentence(
        `${store.at()} an instance was launched in response to an EC2 instance rebalance`,
        'recommendation.',
      );
      const attempt = launcher.launch(group, cause);
      const replacementId = attempt.kind === 'launched' ? attempt.member.instanceId : '';
      this.#rows.put(row.instanceId, { ...row, replacementId });
    }
    // Repeats until it is replaced: the new instance may fail or never enter service.
    this.#later(row.instanceId, retryMs);
  }

  #mayLaunch(group: GroupRow): boolean {
    const { name, max, desired, suspended } = group;
    if (suspended.includes('Launch') || suspended.includes('Terminate')) return false;
    const most = Math.max(max, desired + Math.ceil((desired * marginPercent) / 100));
    return capacityOf(group, this.#parts.store.counted(name)) < most;
  }
}
