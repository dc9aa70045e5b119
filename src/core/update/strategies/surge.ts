// Drover's own strategy. It launches a few new nodes, replaces old nodes one for one, and
// terminates the last old nodes with decrement. So it launches exactly the nodes needed and
// terminates no new node. The next node is an unhealthy or empty one, then one of the largest zone,
// then random; budgets bound how many. Pure.

import { epochMs } from '../../../api/brand.ts';
import type { DisruptionCause } from '../../../api/disruption.ts';
import type { UpdateStep } from '../../../api/plan.ts';
import { joinTimeoutMs } from '../../nodegroup/index.ts';
import { areTooMany, lateNewNodes } from '../ending/automatic-rollback.ts';
import { decideTimeouts, isGivenUp, triesOf } from '../ending/timeouts.ts';
import { awaiting, stay, whileHeld } from '../ending/waiting.ts';
import { holdFor } from '../hooks/index.ts';
import type { UpdateDecision, UpdateObservation } from '../observation.ts';
import { isHeld, restsInWave } from '../pacing/index.ts';
import { enter, fail, notJoining } from '../records/journal.ts';
import {
  type Counted,
  freeToDrain,
  type GroupNodes,
  inFlightOf,
  isHealthyNew,
  isServing,
  ownCause,
  phaseSince,
  updateCauseId,
} from '../records/nodes.ts';
import {
  type BudgetLoad,
  chainsOf,
  gateAllows,
  isHopeless,
  sharedLoads,
  waitBeside,
} from './gate.ts';
import { inOrderOfChance } from './order.ts';
import {
  endsForShortage,
  isHeldByShortage,
  shortageChange,
  shortageOf,
  withoutSurge,
} from './shortage.ts';
import { type ZonePlacement, ZonePlacements } from './zone-placement.ts';

const startSurge = ({ status }: UpdateObservation) => {
  const desired = status.surge ?? 0;
  return { desired, maxSize: desired };
};

const zonesOf = (some: readonly Counted[]): ReadonlySet<string> =>
  new Set(some.map(({ instance }) => instance.zone));

/** Start one canary node per zone and wait for it before draining an old node. */
export const decideSurgeUp = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const surge = startSurge(observation);
  const { desired, actualDesired, now } = observation;
  const { old, fresh } = groupNodes;
  const next = (): UpdateDecision =>
    stay(observation, { surge, change: enter(observation, 'Rolling') });
  if (old.length === 0) return next();
  const wanted = desired + surge.desired;
  const isComplete = actualDesired >= wanted && old.length + fresh.length >= wanted;
  if (isComplete && fresh.every(isHealthyNew)) return next();
  const minimal = isComplete ? undefined : withoutSurge(observation, groupNodes);
  if (minimal !== undefined) return minimal;
  const late = epochMs(phaseSince(observation) + joinTimeoutMs);
  const awaitsHook = fresh.some(({ instance }) => instance.awaitsHook === true);
  if (now < late) return stay(observation, { surge, wakeAt: late });
  if (awaitsHook) return stay(observation, { surge });
  const zones = [...zonesOf(old)];
  const joined = zonesOf(fresh.filter(isHealthyNew));
  const enough = zones.filter((zone) => joined.has(zone)).length >= Math.ceil(zones.length / 2);
  const failing = fresh.filter((one) => !isHealthyNew(one));
  if (enough && !areTooMany(observation, failing)) return next();
  return stay(observation, { surge, change: fail(observation, notJoining(observation)) });
};

const loadsOf = ({ instance }: Counted): readonly BudgetLoad[] => instance.loads ?? [];

interface RankFacts {
  readonly updateName: string;
  readonly isShort: boolean;
  /** Zone placement of its replacement; undefined: it has none. */
  readonly placement: ZonePlacement | undefined;
}

