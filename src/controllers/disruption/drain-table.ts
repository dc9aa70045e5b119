// The drains of one allocation, one row per active disruption. A row is rebuilt only when its input
// has changed, so a pass costs only the changed rows. Decides nothing.

import { type EpochMs, epochMs, parseTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { type Classified, classifyPods, type Drain } from '../../core/drain/index.ts';
import {
  type Batch,
  batchBlocker,
  batchOf,
  beforeEvictions,
  type Compat,
  demandOf,
  drainOf,
  isTaken,
  type Observation,
  receivedAt,
  unmarkedOf,
} from '../../core/termination/index.ts';

export interface DrainEntry {
  readonly drain: Drain;
  /** What delays the whole batch. */
  readonly batch: WaitingOn | undefined;
  readonly batchUntil: EpochMs | undefined;
}

/** The input of a row, compared by identity or version. */
export interface RowSource {
  readonly disruption: NodeDisruption;
  readonly node: Node | undefined;
  readonly group: NodeGroup | undefined;
  readonly podsVersion: number | undefined;
  readonly daemonSetVersion: number;
  readonly hooksVersion: number;
}

interface Row extends RowSource {
  readonly id: string;
  readonly receivedAt: EpochMs;
  readonly unmarked: ReturnType<typeof unmarkedOf>;
  readonly drain: Drain | undefined;
  /** When the row must be rebuilt even without an event, because a hook's time ends. */
  readonly validUntil: number;
}

export interface DrainTableOptions {
  readonly compat: Compat;
  /** Undefined once the disruption is deleted. */
  readonly source: (name: string) => RowSource | undefined;
  readonly observe: (disruption: NodeDisruption) => Observation;
  /** What the target groups report; undefined: they were not read. */
  readonly targets: (disruption: string) => Observation['targets'];
}

const isSame = (a: RowSource, b: RowSource): boolean =>
  a.disruption === b.disruption &&
  a.node === b.node &&
  a.group === b.group &&
  a.podsVersion === b.podsVersion &&
  a.daemonSetVersion === b.daemonSetVersion &&
  a.hooksVersion === b.hooksVersion;

const classify = ({ disruption, pods = [], daemonSetIsGone }: Observation): Classified =>
  classifyPods(pods, {
    markedAt: parseTime(disruption.status?.markedAt),
    boomerangs: disruption.status?.boomerangs ?? [],
    ...defined({ daemonSetIsGone }),
  });

export class DrainTable {
  readonly #options: DrainTableOptions;
  readonly #rows = new Map<string, Row | undefined>();

  constructor(options: DrainTableOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#rows.size;
  }
  has(name: string): boolean {
    return this.#rows.has(name);
  }
  names(): Iterable<string> {
    return this.#rows.keys();
  }
  add(name: string): void {
    if (!this.#rows.has(name)) this.#rows.set(name, undefined);
  }
  delete(name: string): void {
    this.#rows.delete(name);
  }

  /** Every drain that shares budgets, in a fixed order. */
  entries(now: EpochMs): readonly DrainEntry[] {
    const rows = [...this.#rows.keys()].sort().flatMap((name) => this.#row(name, now) ?? []);
    const batch = batchOf(rows, now);
    return rows.flatMap((row): readonly DrainEntry[] => {
      const { drain } = row;
      if (drain === undefined) return [];
      const held = this.#heldBy(row, batch, now);
      if (held === undefined) return [{ drain, batch: undefined, batchUntil: undefined }];
      const waiting = { ...drain, mayEvict: false };
      return [{ drain: waiting, batch: held.waiting, batchUntil: held.until }];
    });
  }

  /** The blockers of the first eviction from a marked node, apart from its pods. */
  #heldBy(
    { disruption, group, id }: Row,
    batch: Batch,
    now: EpochMs,
  ): { readonly waiting: WaitingOn; readonly until: EpochMs | undefined } | undefined {
    const blocker = batchBlocker(disruption, batch, now);
    if (blocker !== undefined) return { waiting: blocker, until: parseTime(blocker.until) };
    const { compat, targets } = this.#options;
    return beforeEvictions({ disruption, group, compat, targets: targets(id), now });
  }

  #row(name: string, now: EpochMs): Row | undefined {
    const source = this.#options.source(name);
    if (source === undefined) return undefined;
    const known = this.#rows.get(name);
    if (known !== undefined && now < known.validUntil && isSame(known, source)) return known;
    const row = this.#make(name, source);
    this.#rows.set(name, row);
    return row;
  }

  #make(id: string, source: RowSource): Row {
    const { disruption, node } = source;
    const { compat, observe } = this.#options;
    const base = {
      ...source,
      id,
      receivedAt: receivedAt(disruption),
      unmarked: unmarkedOf(disruption, node, compat),
    };
    const observation = observe(disruption);
    const taken = isTaken(disruption, observation.options.epoch);
    if (!taken || node === undefined || observation.pods === undefined) {
      return { ...base, drain: undefined, validUntil: Number.POSITIVE_INFINITY };
    }
    const demand = demandOf(observation);
    const classified = classify(observation);
    const ends = demand.hooks
      .filter(({ status }) => status.state === 'Open')
      .map(({ status }) => parseTime(status.endsAt) ?? Number.POSITIVE_INFINITY);
    return {
      ...base,
      drain: drainOf({ disruption, node, classified, demand, compat, group: source.group }),
      validUntil: epochMs(Math.min(Number.POSITIVE_INFINITY, ...ends)),
    };
  }
}
