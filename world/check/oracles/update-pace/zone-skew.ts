// Zone balance of an update by the SURGE strategy. The numbers of remaining nodes per zone may
// differ by as much as before the update plus one batch. Beyond that, the controller should have
// drained an old node of a fuller zone, if one could be drained. Imbalance caused by operators, the
// cloud or a lack of capacity is exempt.
import type { Book } from '../../state/book.ts';
import type { InstanceState } from '../../state/cloud.ts';
import type { DisruptionState } from '../../state/disruptions.ts';
import type { NodeState } from '../../state/nodes.ts';
import { isDrainable } from '../../state/pods.ts';
import { isOfUpdate, type UpdateState } from '../../state/updates.ts';

type PerZone = ReadonlyMap<string, number>;

/** Faults that leave a zone without capacity. */
const shortages = new Set(['no-capacity', 'no-addresses']);

const add = (counts: Map<string, number>, zone: string): void => {
  counts.set(zone, (counts.get(zone) ?? 0) + 1);
};

const spreadOf = (counts: PerZone, zones: ReadonlySet<string>): number => {
  const each = [...zones].map((zone) => counts.get(zone) ?? 0);
  return each.length === 0 ? 0 : Math.max(...each) - Math.min(...each);
};

/**
 * Adds instances whose zone is unknown to the zones with the fewest nodes, in the update's favour.
 */
const withPending = (
  counts: Map<string, number>,
  zones: ReadonlySet<string>,
  pending: number,
): PerZone => {
  const full = new Map(counts);
  for (let left = pending; left > 0; left--) {
    const [least] = [...zones].toSorted((a, b) => (full.get(a) ?? 0) - (full.get(b) ?? 0));
    if (least !== undefined) add(full, least);
  }
  return full;
};

export class ZoneSkew {
  readonly #book: Book;
  readonly #before = new Map<string, PerZone>();
  readonly #short = new Set<string>();

  constructor(book: Book) {
    this.#book = book;
  }

  fault(kind: string): void {
    if (!shortages.has(kind)) return;
    for (const { name } of this.#book.updates.byName.values()) this.#short.add(name);
  }

  /** Records the nodes per zone when the update begins. */
  update({ name, nodeGroup, beganAt }: UpdateState): void {
    if (beganAt === undefined || this.#before.has(name)) return;
    const counts = new Map<string, number>();
    for (const node of this.#book.nodes.byName.values()) {
      if (node.nodeGroup === nodeGroup && node.goneAt === undefined) add(counts, node.zone);
    }
    this.#before.set(name, counts);
  }

  /**
   * Returns a sentence if another node should have been drained, else undefined.
   * `members`: instances that the update does not drain and that are not terminating, without
   * `one`.
   * `launches`: replacements that Auto Scaling starts, counted in the zones with the fewest nodes.
   */
  complaint(
    update: UpdateState,
    one: DisruptionState,
    {
      members,
      launches,
    }: { readonly members: readonly InstanceState[]; readonly launches: number },
  ): string | undefined {
    const before = this.#before.get(update.name);
    if (before === undefined || update.strategy !== 'SURGE') return undefined;
    if (this.#short.has(update.name) || this.#book.isBlind) return undefined;
    const nodes = members.map(({ instanceId }) => this.#book.nodes.ofInstance(instanceId));
    const counts = new Map<string, number>();
    for (const node of nodes) if (node !== undefined) add(counts, node.zone);
    const zones = new Set([...before.keys(), ...counts.keys()]);
    const pending = nodes.filter((node) => node === undefined).length;
    const after = withPending(counts, zones, pending + launches);
    const had = spreadOf(before, zones);
    const has = spreadOf(after, zones);
    if (has <= had + update.maxUnavailable) return undefined;
    const most = Math.max(...after.values());
    const other = nodes.find(
      (node) =>
        node !== undefined &&
        after.get(node.zone) === most &&
        this.#couldGo(update, node, this.#book.nodes.ofInstance(one.instanceId)),
    );
    if (other === undefined) return undefined;
    return (
      `zones differ by ${has} nodes, by ${had} before it, and ${other.name} of ${other.zone} ` +
      'could have gone'
    );
  }

  /** Whether this old node could be drained, and as easily as the chosen one. */
  #couldGo(update: UpdateState, node: NodeState, taken: NodeState | undefined): boolean {
    const book = this.#book;
    const isOld = update.target !== undefined && node.image !== update.target.imageId;
    const isSteady = node.ready && book.now - (node.readySince ?? book.now) > book.lagMicros;
    if (!isOld || !isSteady || taken?.ready !== true) return false;
    const causes = book.disruptions.ofInstance(node.instanceId)?.causes ?? [];
    if (causes.some((cause) => isOfUpdate(update, cause))) return false;
    const pods = [...book.pods.on(node.name)].filter(isDrainable);
    if (pods.some((pod) => book.pods.budgetsOf(pod).length > 0)) return false;
    return pods.length === 0 || [...book.pods.on(taken.name)].some(isDrainable);
  }
}
