// The part of a version update in a group's plan: preparation, records and setup before its first
// step, then the steps that core/update decides. Pure.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { jsonEqual } from '../../api/json.ts';
import type { UpdateNote } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate, Revision } from '../../api/nodegroup-update.ts';
import type { GroupStep } from '../../api/plan.ts';
import { decideUpdate, turnOf, type UpdateDecision, type UpdateSurge } from '../update/index.ts';
import { suspendedOf } from './members.ts';
import type { GroupObservation, RolloutFacts } from './observation.ts';
import { noSurge } from './requests.ts';

/** What an update contributes to its group's plan. */
export interface RolloutPart {
  readonly surge: UpdateSurge;
  /** The desired size to lower the group to; set in the same call as the other sizes. */
  readonly lower?: number;
  /** The group's status record of the update, while it runs. */
  readonly updating: UpdateNote | undefined;
  /** The group's revision once all its nodes run the target version. */
  readonly made?: Omit<Revision, 'templateVersion'>;
  /** Steps before the group's status is written. */
  readonly first: readonly GroupStep[];
  /** Steps after its sizes are set. */
  readonly last: readonly GroupStep[];
  readonly nextAt: EpochMs | undefined;
  readonly isMoving: boolean;
  readonly noting?: RolloutFacts['noting'];
  readonly decision?: UpdateDecision;
}

/** The facts that restoring the group needs; recorded before the first effect. */
export const noteOf = (
  { group }: Pick<GroupObservation, 'group'>,
  { update, instances }: RolloutFacts['observation'],
): UpdateNote | undefined => {
  const { metadata, status } = update;
  const { strategy, from, target, original, skippedTypes, restored } = status ?? {};
  const { suspends, suspendedIn } = status ?? {};
  if (strategy === undefined || from === undefined || original === undefined) return undefined;
  if (target === undefined) return undefined;
  const known = group.status?.updating;
  const old = instances.filter(({ isCounted, isTarget }) => isCounted && !isTarget);
  return {
    name: metadata.name,
    turn: turnOf(update),
    strategy,
    from,
    target,
    original,
    nodes: known?.name === metadata.name ? known.nodes : old.length,
    surge: status?.surge ?? 0,
    maxUnavailable: status?.maxUnavailable ?? 1,
    ...defined({ suspends, suspendedIn, restored }),
    ...defined({ skippedTypes: skippedTypes?.map(({ type }) => type) }),
  };
};

/**
 * If a record is still missing after this many writes, the served CustomResourceDefinition lacks
 * its field.
 */
const maxNotings = 3;

/** How often the record was written, if it must be written again; undefined: it is stored. */
const notingOf = (
  { group }: Pick<GroupObservation, 'group'>,
  { noting }: RolloutFacts,
  note: UpdateNote | undefined,
): RolloutFacts['noting'] => {
  if (note === undefined || jsonEqual(group.status?.updating, note)) return undefined;
  const text = JSON.stringify(note);
  return { text, times: noting?.text === text ? noting.times + 1 : 1 };
};

/** Interval while instances launch or terminate, and after each of Drover's steps. */
const movingMs = 1_000;

/** A pass is O(instances), so large groups are reconciled less often. */
const soon = ({ scaling, now }: GroupObservation): EpochMs =>
  epochMs(now + Math.max(movingMs, scaling.instances.length));

const isUnderWay = ({ status }: NodeGroupUpdate): boolean =>
  status?.phase !== 'Restoring' && status?.ending === undefined;

/**
 * Switches the group to the target's template, so that no instance is launched from the older
 * version.
 */
const templateStep = (
  { scaling }: GroupObservation,
  { overrides, observation }: RolloutFacts,
): GroupStep | undefined => {
  const { update, target } = observation;
  const { templateVersion } = target;
  const inUse = scaling.launchTemplate?.version;
  // A version such as $Default names no number, so it counts as another version.
  const isUsed = Number(inUse) >= Number(templateVersion);
  if (isUsed && overrides === undefined) return undefined;
  const version = isUsed ? (inUse ?? templateVersion) : templateVersion;
  const { name } = update.metadata;
  return { kind: 'UseTemplate', update: name, version, ...defined({ overrides }) };
};

