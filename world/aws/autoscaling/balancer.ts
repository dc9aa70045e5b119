// AZRebalance: a group with unbalanced zones first gets an instance in its emptiest zone, then
// loses one in its fullest zone. One instance at a time; never changes desired capacity. Source:
// Auto Scaling user guide, "Rebalancing activities".
import { microsPerMs, type Table, type WorldEvent } from '../../kernel/index.ts';
import type { Network } from '../ec2/network.ts';
import { type Span, sentence } from '../scope.ts';
import type { Launcher } from './launcher.ts';
import type { GroupRow } from './rows.ts';
import type { GroupStore } from './store.ts';

/** From the imbalance to its detection; real groups take minutes. */
const lookMs: Span = [60_000, 120_000];
/** Each failed attempt doubles the wait, up to sixteenfold. */
const maxBackoffSteps = 4;
const actor = 'aws.autoscaling.balance';

type BalanceRow = {
  readonly isQueued: boolean;
  /** Why the group has one instance more than desired; empty if it has not. */
  readonly cause: string;
  readonly failures: number;
};
const idle: BalanceRow = { isQueued: false, cause: '', failures: 0 };

export interface BalancerParts {
  readonly store: GroupStore;
  readonly network: Network;
  readonly launcher: Launcher;
}

export class Balancer {
  readonly #parts: BalancerParts;
  readonly #rows: Table<BalanceRow>;

  constructor(parts: BalancerParts) {
    this.#parts = parts;
    const { kernel } = parts.store.scope;
    this.#rows = kernel.tables.open<BalanceRow>('aws/autoscaling/balance');
    kernel.register({ name: actor, handle: (event) => this.#handle(event) });
  }

  /** Schedules a check of the group if its zones are unbalanced. */
  watch(group: GroupRow): void {
    const row = this.#row(group.name);
    if (row.isQueued || row.cause !== '' || this.#drift(group) === undefined) return;
    const [from, to] = lookMs;
    const factor = 2 ** Math.min(row.failures, maxBackoffSteps);
    const { scope } = this.#parts.store;
    const afterMicros = Math.max(scope.delay(actor, [from * factor, to * factor]), microsPerMs);
    scope.kernel.schedule({ afterMicros, actor, kind: 'look', args: { group: group.name } });
    this.#rows.put(group.name, { ...row, isQueued: true });
  }

  /**
   * Why the group has one instance more than desired: it launches the replacement before it
   * terminates an instance.
   */
  surplusCause(group: string): string {
    return this.#row(group).cause;
  }
  settled(group: string): void {
    this.#rows.put(group, { ...this.#row(group), cause: '' });
  }
  forget(group: string): void {
    this.#rows.delete(group);
  }

  #row(group: string): BalanceRow {
    return this.#rows.get(group) ?? idle;
  }

  #handle({ args }: WorldEvent): void {
    const { store, launcher } = this.#parts;
    const group = store.group(String(args.group));
    if (group === undefined) return;
    const row = { ...this.#row(group.name), isQueued: false };
    this.#rows.put(group.name, row);
    const drift = this.#drift(group);
    if (drift === undefined) return;
    const { emptiest, fullest, counts } = drift;
    const zones = [...counts.keys()].sort();
    const cause = sentence(
      `${store.at()} availability zones ${zones.join(' ')} had`,
      `${zones.map((zone) => counts.get(zone)).join(' ')} instances respectively. An`,
      "instance was launched to aid in balancing the group's zones.",
    );
    const isSteady = store.counted(group.name).every((one) => one.state === 'InService');
    if (!isSteady) {
      this.watch(group);
      return;
    }
    const attempt = launcher.launch(group, cause, { zone: emptiest });
    if (attempt.kind === 'failed') {
      this.#rows.put(group.name, { ...row, failures: row.failures + 1 });
      this.watch(group);
      return;
    }
    this.#rows.put(group.name, {
      isQueued: false,
      failures: 0,
      cause: sentence(
        `${store.at()} instances were launched to balance instances in zones ${fullest} with`,
        'other zones resulting in more than desired number of instances in the group.',
      ),
    });
  }

  /** Zones that differ by two or more instances; undefined if balanced or not to be balanced. */
  #drift(group: GroupRow) {
    const { store, network } = this.#parts;
    const off = ['AZRebalance', 'Launch', 'Terminate'];
    if (group.isDeleting || off.some((name) => group.suspended.includes(name))) return undefined;
    const counts = new Map<string, number>();
    for (const id of group.subnetIds) {
      const zone = network.subnet(id)?.zone;
      if (zone !== undefined) counts.set(zone, 0);
    }
    const members = store.counted(group.name);
    if (members.length !== group.desired) return undefined;
    for (const { zone } of members) counts.set(zone, (counts.get(zone) ?? 0) + 1);
    const ordered = [...counts].sort(([a, m], [b, n]) => m - n || (a < b ? -1 : 1));
    const [low, high] = [ordered[0], ordered.at(-1)];
    if (low === undefined || high === undefined || high[1] - low[1] < 2) return undefined;
    return { emptiest: low[0], fullest: high[0], counts };
  }
}
