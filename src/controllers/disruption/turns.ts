// For each group, read from the informers: which nodes wait for their turn to be drained, and how
// many are out of service. Remembers drains that have begun until the cache shows them. Decides
// nothing.
import { durationMs } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  awaitsTurn,
  dueAt,
  type GroupLedger,
  isOutOfService,
} from '../../core/termination/index.ts';
import { maxUnavailableOf } from '../../core/update/index.ts';
import type { DisruptionDeps } from './deps.ts';
import type { Lookups } from './lookups.ts';

export class Turns {
  readonly #deps: Pick<DisruptionDeps, 'disruptions'>;
  readonly #lookups: Lookups;
  readonly #drainTimeoutMs: number;
  /** Disruptions that wait for their turn, with their group. */
  readonly #waiting = new Map<string, string>();
  /** Disruptions whose turn has come and that the cache still shows as Pending. */
  readonly #begun = new Set<string>();
  /** Results per group since the last change: all waiting drains share one read. */
  readonly #ledgers = new Map<string, GroupLedger>();

  constructor(deps: Pick<DisruptionDeps, 'disruptions'>, lookups: Lookups, drainTimeoutMs: number) {
    this.#deps = deps;
    this.#lookups = lookups;
    this.#drainTimeoutMs = drainTimeoutMs;
  }

  /** Undefined: the disruption does not wait for a turn. */
  ledgerFor(disruption: NodeDisruption): GroupLedger | undefined {
    const { name } = disruption.metadata;
    const group = this.#lookups.groupOf(disruption);
    const waits = group !== undefined && awaitsTurn(disruption, this.#lookups.nodeOf(disruption));
    if (!waits) {
      this.forget(name);
      return undefined;
    }
    if (this.#begun.has(name)) return undefined;
    const { name: its } = group.metadata;
    this.#waiting.set(name, its);
    const ledger = this.#ledgers.get(its) ?? this.#ledgerOf(group);
    this.#ledgers.set(its, ledger);
    return ledger;
  }

  /** Call for each change of a disruption, a node or a group. */
  changed(): void {
    this.#ledgers.clear();
  }

  /** The turn of the disruption has come: it counts as out of service. */
  begin(name: string): void {
    if (!this.#waiting.delete(name)) return;
    this.#begun.add(name);
    this.changed();
  }

  forget(name: string): void {
    this.#waiting.delete(name);
    if (this.#begun.delete(name)) this.changed();
  }

  /** Disruptions that a change in this group may concern; without a group, those of all groups. */
  waitingIn(group: string | undefined): readonly string[] {
    if (this.#waiting.size === 0) return [];
    return [...this.#waiting].flatMap(([name, its]) =>
      group === undefined || its === group ? [name] : [],
    );
  }

  #ledgerOf(group: NodeGroup): GroupLedger {
    const { name } = group.metadata;
    const { updateConfig, drain } = group.spec;
    const { desired = 0, ready = 0, instances = 0 } = group.status ?? {};
    const members = this.#deps.disruptions.list().filter(({ spec }) => spec.nodeGroup === name);
    const waiting: { name: string; dueAt: ReturnType<typeof dueAt> }[] = [];
    let out = 0;
    for (const each of members) {
      const node = this.#lookups.nodeOf(each);
      const { name: id } = each.metadata;
      if (this.#begun.has(id) || isOutOfService(each, node)) out += 1;
      else if (awaitsTurn(each, node)) waiting.push({ name: id, dueAt: dueAt(each) });
    }
    const seconds = drain?.timeoutSeconds;
    return {
      maxUnavailable: maxUnavailableOf(updateConfig, instances),
      drainMs: durationMs(seconds === undefined ? this.#drainTimeoutMs : seconds * 1000),
      // Missing nodes count too: instances that have not joined, nodes that are not Ready.
      out: Math.max(out, desired - ready),
      waiting,
    };
  }
}
