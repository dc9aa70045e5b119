// Oracle 5, the part that holds for terminations: a group's desired size lies within its min and
// max whenever it is told or changed, no call of ours asks for another or for fewer than there are
// (the surplus of an update of EKS' strategy with force apart, which goes one by one), none for
// more than the spec and the surge that was noted before, and in the end the size that is told is
// that of the group: who changes it from outside is followed.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { followedAnnotation } from '../../../src/api/nodegroup.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import { AskedSizes } from '../state/asked-sizes.ts';
import type { Call } from '../state/book.ts';
import type { Scaling } from '../state/cloud.ts';
import { microsPerMinute, numberOf, textOf } from '../state/read.ts';

/** A group that has stood still for so long has been looked at several times. */
const followedWithinMicros = 2 * microsPerMinute;
/** Auto Scaling tries again after some minutes where EC2 had nothing to give. */
const scarceMicros = 10 * microsPerMinute;
/**
 * Beside an update its group is looked at every few seconds; a drain that ends meanwhile was asked
 * for before.
 */
const unseenMicros = microsPerMinute;
const scarce = new Set(['no-capacity', 'no-addresses']);
const leaving = /^(?:Terminat|Detach|$)/;

/**
 * With force EKS' strategies take a surplus back like this: one at a time, Auto Scaling chooses,
 * its hook drains and pods that are left then are deleted. Without it nobody has asked for that.
 * That of MINIMAL was left over by an update before it.
 */
const takesSurplus = ({ book }: Context, nodeGroup: string): boolean => {
  const update = book.updates.openOf(nodeGroup);
  return (
    update?.isForced === true &&
    update.phase === 'ScalingDown' &&
    !/^(?:SURGE|BLUE_GREEN)$/.test(update.strategy)
  );
};

/** Where nothing comes or goes any more, a group has as many instances as it wants. */
const checkFollowed = (
  { book, saw, report }: Context,
  told: ReadonlyMap<string, number>,
  movedAt: ReadonlyMap<string, number>,
): void => {
  for (const [group, desired] of told) {
    const since = movedAt.get(group);
    if (since === undefined || book.now - since < followedWithinMicros) continue;
    let members = 0;
    for (const instance of book.cloud.instances.values()) {
      if (instance.group === group && !leaving.test(instance.state)) members++;
    }
    saw();
    if (members === desired) continue;
    report({ subject: group, message: `told as ${desired}, and it has ${members} instances` });
  }
};

/**
 * An update has others replaced meanwhile: what counts is how many the group wants when one is
 * retired.
 */
const isRetired = ({ book }: Context, instanceId: string): boolean =>
  (book.disruptions.ofInstance(instanceId)?.causes ?? []).some(
    ({ kind, followUp }) => kind === 'Update' && followUp === 'Terminate',
  );

/** What the spec has asked for lately: the smallest counts, since we may have seen any of them. */
class Wishes {
  readonly #told = new Map<string, { readonly at: number; readonly desired: number }[]>();

  take(group: string, at: number, object: JsonObject): void {
    const { metadata, spec } = object;
    const { minSize, desired } = objectOr(objectOr(spec).scaling);
    const isLeaving = objectOr(metadata).deletionTimestamp !== undefined;
    const wish = isLeaving ? 0 : (numberOf(desired) ?? numberOf(minSize) ?? 0);
    const all = this.#told.get(group) ?? [];
    if (all.at(-1)?.desired !== wish) this.#told.set(group, [...all, { at, desired: wish }]);
  }

  least(group: string, since: number): number | undefined {
    const all = this.#told.get(group);
    if (all === undefined) return undefined;
    const young = all.filter((_, i) => (all[i + 1]?.at ?? Number.POSITIVE_INFINITY) >= since);
    return Math.min(...young.map(({ desired }) => desired));
  }
}

interface SizeChange {
  readonly at: number;
  readonly by: number;
  /**
   * An instance that was terminated with its place while an update had more of them than people
   * want.
   */
  readonly isOfSurplus?: true;
}

/**
 * Whether a size in the spec that we wrote back was somebody's wish: somebody must have changed the
 * group before.
 */
