// One pass over one node group: observe, follow or carry out, report. Every effect comes after the
// status that tells of it, and is safe to repeat.
import { completeNodeGroup } from '../../api/adopted.ts';
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import {
  autoScalingGroupNameOf,
  isRetained,
  type NodeGroup,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import {
  marksComplaint,
  type Ownership,
  ownershipOf,
  type SizeChange,
} from '../../core/nodegroup/index.ts';
import { groupsNaming } from '../informers.ts';
import type { NodeGroupDeps } from './deps.ts';
import { journalWriteBack } from './events.ts';
import { readAdopted, withClusterName } from './lifecycle/adopted.ts';
import { adopt } from './lifecycle/adoption.ts';
import { createGroup } from './lifecycle/create.ts';
import { keepHooks } from './lifecycle/hooks.ts';
import { leaveTry } from './lifecycle/leave.ts';
import { leaveIssues } from './lifecycle/leaving-issues.ts';
import { releaseGroup } from './lifecycle/release.ts';
import { endRest, isEmpty, openBounds } from './lifecycle/remove.ts';
import { askedFor, isMissingFor, mayStand, wasSeen } from './memory.ts';
import { syncTemplate } from './nodes/labels.ts';
import { Marking } from './nodes/marking.ts';
import { observeHealth } from './nodes/observe.ts';
import type { Effect, PassInput } from './pass-input.ts';
import { type ReportFacts, report } from './report.ts';
import { leftOf } from './size/left.ts';
import { noSurge, seeSizes, sizesNow, withCall } from './size/request.ts';
import { setSizes } from './size/resize.ts';
import {
  isForced,
  keepsCause,
  lookAtScaleIn,
  runScaleIn,
  type ScaleIn,
  surplusOf,
  withdrawOthers,
} from './size/scale-in.ts';
import { planCalls, readSizes } from './size/size-calls.ts';
import { issueOfRefusal } from './trouble.ts';
import { beginUpdate } from './update/begin.ts';
import { endUpdate } from './update/config-update.ts';
import { type RolloutInput, retiringOf } from './update/input.ts';
import { resumeLate } from './update/late-processes.ts';
import { isStale, tendUpdates } from './update/lost.ts';
import {
  failUpdate,
  leftoverSurge,
  openUpdate,
  pruneUpdates,
  releaseUpdates,
} from './update/records.ts';
import { requestBySpec } from './update/requests.ts';
import { type Rollout, rollOut } from './update/rollout.ts';
import { writeBack } from './write.ts';

/** After an effect the cloud is looked at again this soon. */
const againMs = 1_000;
/** More than a shared look is old at most: each is another answer. */
const missingLookMs = 6_000;

export class Pass {
  readonly #deps: NodeGroupDeps;
  readonly #input: PassInput;
  readonly #found: { readonly scaling: ScalingGroup; readonly ownership: Ownership } | undefined;
  /** Undefined as long as it may not be touched, too. */
  #scaling: ScalingGroup | undefined;
  /** For so long that no answer that came too early says it any more. */
  readonly #isMissing: boolean;
  readonly #marking: Marking;
  #group: NodeGroup;
  /** The generation of the spec whose labels and taints the launch template has. */
  #templateGeneration: number | undefined;
  /** What of the group's size is an update's. */
  #surge: NonNullable<NodeGroupStatus['surge']>;
  #wrote = false;
  #hasActed = false;
  #nextAt: number = Number.POSITIVE_INFINITY;

  constructor(deps: NodeGroupDeps, input: PassInput) {
    const { group, scaling: found } = input;
    this.#deps = deps;
    this.#input = input;
    this.#group = group;
    this.#marking = new Marking(deps, group, input.memory);
    this.#isMissing = isMissingFor(input.memory, found, deps.clock.now());
    if (found !== undefined) {
      this.#group = withClusterName(deps, group, found);
      const others = groupsNaming(deps.nodeGroups, found.name);
      this.#found = { scaling: found, ownership: ownershipOf(this.#group, found.tags, others) };
      if (this.#found.ownership.kind !== 'foreign') this.#scaling = found;
    }
    const { status, metadata } = group;
    this.#surge = status?.surge ?? noSurge;
    // What is adopted is as its owner made it; a change after that is a request.
    const isFirstLook = status === undefined && this.#scaling !== undefined;
    this.#templateGeneration = isFirstLook ? metadata.generation : status?.templateGeneration;
  }

  /** When to look again, if sooner than usual. */
  async run(): Promise<EpochMs | undefined> {
    const isLeaving = this.#group.metadata.deletionTimestamp !== undefined;
    let goesOn: boolean;
    try {
      if (!(await this.#adopt())) goesOn = await this.#wait();
      else {
        await this.#read();
        goesOn = isLeaving ? await this.#leave() : await this.#live();
      }
    } finally {
      if (this.#hasActed) this.#input.memory.actedAt = this.#deps.clock.now();
    }
    if (goesOn && this.#wrote) {
      const { resourceVersion } = this.#group.metadata;
      await this.#deps.nodeGroups.observedAtLeast(resourceVersion, this.#input.signal);
    }
    return Number.isFinite(this.#nextAt) ? epochMs(this.#nextAt) : undefined;
  }

  /** False: what there is may not be touched yet. */
  async #adopt(): Promise<boolean> {
    const { memory, signal } = this.#input;
    if (this.#found === undefined || this.#scaling === undefined) return true;
    const { scaling, ownership } = this.#found;
    let isHeld = false;
    if (ownership.kind === 'named' || ownership.kind === 'free') this.#acted();
    await this.#attempt('adopt', async () => {
      const now = await adopt(this.#deps, this.#group, scaling, { ownership, memory, signal });
      if (now.kind !== 'held') this.#scaling = undefined;
      if (now.kind === 'later') this.#wake(now.at);
      isHeld = now.kind !== 'later';
    });
    return isHeld;
  }

  async #read(): Promise<void> {
    if (this.#scaling === undefined) return;
    this.#group = await readAdopted(this.#deps, this.#group, this.#scaling, this.#input);
  }

  /** Told where the mark is refused; otherwise a group has no status before it is ours. */
  async #wait(): Promise<boolean> {
    this.#scaling = undefined;
    if (!this.#input.memory.trouble.has('adopt')) return true;
    return this.#report({ target: this.#group.spec.scaling.desired ?? 0 });
  }

  /** False: the object is gone. */
  async #live(): Promise<boolean> {
    const { signal } = this.#input;
    const scaling = this.#scaling;
    const isGone = this.#isMissing || (this.#found !== undefined && scaling === undefined);
    const update = await tendUpdates(this.#deps, this.#group, isGone, signal);
    if (scaling && isStale(this.#group, update)) this.#wake(this.#deps.clock.now());
    if (update === undefined) await requestBySpec(this.#deps, this.#group, scaling, signal);
    else if (!(await this.#begin(update))) return false;
    if (scaling === undefined) {
      if (this.#found === undefined && !this.#isMissing && wasSeen(this.#group)) return true;
      if (!(await this.#report({ target: this.#group.spec.scaling.desired ?? 0 }))) return false;
      await this.#create();
      return true;
    }
    const { memory, roles } = this.#input;
    memory.trouble.delete('create');
    await keepHooks(this.#deps, this.#group, { scaling, memory }, signal);
    await this.#attempt('identity', () => roles.keep(this.#group, memory, signal));
    await this.#mark(scaling);
    if (!(await this.#resize(scaling, update))) return false;
    if (update !== undefined) {
      await endUpdate(this.#deps, this.#group, update, signal);
      await pruneUpdates(this.#deps, this.#group.metadata.name, signal);
    }
    return true;
  }

  async #begin(update: NodeGroupUpdate): Promise<boolean> {
    const input = { group: this.#group, scaling: this.#scaling, signal: this.#input.signal };
    return this.#take(await beginUpdate(this.#deps, { ...input, update }));
  }

  async #rollOut(
    scaling: ScalingGroup,
    update: NodeGroupUpdate | undefined,
    known: Pick<RolloutInput, 'health' | 'wanted' | 'taken'>,
  ): Promise<Rollout | undefined> {
    const { signal, memory } = this.#input;
    memory.isMoving = false;
    const input = { group: this.#group, scaling, update, ...known, memory, signal };
    const rollout = await rollOut(this.#deps, input);
    if (rollout?.made !== undefined) memory.made = rollout.made;
    this.#wake(rollout?.nextAt);
    return rollout;
  }

  /** Labels and taints. One that no node can have holds up these alone, not the sizes. */
  async #mark(scaling: ScalingGroup): Promise<void> {
    const { memory, signal } = this.#input;
    const { spec, status, metadata } = this.#group;
    if (marksComplaint(spec) !== undefined) {
      memory.trouble.delete('template');
      memory.trouble.delete('marks');
      return;
    }
    if (status !== undefined && this.#templateGeneration !== metadata.generation) {
      await this.#attempt('template', async () => {
        const isSynced = await syncTemplate(this.#deps, this.#group, scaling, signal);
        if (isSynced) this.#templateGeneration = metadata.generation;
      });
    }
    const trouble = await this.#marking.apply(this.#group, scaling, signal);
    this.#wake(trouble?.retryAt);
    if (trouble?.issue === undefined) memory.trouble.delete('marks');
    else memory.trouble.set('marks', trouble.issue);
  }

  async #create(): Promise<void> {
    // One that was whole is not made anew: its nodes are somebody's loss, not a size.
    if (this.#group.status?.createdAt !== undefined || this.#found !== undefined) return;
    if (marksComplaint(this.#group.spec) !== undefined) return;
    const { memory, roles, signal } = this.#input;
    await this.#attempt('create', async () => {
      await roles.admit(this.#group, signal);
      memory.made = await createGroup(this.#deps, this.#group, {
        asks: () => askedFor(memory),
        signal,
      });
      this.#acted();
    });
  }

  async #resize(scaling: ScalingGroup, update: NodeGroupUpdate | undefined): Promise<boolean> {
    const { signal, memory } = this.#input;
    const health = await observeHealth(this.#deps, this.#group, { scaling, memory }, signal);
    this.#wake(health.nextAt);
    const { issues } = health;
    // Before anything is decided on it: a wish that came meanwhile is not taken for the update's
    // own.
    const around = { update, memory: this.#input.memory.left };
    const left = await leftOf(this.#deps, this.#group, scaling, around, signal);
    const { late, ...read } = readSizes(this.#deps, this.#group, scaling, left);
    const seen = seeSizes(read.group, read.scaling, left);
    if (!(await this.#follow(seen.followed))) return false;
    const rollout = await this.#rollOut(scaling, update, {
      health,
      wanted: seen.wanted,
      taken: seen.settled.taken,
    });
    const surge = rollout?.surge ?? leftoverSurge(this.#deps, this.#group, scaling);
    const isUpdating = rollout !== undefined;
    const retiring = retiringOf(this.#deps, scaling, update);
    const sizes = sizesNow(this.#group, seen, { surge, isUpdating, retiring });
    this.#surge = sizes.surge;
    let { target } = sizes;
    // An update retires nodes itself.
    const look = { scaling, target: isUpdating ? undefined : target };
    const { view, failed, ...found } = lookAtScaleIn(this.#deps, this.#group, look);
    let { scaleIn, failure } = found;
    if (failed !== undefined) {
      // Told before the spec is set back: a process that dies in between still knows what failed.
      failure = failed;
      if (!(await this.#report({ target, scaleIn, failure, issues }))) return false;
      const desired = scaling.desiredCapacity;
      const { minSize, maxSize } = this.#group.spec.scaling;
      const restored = { minSize, maxSize: Math.max(maxSize, desired), desired };
      if (!(await this.#follow(restored))) return false;
      scaleIn = undefined;
      target = desired;
    }
    const sums = { ...this.#group.spec.scaling, target, lower: rollout?.lower };
    if (isUpdating) this.#surge = withCall(this.#surge, seen.settled, scaling, sums);
    const asked = { sums, surge: this.#surge, isUpdating, scaleIn, late, left };
    const { change, sizeCalls } = planCalls(this.#deps, this.#group, scaling, asked);
    const told = { target, scaleIn, failure, issues, sizeCalls, updating: rollout?.updating };
    if (!(await this.#report(told))) return false;
    const keep = scaleIn && view ? keepsCause(view, scaleIn.id) : () => false;
    await withdrawOthers(this.#deps, { group: this.#group, scaling }, keep, signal);
    await this.#attempt('sizes', () => this.#changeSizes(scaling, change));
    if (scaleIn !== undefined) await this.#runScaleIn(scaling, scaleIn);
    await this.#attempt('update', () => (rollout ? rollout.act() : this.#resumeLate(scaling)));
    return true;
  }

  async #resumeLate(scaling: ScalingGroup): Promise<void> {
    const { signal, memory } = this.#input;
    const look = { scaling, memory: memory.lateCall };
    if (await resumeLate(this.#deps, this.#group, look, signal)) this.#acted();
  }

  async #changeSizes(scaling: ScalingGroup, change: SizeChange | undefined): Promise<void> {
    if (change === undefined) return;
    this.#acted();
    await setSizes(this.#deps, scaling, change, this.#input.signal);
  }

  async #runScaleIn(scaling: ScalingGroup, scaleIn: ScaleIn): Promise<void> {
    if (surplusOf(scaling, scaleIn.target) > 0 || scaling.desiredCapacity > scaleIn.target) {
      this.#acted(isForced(this.#group) ? againMs : againMs * 5);
    }
    await runScaleIn(this.#deps, this.#group, scaling, scaleIn, this.#input.signal);
  }

  async #follow(scaling: NodeGroup['spec']['scaling']): Promise<boolean> {
    const { minSize, maxSize, desired } = this.#group.spec.scaling;
    const same =
      scaling.minSize === minSize && scaling.maxSize === maxSize && scaling.desired === desired;
    if (same) return true;
    const { generation } = this.#group.metadata;
    const written = await writeBack(this.#deps, this.#group, scaling, this.#input.signal);
    // Sizes alone were written, on what the template was made for.
    if (written !== undefined && this.#templateGeneration === generation) {
      this.#templateGeneration = written.metadata.generation;
    }
    if (written !== undefined) journalWriteBack(this.#deps.journal, this.#group, scaling);
    return this.#take(written);
  }

  // ---- a group that is being deleted ----

  async #leave(): Promise<boolean> {
    const { signal } = this.#input;
    const update = openUpdate(this.#deps, this.#group);
    if (update !== undefined) await failUpdate(this.#deps, this.#group, update, signal);
    await releaseUpdates(this.#deps, this.#group.metadata.name, { isGroupGone: true }, signal);
    // It goes with the rest of the group; a release sets it back.
    if (!isRetained(this.#group)) this.#surge = noSurge;
    const now = this.#deps.clock.now();
    if (mayStand(this.#input.memory, this.#group, this.#found, now)) {
      this.#wake(epochMs(now + missingLookMs));
      return true;
    }
    const scaling = this.#scaling;
    if (scaling !== undefined && isRetained(this.#group)) return this.#release(scaling);
    if (scaling === undefined || isEmpty(scaling)) return this.#end();
    const { keep, dueAt, ...told } = leaveTry(this.#deps, this.#group, scaling, this.#input.memory);
    this.#wake(dueAt);
    if (!(await this.#report({ target: 0, ...told }))) return false;
    const { scaleIn } = told;
    await withdrawOthers(this.#deps, { group: this.#group, scaling }, keep, signal);
    if (scaleIn === undefined) return true;
    await openBounds(this.#deps, this.#group, scaling, signal);
    this.#acted(againMs * 5);
    await runScaleIn(this.#deps, this.#group, scaling, scaleIn, signal);
    return true;
  }

  async #release(scaling: ScalingGroup): Promise<boolean> {
    const { updating, scaleIn } = this.#group.status ?? {};
    const releasing = this.#input.memory.releasing ?? '';
    const told = { target: scaling.desiredCapacity, releasing, updating, scaleIn };
    if (!(await this.#report(told))) return false;
    this.#acted();
    let isReleased = false;
    await this.#attempt('release', async () => {
      isReleased = await releaseGroup(this.#deps, this.#group, scaling, this.#input);
    });
    return !isReleased;
  }

  async #end(): Promise<boolean> {
    const rest = await endRest(this.#deps, this.#group, this.#input);
    if (rest.kind === 'gone') return false;
    this.#acted(rest.againMs);
    const issues = leaveIssues(this.#group, rest);
    return rest.failure === undefined || this.#report({ target: 0, failure: rest.failure, issues });
  }

  /** Runs an effect; what no retry mends becomes a health issue instead of an error. */
  async #attempt(name: Effect, effect: () => Promise<void>): Promise<void> {
    const { trouble } = this.#input.memory;
    try {
      await effect();
      trouble.delete(name);
    } catch (error) {
      const issue = issueOfRefusal(error, autoScalingGroupNameOf(this.#group));
      if (issue === undefined) throw error;
      // Told by the next pass, at once when it is news.
      if (trouble.get(name)?.message !== issue.message) this.#wake(this.#deps.clock.now());
      trouble.set(name, issue);
    }
  }

  async #report(facts: ReportFacts): Promise<boolean> {
    const written = await report(this.#deps, this.#input, {
      ...facts,
      group: this.#group,
      scaling: this.#scaling,
      found: this.#found,
      isMissing: this.#isMissing,
      marking: this.#marking,
      surge: this.#surge,
      templateGeneration: this.#templateGeneration,
    });
    return this.#take(written);
  }

  /** Goes on with the group as a write left it; false when it is gone. */
  #take(written: NodeGroup | undefined): boolean {
    if (written === undefined) return false;
    this.#wrote ||= written !== this.#group;
    this.#group = completeNodeGroup(written, this.#input.memory.adopted?.facts);
    return true;
  }

  #acted(againInMs = againMs): void {
    this.#hasActed = true;
    this.#wake(epochMs(this.#deps.clock.now() + againInMs));
  }

  #wake(at: EpochMs | undefined): void {
    if (at !== undefined) this.#nextAt = Math.min(this.#nextAt, at);
  }
}
