// While an update runs, the number of nodes out of service, including those being terminated, stays
// within maxUnavailable. At least the desired size minus maxUnavailable serves. Excluded: nodes
// that operators drain, and the surplus of a failed update in rollback. Removals keep zones
// balanced (zone-skew.ts).
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../../oracle.ts';
import type { DisruptionState } from '../../state/disruptions.ts';
import { textOf } from '../../state/read.ts';
import { isOfUpdate, type UpdateState } from '../../state/updates.ts';
import { Wanted } from '../../state/wanted.ts';
import { isLeavingState, standingOf } from './members.ts';
import { ZoneSkew } from './zone-skew.ts';

class Pace {
  readonly #context: Context;
  readonly zones: ZoneSkew;
  readonly #wanted = new Wanted();
  /** By NodeGroup: its Auto Scaling group. */
  readonly #groups = new Map<string, string>();
  readonly #leftAt = new Map<string, number>();
  /** `disruption cause` of the drains that were judged. */
  readonly #seen = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
    this.zones = new ZoneSkew(context.book);
  }

  group(object: JsonObject, at: number): void {
    const nodeGroup = textOf(objectOr(object.metadata).name);
    const told = objectOr(object.status).autoScalingGroupName;
    this.#groups.set(nodeGroup, textOf(told ?? objectOr(object.spec).autoScalingGroupName));
    this.#wanted.take(object, at);
  }

  left(instanceId: string, state: string, at: number): void {
    if (isLeavingState(state) && !this.#leftAt.has(instanceId)) this.#leftAt.set(instanceId, at);
  }

  disruption(one: DisruptionState): void {
    for (const cause of one.causes) {
      if (cause.kind !== 'Update' || cause.isHolding || cause.isCancelled) continue;
      const key = `${one.name} ${cause.id}`;
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      const { book } = this.#context;
      const update = [...book.updates.byName.values()].find((each) => isOfUpdate(each, cause));
      if (update?.phase === 'Rolling' && update.endedAt === undefined) this.#judge(one, update);
    }
  }

  #judge(one: DisruptionState, update: UpdateState): void {
    const { book, saw, report } = this.#context;
    const group = this.#groups.get(update.nodeGroup);
    if (group === undefined) return;
    const members = [...book.cloud.instances.values()].filter((each) => each.group === group);
    // If the trace comes from a cloud with another clock, it shows no instances to count.
    if (members.length === 0) return;
    const { stay, gone, serving, launches } = standingOf(
      this.#context,
      { update, one },
      { members, leftAt: this.#leftAt },
    );
    saw();
    const told = (message: string) => report({ subject: update.name, message });
    const uneven = this.zones.complaint(update, one, { members: stay, launches });
    if (uneven !== undefined) told(uneven);
    const most = update.maxUnavailable;
    if (gone + 1 > most) told(`${gone + 1} nodes are out of service at once, of ${most} that may`);
    const wanted = this.#wanted.least(update.nodeGroup, book.now - book.lagMicros);
    // Draining a node that does not serve removes no capacity.
    if (!this.#isKnownToServe(one.instanceId) || serving >= wanted - most) return;
    told(`${serving} nodes are left to serve, of ${wanted} wanted less ${most}`);
  }

  /** Ready for long enough that the controller knows it. */
  #isKnownToServe(instanceId: string): boolean {
    const { book } = this.#context;
    const node = book.nodes.ofInstance(instanceId);
    return node?.ready === true && book.now - (node.readySince ?? 0) > book.lagMicros;
  }
}

export const updatePace: Oracle = {
  name: 'updates-keep-their-pace',
  what:
    'while an update rolls, at most maxUnavailable nodes are out of service for it, and at ' +
    'least the desired size less maxUnavailable serve',
  strategies: both,
  needs: ['object', 'lifecycle'],
  watch: (context) => {
    const { book } = context;
    const pace = new Pace(context);
    return {
      object: (entry) => {
        if (entry.resource === 'nodegroups' && entry.type !== 'DELETED') {
          pace.group(entry.object, entry.at);
        }
        if (entry.resource === 'nodegroupupdates') {
          for (const update of book.updates.byName.values()) pace.zones.update(update);
        }
        const one = book.disruptionIn(entry);
        if (one !== undefined) pace.disruption(one);
      },
      fault: ({ fault, what }) => {
        if (what !== 'off') pace.zones.fault(fault);
      },
      lifecycle: ({ instanceId, state, at }) => pace.left(instanceId, state, at),
    };
  },
};