class OthersSizes {
  readonly #sizes = new Map<string, number>();
  /** Changes of the group that are nobody's call of ours, since a wish was last written back. */
  readonly #changes = new Map<string, readonly SizeChange[]>();
  readonly #asked = new Map<string, number | undefined>();
  /** The size of others of which the spec's maximum cut off a part when it was written back. */
  readonly #cutOff = new Map<string, number | undefined>();
  /** The surplus that was told with them. */
  readonly #surplus = new Map<string, { readonly surge: number; readonly retiring: number }>();

  scaled({ autoScalingGroupName: group, desired, at }: Scaling): void {
    const before = this.#sizes.get(group);
    this.#sizes.set(group, desired);
    if (before === undefined || before === desired) return;
    const all = this.#changes.get(group) ?? [];
    this.#changes.set(group, [...all, { at, by: desired - before }]);
  }

  /**
   * A call of ours that ends an instance, or sets `desired`: what it changed is told just before
   * it.
   */
  called(group: string, at: number, desired?: number): void {
    const all = this.#changes.get(group) ?? [];
    const own = all.findLastIndex(
      (one) =>
        one.at === at &&
        (desired === undefined ? one.by === -1 : this.#sizes.get(group) === desired),
    );
    if (own < 0) return;
    this.#changes.set(group, all.toSpliced(own, 1));
    this.#cutOff.delete(group);
  }

  /**
   * An instance that others terminated with its place, as an autoscaler does; its change is told
   * just before it.
   */
  terminated(group: string, at: number): void {
    const all = this.#changes.get(group) ?? [];
    const last = all.findLastIndex((one) => one.at === at && one.by === -1);
    const { surge = 0, retiring = 0 } = this.#surplus.get(group) ?? {};
    const now = this.#sizes.get(group) ?? 0;
    const wanted = (this.#asked.get(group) ?? Number.POSITIVE_INFINITY) + retiring;
    if (last < 0 || surge === 0 || now < wanted) return;
    this.#changes.set(group, all.with(last, { at, by: -1, isOfSurplus: true }));
  }

  /** By how many others have made the group smaller since then, as nobody has written back yet. */
  smallerBy(group: string, since: number): number {
    const young = (this.#changes.get(group) ?? []).filter(({ at }) => at >= since);
    return Math.max(0, -young.reduce((sum, { by }) => sum + by, 0));
  }

  /**
   * Who wrote back `by` may not have seen the newest ones yet: those younger than a look that are
   * not in it are kept.
   */
  #takeUp(group: string, by: number, since: number): void {
    const all = this.#changes.get(group) ?? [];
    let sum = 0;
    const last = all.findIndex((one) => {
      sum += one.by;
      return sum === by;
    });
    const rest = last < 0 ? [] : all.slice(last + 1).filter(({ at }) => at >= since);
    this.#changes.set(group, rest);
  }

  /** Of a version of a NodeGroup that is a write-back of ours; a scale-in that failed says so. */
  followedBy(
    group: string,
    { metadata, spec, status }: JsonObject,
    since: number,
  ): { readonly desired: number; readonly isWish: boolean } | undefined {
    const { annotations, generation } = objectOr(metadata);
    const desired = numberOf(objectOr(objectOr(spec).scaling).desired);
    const before = this.#asked.get(group);
    this.#asked.set(group, desired);
    const surge = objectOr(objectOr(status).surge);
    const noted = { surge: numberOf(surge.desired) ?? 0, retiring: numberOf(surge.retiring) ?? 0 };
    this.#surplus.set(group, noted);
    const isFollowed = objectOr(annotations)[followedAnnotation] === String(generation);
    if (!isFollowed || before === undefined || desired === undefined) return undefined;
    if (before === desired || objectOr(status).failure !== undefined) return undefined;
    // Where nothing tells of sizes, as on a real API server, nobody knows whose it was.
    const isOfPeople = ({ isOfSurplus }: SizeChange): boolean =>
      desired > before || isOfSurplus === undefined;
    const size = this.#sizes.get(group);
    const isRest = size === desired && this.#cutOff.get(group) === desired;
    const isWish =
      size === undefined || isRest || (this.#changes.get(group) ?? []).some(isOfPeople);
    const { maxSize } = objectOr(objectOr(spec).scaling);
    const isCut = size !== undefined && size > desired && numberOf(maxSize) === desired;
    this.#cutOff.set(group, isCut ? size : undefined);
    this.#takeUp(group, desired - before, since);
    return { desired, isWish };
  }
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

export const capacity: Oracle = {
  name: 'desired-within-bounds',
  what: 'desired size lies within min and max whenever told or asked for, and is the group’s in the end',
  strategies: both,
  needs: ['object'],
  watch: (context) => {
    const { book, saw, report } = context;
    const known = new Map<string, Bounds>();
    const told = new Map<string, number>();
    const movedAt = new Map<string, number>();
    const wishes = new Wishes();
    const leftAt = new Map<string, number>();
    const joinedAt = new Map<string, number>();
    const forced = new Map<string, boolean>();
    const nodeGroupOf = new Map<string, string>();
    const taken = new Set<string>();
    /** The size in the spec that its controller has taken note of, in `status.requested`. */
    const noted = new Map<string, number>();
    const asked = new AskedSizes();
    /** Sizes that somebody has set, where that was seen. */
    const set = new Map<string, number>();
    const others = new OthersSizes();
    /** Auto Scaling would choose among instances whose nodes nobody has drained. */
    const checkLowered = (group: string, desired: number): void => {
      // Somebody else had made it smaller yet: it grows.
      if (forced.get(group) !== false || desired >= (set.get(group) ?? Infinity)) return;
      let [members, going] = [0, 0];
      for (const one of book.cloud.instances.values()) {
        if (one.group !== group || one.state === 'Terminated') continue;
        if (leaving.test(one.state)) going++;
        else if (book.now - (joinedAt.get(one.instanceId) ?? 0) > book.lagMicros) members++;
      }
      saw();
      if (members <= desired) return;
      const isSurplus = takesSurplus(context, nodeGroupOf.get(group) ?? '');
      if (isSurplus && going === 0 && members === desired + 1) return;
      const message = isSurplus
        ? `made smaller to ${desired} while ${members} instances are in it and ${going} on their way out`
        : `made smaller to ${desired} while ${members} instances are in it`;
      report({ subject: group, message });
    };
    /** A scale-in of ours leaves as many instances as were asked for. */
    const checkTaken = (entry: Call): void => {
      const instanceId = textOf(entry.input.InstanceId);
      const group = book.cloud.instances.get(instanceId)?.group ?? '';
      // Asked for again, as its answer was lost: what goes already makes nothing smaller.
      if (taken.has(instanceId)) return;
      taken.add(instanceId);
      const wish = wishes.least(group, book.now - book.lagMicros);
      if (wish === undefined) return;
      let members = 0;
      for (const one of book.cloud.instances.values()) {
        if (one.group !== group || one.instanceId === instanceId) continue;
        // Somebody else's instance that has just gone, and we could not know.
        const young = book.now - (leftAt.get(one.instanceId) ?? 0) <= book.lagMicros;
        if (!leaving.test(one.state) || (young && !taken.has(one.instanceId))) members++;
      }
      saw();
      if (members >= wish) return;
      // What others take is taken for a wish when it is seen: an update's own is one fewer then as
      // well.
      const unseen = others.smallerBy(group, book.now - unseenMicros);
      const wanted = book.cloud.groups.get(group)?.desired ?? 0;
      // A size that no pass could take note of, while the cloud answers none, is made good by the
      // next one.
      const least = Math.min(wish, noted.get(group) ?? wish);
      if (isRetired(context, instanceId) && wanted + unseen >= least) return;
      const message = `a scale-in left ${members} instances where ${wish} were asked for`;
      report({ subject: group, message });
    };
    /** What an update has more than people want is told first. */
    const checkAsked = (group: string, desired: number): void => {
      const most = asked.most(group, book.now - book.lagMicros);
      if (most === undefined || !asked.grows(group, desired)) return;
      saw();
      if (desired <= most) return;
      // Nothing fences what a leader that stood still sends then: its successors take it back.
      if (book.mayLeaderBeLate && asked.isNoted(group, desired)) return;
      const message = `made larger to ${desired} where spec and noted surge ask for ${most}`;
      report({ subject: group, message });
    };
    let scarceAt = Number.NEGATIVE_INFINITY;
    const check = (group: string, size: Bounds & { readonly desired: number }): void => {
      saw();
      if (size.desired >= size.min && size.desired <= size.max) return;
      report({
        subject: group,
        message: `desired size ${size.desired} is outside ${size.min} to ${size.max}`,
      });
    };
    return {
      object: ({ type, resource, object, at }) => {
        if (resource !== 'nodegroups' || !book.isNewVersion) return;
        const status = objectOr(object.status);
        const { minSize, maxSize, desired, autoScalingGroupName } = status;
        const group = textOf(autoScalingGroupName ?? objectOr(object.spec).autoScalingGroupName);
        if (type === 'DELETED') {
          told.delete(group);
          return;
        }
        const [min, max] = [numberOf(minSize), numberOf(maxSize)];
        if (min === undefined || max === undefined) return;
        known.set(group, { min, max });
        const { desired: requested } = objectOr(status.requested);
        const request = numberOf(requested);
        if (request !== undefined) noted.set(group, request);
        wishes.take(group, at, object);
        asked.take(group, at, object);
        const followed = others.followedBy(group, object, at - book.lagMicros);
        if (followed !== undefined) saw();
        if (followed?.isWish === false) {
          const message = `wrote ${followed.desired} to the spec, which nobody but we had set`;
          report({ subject: group, message });
        }
        const { annotations } = objectOr(object.metadata);
        nodeGroupOf.set(group, textOf(objectOr(object.metadata).name));
        forced.set(group, objectOr(annotations)['drover.dev/force'] === 'true');
        check(group, { min, max, desired: numberOf(desired) ?? 0 });
        told.set(group, numberOf(desired) ?? 0);
      },
      lifecycle: ({ instanceId, at, state }) => {
        if (!joinedAt.has(instanceId)) joinedAt.set(instanceId, at);
        if (leaving.test(state) && !leftAt.has(instanceId)) leftAt.set(instanceId, at);
        movedAt.set(book.cloud.instances.get(instanceId)?.group ?? '', at);
      },
      scaling: (entry) => {
        asked.scaled(entry);
        others.scaled(entry);
      },
      fault: ({ fault, at }) => {
        if (scarce.has(fault)) scarceAt = at;
      },
      end: () => {
        if (book.now - scarceAt < scarceMicros) return;
        if (book.facts.settled) checkFollowed(context, told, movedAt);
      },
      call: (entry) => {
        if (entry.service !== 'autoscaling' || entry.error !== undefined) return;
        const isTermination = entry.operation === 'TerminateInstanceInAutoScalingGroup';
        if (isTermination && entry.input.ShouldDecrementDesiredCapacity === true) {
          const { group } = book.cloud.instances.get(textOf(entry.input.InstanceId)) ?? {};
          if (book.isOurs(entry)) others.called(group ?? '', entry.at);
          if (book.isOurs(entry)) checkTaken(entry);
          else others.terminated(group ?? '', entry.at);
          const before = set.get(group ?? '');
          if (group !== undefined && before !== undefined) set.set(group, before - 1);
        }
        const { AutoScalingGroupName, MinSize, MaxSize, DesiredCapacity } = entry.input;
        const group = textOf(AutoScalingGroupName);
        if (group === '') return;
        if (book.isOurs(entry)) others.called(group, entry.at, numberOf(DesiredCapacity) ?? 0);
        const bounds = known.get(group);
        const min = numberOf(MinSize) ?? bounds?.min;
        const max = numberOf(MaxSize) ?? bounds?.max;
        if (min === undefined || max === undefined) return;
        known.set(group, { min, max });
        const desired = numberOf(DesiredCapacity);
        if (desired === undefined) {
          const before = set.get(group);
          if (before !== undefined) set.set(group, Math.max(min, Math.min(max, before)));
          return;
        }
        if (book.isOurs(entry)) {
          check(group, { min, max, desired });
          checkLowered(group, desired);
          if (entry.operation === 'UpdateAutoScalingGroup') checkAsked(group, desired);
        }
        set.set(group, desired);
      },
    };
  },
};
