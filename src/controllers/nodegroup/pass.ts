// One pass over one node group: adopts, creates or deletes its Auto Scaling group, then observes,
// decides, applies and reports. Changes of sizes and updates follow the status that reports them;
// the tags of an adoption and a removal follow none.
import { completeNodeGroup } from '../../api/adopted.ts';
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import {
  autoScalingGroupNameOf,
  type HealthIssue,
  isRetained,
  type NodeGroup,
  type NodeGroupScaling,
} from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { GroupPlan } from '../../api/plan.ts';
import {
  decideAdoption,
  decideCreation,
  decideGroup,
  decideLeaving,
  decideRelease,
  decideRemoval,
  isEmpty,
  noSurge,
  removalFailure,
} from '../../core/group-plan/index.ts';
import { marksComplaint, type Ownership, ownershipOf } from '../../core/nodegroup/index.ts';
import { groupsNaming } from '../informers.ts';
import { applyGroupPlan, applySteps, type PlanHost, type PlanRun } from './apply.ts';
import type { NodeGroupDeps } from './deps.ts';
import { journalWriteBack } from './events.ts';
import { Impossible } from './impossible.ts';
import { readAdopted, withClusterName } from './lifecycle/adopted.ts';
import { observeCreation } from './lifecycle/create.ts';
import { leaveIssues } from './lifecycle/deletion-issues.ts';
import { keepHooks } from './lifecycle/hooks.ts';
import { observeRelease } from './lifecycle/release.ts';
import { observeRemoval } from './lifecycle/remove.ts';
import { isMissingFor, mayStand, wasSeen } from './memory.ts';
import { syncTemplate } from './nodes/labels.ts';
import { Marking } from './nodes/marking.ts';
import { observeGroup, observeLeaving } from './observe.ts';
import { issueOfRefusal } from './own-issues.ts';
import type { Effect, PassInput } from './pass-input.ts';
import { type ReportFacts, report } from './report.ts';
import { beginUpdate } from './update/begin.ts';
import { endUpdate } from './update/config-update.ts';
import { isStale, tendUpdates } from './update/lost.ts';
import { failUpdate, openUpdate, pruneUpdates, releaseUpdates } from './update/records.ts';
import { requestBySpec } from './update/requests.ts';
import { writeBack } from './write.ts';

/** After an effect the controller reads the cloud again after this time. */
const againMs = 1_000;
/** Longer than a shared read is reused, so that each pass gets a new answer. */
const missingLookMs = 6_000;
/** A part of a deleted group that is in use elsewhere is tried again after this. */
const inUseAgainMs = 10_000;