const rankOf = (one: Counted, { updateName, isShort, placement }: RankFacts): number => {
  // A node whose drain was tried and cancelled comes last.
  if (triesOf(one, updateName) > 0) return 7;
  if (!isServing(one)) return 0;
  // EC2 has no capacity for its replacement in its zone.
  if (isShort) return 6;
  const isEmpty = one.instance.pods === 0;
  if (!isEmpty && isHopeless(loadsOf(one))) return 5;
  // A zone without new nodes gets its first one, and no zone gets more than its share.
  if (placement === 'elsewhere') return 4;
  if (placement === 'later') return 3;
  return isEmpty ? 1 : 2;
};

interface Field {
  readonly placements: ZonePlacements;
  /** The next node is replaced, rather than terminated with decrement. */
  readonly isReplaced: boolean;
  readonly perZone: ReadonlyMap<string, number>;
  readonly inFlight: readonly (readonly BudgetLoad[])[];
  /** How long each budget takes to allow the evictions of all remaining old nodes in sequence. */
  readonly chains: ReadonlyMap<string, number>;
  readonly observation: UpdateObservation;
}

/**
 * The next node to drain: lowest rank, then largest zone, then the shortest wait for budgets in
 * use. Among those, the node whose budget has the longest time remaining.
 */
const nextOf = (left: readonly Counted[], field: Field): Counted | undefined => {
  const { observation } = field;
  const { name } = observation.update.metadata;
  const zones = new Set(left.map(({ instance }) => instance.zone));
  const placements = new Map(
    field.isReplaced ? [...zones].map((zone) => [zone, field.placements.of(zone)]) : [],
  );
  const factsOf = (one: Counted): RankFacts => ({
    updateName: name,
    isShort: shortageOf(observation, one) !== undefined,
    placement: placements.get(one.instance.zone),
  });
  const ranks = new Map(left.map((one) => [one, rankOf(one, factsOf(one))]));
  const rank = Math.min(...ranks.values());
  const pool = left.filter((one) => ranks.get(one) === rank);
  const sizeOf = ({ instance }: Counted): number => field.perZone.get(instance.zone) ?? 0;
  const most = Math.max(...pool.map(sizeOf));
  const even = pool.filter((one) => sizeOf(one) === most);
  const inFlight = sharedLoads(field.inFlight);
  const waits = even.map((one) => waitBeside(inFlight, loadsOf(one)));
  const least = Math.min(...waits);
  const free = even.filter((_, index) => (waits[index] ?? 0) <= least);
  const chainOf = (one: Counted): number =>
    Math.max(0, ...loadsOf(one).map(({ budget }) => field.chains.get(budget) ?? 0));
  const longest = Math.max(...free.map(chainOf));
  return free.find((one) => chainOf(one) === longest);
};

const hasReplacement = ({ instance }: Counted, id: string): boolean => {
  const cause: DisruptionCause | undefined = ownCause(instance.disruption, id);
  return cause?.followUp === 'Replace';
};

/** The number of nodes of the new revision once all launches and drains in flight are over. */
const willBeNew = (observation: UpdateObservation, groupNodes: GroupNodes): number => {
  const { old, fresh } = groupNodes;
  const id = updateCauseId(observation.update.metadata.name);
  const starting = Math.max(0, observation.actualDesired - old.length - fresh.length);
  return (
    fresh.length + starting + inFlightOf(groupNodes).filter((one) => hasReplacement(one, id)).length
  );
};

/** Zone placement for the group as it will be without the nodes in flight. */
const placementsOf = (observation: UpdateObservation, groupNodes: GroupNodes): ZonePlacements => {
  const { instances, desired } = observation;
  const zoneOf = ({ instance }: Counted): string => instance.zone;
  const going = new Set(inFlightOf(groupNodes));
  const fresh = groupNodes.fresh.map(zoneOf);
  return new ZonePlacements({
    zones: instances.map(({ zone }) => zone),
    staying: [...fresh, ...groupNodes.old.filter((one) => !going.has(one)).map(zoneOf)],
    fresh,
    pending: Math.max(0, willBeNew(observation, groupNodes) - fresh.length),
    wanted: desired,
  });
};

