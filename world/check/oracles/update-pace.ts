// Oracle 5, for updates: while an update rolls, nodes out of service, including those on their way
// out of the group, stay within maxUnavailable. At least the desired size minus maxUnavailable
// serves. Excluded: nodes that operators drain, and the surplus of a failed update in rollback.
// Removals keep zones balanced (zone-skew.ts).
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { InstanceState } from '../state/cloud.ts';
import type { CauseState, DisruptionState } from '../state/disruptions.ts';
import { microsPerMinute, textOf } from '../state/read.ts';
import { isOfUpdate, type UpdateState } from '../state/updates.ts';
import { Wanted } from '../state/wanted.ts';
import { ZoneSkew } from './zone-skew.ts';

const leaving = /^(?:Terminat|Detach|$)/;

/**
 * An update stops waiting for a drain that a foreign cause keeps open this long past the update's
 * own deadline.
 */
const givesUpMicros = 2 * microsPerMinute;

/**
 * Whether the update drains the node and has neither cancelled nor given up. `now`: by the fastest
 * clock of a possible leader.
 */
const isLetGo = (update: UpdateState, one: DisruptionState, now: number): boolean => {
  const hasTime = ({ deadlineAt, isForcing }: CauseState): boolean =>
    one.phase !== 'Draining' || isForcing || now <= (deadlineAt ?? now) + givesUpMicros;
  const isAsked = one.causes.some(
    (cause) =>
      isOfUpdate(update, cause) && !cause.isHolding && !cause.isCancelled && hasTime(cause),
  );
  return isAsked && one.outcome !== 'Failed' && !isKept(one);
};

/** Terminated without decrement: Auto Scaling launches a replacement. */
const isReplaced = (update: UpdateState, one: DisruptionState): boolean =>
  one.causes.some(
    (cause) => isOfUpdate(update, cause) && !cause.isCancelled && cause.followUp === 'Replace',
  );

/** Blue/green: the node is drained and does not count as capacity; as many new nodes serve. */
const isKept = ({ phase, causes, handledBefore }: DisruptionState): boolean =>
  (phase === 'Ended' &&
    causes.every(({ followUp, isCancelled }) => isCancelled || followUp === 'Release')) ||
  causes.some(
    ({ id, kind, followUp }) =>
      kind === 'Update' && followUp === 'Release' && handledBefore.has(id),
  );

/** Blue/green: the update drained the node, whatever terminates its instance later. */
const isEmptied = ({ phase, causes, handledBefore }: DisruptionState): boolean =>
  causes.some(
    ({ id, kind, followUp, isCancelled }) =>
      kind === 'Update' &&
      followUp === 'Release' &&
      !isCancelled &&
      (phase === 'Ended' || handledBefore.has(id)),
  );

interface Group {
  readonly nodeGroup: string;
  readonly autoScalingGroup: string;
}

class Pace {
  readonly #context: Context;
  readonly zones: ZoneSkew;
  readonly #wanted = new Wanted();
  readonly #groups = new Map<string, Group>();
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
    const autoScalingGroup = textOf(told ?? objectOr(object.spec).autoScalingGroupName);
    this.#groups.set(nodeGroup, { nodeGroup, autoScalingGroup });
    this.#wanted.take(object, at);
  }

  left(instanceId: string, state: string, at: number): void {
    if (leaving.test(state) && !this.#leftAt.has(instanceId)) this.#leftAt.set(instanceId, at);
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
    const members = [...book.cloud.instances.values()].filter(
      (each) => each.group === group.autoScalingGroup,
    );
    // If the trace comes from a cloud with another clock, it shows no instances to count.
    if (members.length === 0) return;
    const stay: InstanceState[] = [];
    let [gone, serving, launches] = [0, 0, isReplaced(update, one) ? 1 : 0];
    for (const member of members) {
      const { instanceId, state } = member;
      if (instanceId === one.instanceId) continue;
      const other = book.disruptions.ofInstance(instanceId);
      if (leaving.test(state)) {
        if (other !== undefined && isEmptied(other)) continue;
        const isYoung = book.now - (this.#leftAt.get(instanceId) ?? 0) <= book.lagMicros;
        if (isYoung) serving++;
        else if (state !== 'Terminated' && state !== '') gone++;
      } else if (
        other !== undefined &&
        isLetGo(update, other, book.now + (book.facts.clockSkew ?? 0))
      ) {
        gone++;
        if (isReplaced(update, other)) launches++;
      } else {
        stay.push(member);
        if (this.#serves(instanceId)) serving++;
      }
    }
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

  /** Ready, or unready so recently that the controller may not know it. */
  #serves(instanceId: string): boolean {
    const { book } = this.#context;
    const node = book.nodes.ofInstance(instanceId);
    if (node === undefined) return false;
    return node.ready || book.now - (node.unreadySince ?? 0) <= book.lagMicros;
  }
}

export const updatePace: Oracle = {
  name: 'updates-keep-their-pace',
  what:
    'while an update rolls no more than maxUnavailable nodes are out of service for it, and ' +
    'as many serve as are wanted less those',
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