export class Pass {
  readonly #deps: NodeGroupDeps;
  readonly #input: PassInput;
  readonly #found: { readonly scaling: ScalingGroup; readonly ownership: Ownership } | undefined;
  /** Undefined also while the Auto Scaling group must not be changed. */
  #scaling: ScalingGroup | undefined;
  /** Missing for so long that eventual consistency cannot explain it. */
  readonly #isMissing: boolean;
  readonly #marking: Marking;
  #group: NodeGroup;
  /** The generation of the spec whose labels and taints are in the launch template. */
  #templateGeneration: number | undefined;
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
    // An adopted group is as its owner created it; a later change is a request.
    const isFirstLook = status === undefined && this.#scaling !== undefined;
    this.#templateGeneration = isFirstLook ? metadata.generation : status?.templateGeneration;
  }

  /** When to reconcile again, if earlier than usual. */
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

  /** False: the existing group must not be touched yet. */
  async #adopt(): Promise<boolean> {
    const { memory } = this.#input;
    if (this.#found === undefined || this.#scaling === undefined) return true;
    const { scaling, ownership } = this.#found;
    let isHeld = false;
    const now = this.#deps.clock.now();
    if (ownership.kind === 'named' || ownership.kind === 'free') this.#acted();
    if (ownership.kind === 'own') memory.markedAt ??= now;
    await this.#attempt('adopt', async () => {
      const { markedAt } = memory;
      const seen = { group: this.#group, scaling, ownership, markedAt, now };
      const { plan, outcome } = decideAdoption(seen);
      await applySteps(this.#deps, this.#runOf(plan));
      if (outcome !== 'held') this.#scaling = undefined;
      if (plan.nextCheckAt !== undefined) this.#wake(epochMs(plan.nextCheckAt));
      isHeld = outcome !== 'later';
    });
    return isHeld;
  }

  async #read(): Promise<void> {
    if (this.#scaling === undefined) return;
    this.#group = await readAdopted(this.#deps, this.#group, this.#scaling, this.#input);
  }

  /** Reports if tagging is refused. Otherwise a group has no status before it is adopted. */
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
    await keepHooks(this.#deps, this.#group, { scaling, input: this.#input });
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

  /** Applies labels and taints. Invalid ones hold up only these, not the sizes. */
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
    // A group that was complete once is not created again: its disappearance is an incident, not a
    // request for a new size.
    if (this.#group.status?.createdAt !== undefined || this.#found !== undefined) return;
    if (marksComplaint(this.#group.spec) !== undefined) return;
    const { memory, signal } = this.#input;
    await this.#attempt('create', async () => {
      const observation = await observeCreation(this.#deps, this.#group, signal);
      const { plan, made } = decideCreation(observation);
      const applied = await applySteps(this.#deps, this.#runOf(plan));
      if (applied === 'done' && made !== undefined) memory.made = made;
      this.#acted();
    });
  }

  /** Observes, decides and applies: sizes, scale-in and the update in progress. */
  async #resize(scaling: ScalingGroup, update: NodeGroupUpdate | undefined): Promise<boolean> {
    const { signal, memory } = this.#input;
    const input = { group: this.#group, scaling, update, memory, signal };
    const { observation, issues } = await observeGroup(this.#deps, input);
    const { plan, isActing, rollout } = decideGroup(observation);
    memory.isMoving = rollout?.isMoving === true;
    if (rollout?.made !== undefined) memory.made = rollout.made;
    if (rollout?.noting !== undefined) memory.noting = rollout.noting;
    this.#hasActed ||= isActing;
    return this.#apply(scaling, update, { plan, issues });
  }

  async #apply(
    scaling: ScalingGroup,
    update: NodeGroupUpdate | undefined,
    { plan, issues }: { readonly plan: GroupPlan; readonly issues: readonly HealthIssue[] },
  ): Promise<boolean> {
    const { signal, memory, roles } = this.#input;
    const host = this.#host(issues);
    if (plan.nextCheckAt !== undefined) this.#wake(epochMs(plan.nextCheckAt));
    const run = { plan, host, scaling, update, memory, roles, signal };
    return (await applyGroupPlan(this.#deps, run)) !== 'gone';
  }

  #host(issues: readonly HealthIssue[]): PlanHost {
    return {
      group: () => this.#group,
      writeSpecSizes: (step) => this.#writeSpecSizes(step.scaling),
      writeStatus: (record) => this.#report({ ...record, issues }),
      attempt: (name, effect) => this.#attempt(name, effect),
    };
  }

  async #writeSpecSizes(scaling: NodeGroupScaling): Promise<boolean> {
    const { generation } = this.#group.metadata;
    const written = await writeBack(this.#deps, this.#group, scaling, this.#input.signal);
    // Only sizes were written, so the template still matches the spec's marks.
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
    const now = this.#deps.clock.now();
    if (mayStand(this.#input.memory, this.#group, this.#found, now)) {
      this.#wake(epochMs(now + missingLookMs));
      return true;
    }
    const scaling = this.#scaling;
    if (scaling !== undefined && isRetained(this.#group)) return this.#release(scaling);
    if (scaling === undefined || isEmpty(scaling)) return this.#end();
    return this.#drainAll(scaling);
  }

  /** Observes, decides and applies: every node is drained before the group is deleted. */
  async #drainAll(scaling: ScalingGroup): Promise<boolean> {
    const { memory, signal } = this.#input;
    const input = { group: this.#group, scaling, memory, signal };
    const observation = await observeLeaving(this.#deps, input);
    const { plan, isActing, failure, draining } = decideLeaving(observation);
    const held = { failure, draining, memory: memory.held, now: observation.now };
    const issues = leaveIssues(this.#group, held);
    this.#hasActed ||= isActing;
    return this.#apply(scaling, undefined, { plan, issues });
  }

  async #release(scaling: ScalingGroup): Promise<boolean> {
    const { signal } = this.#input;
    this.#acted();
    let isGone = false;
    await this.#attempt('release', async () => {
      const observation = await observeRelease(this.#deps, this.#group, scaling, signal);
      isGone = (await applySteps(this.#deps, this.#runOf(decideRelease(observation)))) === 'gone';
    });
    return !isGone;
  }

  async #end(): Promise<boolean> {
    const { memory } = this.#input;
    const observation = await observeRemoval(this.#deps, this.#group, this.#input);
    try {
      const run = this.#runOf(decideRemoval(observation));
      if ((await applySteps(this.#deps, run)) === 'gone') return false;
      this.#acted();
      return true;
    } catch (error) {
      if (!(error instanceof Impossible)) throw error;
      this.#acted(inUseAgainMs);
      const now = this.#deps.clock.now();
      memory.inUseSince ??= now;
      const times = { since: memory.inUseSince, now };
      const failure = removalFailure(this.#group, error.issue, times);
      const issues = leaveIssues(this.#group, { failure });
      return failure === undefined || this.#report({ target: 0, failure, issues });
    }
  }

  /** Runs a plan that concerns neither sizes nor an update; a refusal ends it. */
  #runOf(plan: GroupPlan, issues: readonly HealthIssue[] = []): PlanRun {
    const { memory, roles, signal } = this.#input;
    const host = {
      ...this.#host(issues),
      attempt: (_: Effect, effect: () => Promise<void>) => effect(),
    };
    return { plan, host, scaling: this.#scaling, update: undefined, memory, roles, signal };
  }

  /** Runs an effect; an error that retrying cannot fix becomes a health issue. */
  async #attempt(name: Effect, effect: () => Promise<void>): Promise<void> {
    const { trouble } = this.#input.memory;
    try {
      await effect();
      trouble.delete(name);
    } catch (error) {
      const issue = issueOfRefusal(error, autoScalingGroupNameOf(this.#group));
      if (issue === undefined) throw error;
      // The next pass reports it; a new issue is reported at once.
      if (trouble.get(name)?.message !== issue.message) this.#wake(this.#deps.clock.now());
      trouble.set(name, issue);
    }
  }

  async #report(facts: ReportFacts): Promise<boolean> {
    // The surge is deleted together with the group; a release keeps its record to restore the
    // sizes.
    const { deletionTimestamp } = this.#group.metadata;
    const isLeaving = deletionTimestamp !== undefined && !isRetained(this.#group);
    const written = await report(this.#deps, this.#input, {
      ...facts,
      group: this.#group,
      scaling: this.#scaling,
      found: this.#found,
      isMissing: this.#isMissing,
      marking: this.#marking,
      surge: facts.surge ?? (isLeaving ? noSurge : (this.#group.status?.surge ?? noSurge)),
      templateGeneration: this.#templateGeneration,
    });
    return this.#take(written);
  }

  /** Continues with the group as a write left it; false if the group is gone. */
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