const suspendSteps = (
  { scaling }: GroupObservation,
  { status }: NodeGroupUpdate,
): readonly GroupStep[] => {
  const processes = (status?.suspends ?? []).filter((one) => !suspendedOf(scaling).includes(one));
  const isLast = status?.phase === 'ScalingDown' && status.strategy !== 'BLUE_GREEN';
  if (processes.length === 0 || isLast) return [];
  return [{ kind: 'SuspendProcesses', autoScalingGroupName: scaling.name, processes }];
};

const nextLook = (
  observation: GroupObservation,
  { isStuck, isProbed }: RolloutFacts,
  { steps, change, isMoving, isHeld, wakeAt }: UpdateDecision,
): EpochMs | undefined => {
  const isNews = steps.length > 0 || change !== undefined;
  const isWatched = isHeld !== true && (isMoving === true || isProbed);
  // A step that is rejected for good is not retried every second.
  const isBusy = isWatched || (!isStuck && isNews);
  return isBusy ? soon(observation) : wakeAt;
};

/**
 * The update ended after the last old node was terminated, so all nodes have the target revision.
 */
const madeOf = (
  { status, target }: RolloutFacts['observation'],
  { change, end }: UpdateDecision,
): Pick<RolloutPart, 'made'> => {
  const { total = 0, done = 0 } = { ...status.progress, ...change?.progress };
  const isDone = end?.status === 'Successful' || (end !== undefined && total > 0 && done === total);
  const { templateVersion: _derived, ...made } = target;
  return isDone ? { made } : {};
};

/** The steps that core/update decides. */
const decidedPart = (
  observation: GroupObservation,
  facts: RolloutFacts,
  updating: UpdateNote | undefined,
): RolloutPart => {
  const { update, status } = facts.observation;
  const { name, resourceVersion } = update.metadata;
  const decision = decideUpdate(facts.observation);
  const { change, steps, end, surge } = decision;
  const phase = change?.phase ?? status.phase;
  const lower = steps.find((step) => step.kind === 'Lower')?.desired;
  return {
    surge,
    updating,
    ...defined({ lower }),
    ...madeOf(facts.observation, decision),
    first: [
      ...(isUnderWay(update) ? suspendSteps(observation, update) : []),
      ...(change === undefined
        ? []
        : [{ kind: 'WriteUpdateStatus', update: name, resourceVersion, change } as const]),
    ],
    last: [
      ...steps,
      ...(phase === 'Restoring' ? [{ kind: 'ClearHooks', update: name } as const] : []),
      ...(end === undefined ? [] : [{ kind: 'EndUpdate', update: name, end } as const]),
    ],
    nextAt: nextLook(observation, facts, decision),
    isMoving: decision.isMoving === true,
    decision,
  };
};

/**
 * The target is resolved before anything else is decided, since all needs of the update depend on
 * it.
 */
export const preparing = ({ update }: GroupObservation): NodeGroupUpdate | undefined =>
  update?.spec.type === 'VersionUpdate' && update.status?.phase === 'Preparing'
    ? update
    : undefined;

/** A version update in progress has a part in the plan. */
export const isRollingOut = (observation: GroupObservation): boolean =>
  observation.rollout !== undefined || preparing(observation) !== undefined;

export const rolloutPart = (observation: GroupObservation): RolloutPart | undefined => {
  const { group, update, rollout: facts, now } = observation;
  if (update?.spec.type !== 'VersionUpdate' || facts === undefined) return undefined;
  const surge = group.status?.surge ?? noSurge;
  const waits = { surge, first: [], last: [], isMoving: false };
  const updating = noteOf(observation, facts.observation);
  const noting = notingOf(observation, facts, updating);
  // This pass writes the record; the next one checks that the API server stored it.
  if (noting !== undefined && noting.times <= maxNotings) {
    return { ...waits, updating, nextAt: now, noting };
  }
  const template = isUnderWay(update) ? templateStep(observation, facts) : undefined;
  if (template !== undefined) {
    return { ...waits, updating, first: [template], nextAt: soon(observation) };
  }
  return { ...decidedPart(observation, facts, updating), ...defined({ noting }) };
};