/**
 * New nodes exist or are launching, none is healthy yet and none has exceeded the join timeout.
 * Pods evicted in this state would land on old nodes.
 */
const awaitsFirst = (observation: UpdateObservation, groupNodes: GroupNodes): boolean =>
  (observation.status.surge ?? 0) > 0 &&
  willBeNew(observation, groupNodes) > 0 &&
  !groupNodes.fresh.some(isHealthyNew) &&
  lateNewNodes(observation, groupNodes).length === 0;

/**
 * Until a new node is healthy, only nodes above the desired size may be drained: other pods would
 * land on old nodes and move again. An update that inherits a surplus begins in this state.
 */
const freeToBegin = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): ReturnType<typeof freeToDrain> => {
  const free = freeToDrain(observation, groupNodes);
  if (!awaitsFirst(observation, groupNodes)) return free;
  const serving = [...groupNodes.old, ...groupNodes.fresh].filter(isServing).length;
  return { ...free, spare: Math.min(free.spare, Math.max(0, serving - observation.desired)) };
};

interface Chosen extends Counted {
  /** Auto Scaling launches a replacement; otherwise the node is terminated with decrement. */
  readonly isReplaced: boolean;
}

/** The nodes whose drains begin in this pass. */
export const choose = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): readonly Chosen[] => {
  const { update, drainTimeoutMs, desired, surge } = observation;
  const { old, fresh } = groupNodes;
  const perZone = new Map<string, number>();
  for (const { instance } of [...old, ...fresh]) {
    perZone.set(instance.zone, (perZone.get(instance.zone) ?? 0) + 1);
  }
  // If pods were listed, a node without a list is skipped: its budgets are unknown.
  const isKnown = ({ instance }: Counted): boolean =>
    instance.loads !== undefined || instance.nodeName === undefined;
  const areLooked = old.some(({ instance }) => instance.loads !== undefined);
  let left = inOrderOfChance(
    old.filter(
      (one) =>
        one.state.kind === 'untouched' &&
        !isGivenUp(observation, one) &&
        !isHeldByShortage(observation, one) &&
        (!areLooked || isKnown(one)),
    ),
    ({ instance }) => instance.instanceId,
    observation,
  );
  const inFlight = inFlightOf(groupNodes).map(loadsOf);
  const chains = chainsOf(old.map(loadsOf));
  const free = freeToBegin(observation, groupNodes);
  const chosen: Chosen[] = [];
  const placements = placementsOf(observation, groupNodes);
  let expected = willBeNew(observation, groupNodes);
  let extra = surge.desired;
  let serving = 0;
  while (chosen.length < free.slots) {
    const context = { perZone, inFlight, chains, placements, observation };
    let isReplaced = expected < desired;
    let one = nextOf(left, { ...context, isReplaced });
    // Terminate this node with decrement and replace a later one, whose zone placement is then
    // known.
    if (
      isReplaced &&
      extra > 0 &&
      one !== undefined &&
      placements.of(one.instance.zone) !== 'wanted'
    ) {
      isReplaced = false;
      one = nextOf(left, { ...context, isReplaced });
    }
    if (one === undefined) break;
    left = left.filter((each) => each !== one);
    const serves = isServing(one);
    if (serves && serving >= free.spare) continue;
    // With force, the gate does not apply: a drain ends at its timeout whatever the budgets allow.
    const isFree = update.spec.force === true || gateAllows(inFlight, loadsOf(one), drainTimeoutMs);
    if (!isFree) continue;
    if (serves) serving += 1;
    inFlight.push(loadsOf(one));
    const { zone } = one.instance;
    perZone.set(zone, (perZone.get(zone) ?? 1) - 1);
    placements.take(zone, { isReplaced });
    if (isReplaced) expected += 1;
    else extra -= 1;
    chosen.push({ ...one, isReplaced });
  }
  return chosen;
};

/** Adds the PreferNoSchedule taint to old nodes. */
const markSteps = ({ old }: GroupNodes): readonly UpdateStep[] =>
  old.flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName === undefined || instance.hasOutdatedTaint === true
      ? []
      : [{ kind: 'Discourage', nodeName: instance.nodeName }],
  );

type Timeouts = ReturnType<typeof decideTimeouts>;

/** `decided`: the decision is made without a further drain. `open`: drains may be chosen. */
type RollingGround =
  | { readonly kind: 'decided'; readonly decision: UpdateDecision }
  | {
      readonly kind: 'open';
      readonly quarantined: Timeouts['quarantined'];
      readonly marks: readonly UpdateStep[];
      readonly told: Pick<UpdateDecision, 'change'> | Readonly<Record<string, never>>;
    };

const decided = (decision: UpdateDecision): RollingGround => ({ kind: 'decided', decision });

const groundOf = (observation: UpdateObservation, groupNodes: GroupNodes): RollingGround => {
  const { old, fresh, leavingOld } = groupNodes;
  if (areTooMany(observation, lateNewNodes(observation, groupNodes))) {
    return decided(stay(observation, { change: fail(observation, notJoining(observation)) }));
  }
  const timeouts = decideTimeouts(observation, groupNodes);
  if (timeouts.ends !== undefined) return decided(timeouts.ends);
  const shortage = endsForShortage(observation, groupNodes);
  if (shortage?.change !== undefined) return decided(shortage);
  const isThrough = old.length === 0 && leavingOld.length === 0;
  const isStarted = old.length + fresh.length >= observation.actualDesired;
  if (isThrough && isStarted && fresh.every(isHealthyNew) && !restsInWave(observation)) {
    const change = { ...enter(observation, 'Restoring'), ...timeouts.change };
    return decided(stay(observation, { change }));
  }
  const marks = [...timeouts.steps, ...markSteps(groupNodes)];
  const changed = { ...timeouts.change, ...shortageChange(observation) };
  const told = Object.keys(changed).length === 0 ? {} : { change: changed };
  if (shortage !== undefined) return decided({ ...shortage, steps: marks, ...told });
  const isPausing = timeouts.steps.some(({ kind }) => kind === 'Pause');
  if (isHeld(observation) || isPausing) {
    return decided(whileHeld(observation, stay(observation, { steps: marks, ...told })));
  }
  return { kind: 'open', quarantined: timeouts.quarantined, marks, told };
};

/** A drain may begin, as far as budgets allow. */
export const mayBeginOfSurge = (observation: UpdateObservation, groupNodes: GroupNodes): boolean =>
  groundOf(observation, groupNodes).kind === 'open' && choose(observation, groupNodes).length > 0;

export const decideSurgeRolling = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): UpdateDecision => {
  const { surge } = observation;
  const ground = groundOf(observation, groupNodes);
  if (ground.kind === 'decided') return ground.decision;
  const { marks, told, quarantined } = ground;
  const chosen = choose(observation, groupNodes);
  const retired = chosen.filter(({ isReplaced }) => !isReplaced).length;
  const left = Math.max(0, surge.desired - retired);
  const drains = chosen.map(({ instance, isReplaced }): UpdateStep => {
    const kind = isReplaced ? 'Replace' : 'Retire';
    return { kind, instanceId: instance.instanceId, ...holdFor(observation, instance) };
  });
  // Each quarantined node keeps one new node above the desired size.
  const size = Math.max(left, quarantined);
  const next = { desired: size, maxSize: Math.max(Math.min(surge.maxSize, left), quarantined) };
  const decision = stay(observation, { surge: next, steps: [...marks, ...drains], ...told });
  return awaiting(observation, groupNodes, chosen.length === 0, decision);
};
