// Drover's own strategy: a few new nodes first, then each old one is replaced, the last ones retired, so that
// exactly as many are made as are needed and nothing new is ended. Which goes next: those whose loss nobody
// notices, the fullest zone, an order of chance; as many as budgets let go in time. Pure.
import { epochMs } from '../../api/brand.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { joinTimeoutMs } from '../scaling/index.ts';
import {
  type BudgetLoad,
  chainsOf,
  gateAllows,
  isHopeless,
  sharedLoads,
  waitBeside,
} from './gate.ts';
import { areTooMany, lateNewNodes } from './going-back.ts';
import { holdFor } from './hooks/index.ts';
import { enter, fail, notJoining } from './journal.ts';
import {
  type Counted,
  freeToDrain,
  type Herd,
  inFlightOf,
  isServing,
  isWhole,
  ownCause,
  phaseSince,
  updateCauseId,
} from './nodes.ts';
import type { UpdateDecision, UpdateObservation, UpdateStep } from './observation.ts';
import { inOrderOfChance } from './order.ts';
import { isHeld, restsInWave } from './pacing/index.ts';
import {
  endsForShortage,
  isHeldByShortage,
  shortageChange,
  shortageOf,
  withoutSurge,
} from './shortage.ts';
import { decideTimeouts, isGivenUp, triesOf } from './timeouts.ts';
import { awaiting, stay, whileHeld } from './waiting.ts';

const startSurge = ({ status }: UpdateObservation) => {
  const desired = status.surge ?? 0;
  return { desired, maxSize: desired };
};

const zonesOf = (some: readonly Counted[]): ReadonlySet<string> =>
  new Set(some.map(({ instance }) => instance.zone));

/** A toe is dipped into every zone before any old node is touched. */
export const decideSurgeUp = (observation: UpdateObservation, herd: Herd): UpdateDecision => {
  const surge = startSurge(observation);
  const { desired, actualDesired, now } = observation;
  const { old, fresh } = herd;
  const next = (): UpdateDecision =>
    stay(observation, { surge, change: enter(observation, 'Rolling') });
  if (old.length === 0) return next();
  const wanted = desired + surge.desired;
  const isComplete = actualDesired >= wanted && old.length + fresh.length >= wanted;
  if (isComplete && fresh.every(isWhole)) return next();
  const minimal = isComplete ? undefined : withoutSurge(observation, herd);
  if (minimal !== undefined) return minimal;
  const late = epochMs(phaseSince(observation) + joinTimeoutMs);
  const awaitsHook = fresh.some(({ instance }) => instance.awaitsHook === true);
  if (now < late) return stay(observation, { surge, wakeAt: late });
  if (awaitsHook) return stay(observation, { surge });
  const zones = [...zonesOf(old)];
  const joined = zonesOf(fresh.filter(isWhole));
  const enough = zones.filter((zone) => joined.has(zone)).length >= Math.ceil(zones.length / 2);
  const failing = fresh.filter((one) => !isWhole(one));
  if (enough && !areTooMany(observation, failing)) return next();
  return stay(observation, { surge, change: fail(observation, notJoining(observation)) });
};

const loadsOf = ({ instance }: Counted): readonly BudgetLoad[] => instance.loads ?? [];

const rankOf = (one: Counted, updateName: string, isShort: boolean): number => {
  // Given back once already: after all others.
  if (triesOf(one, updateName) > 0) return 5;
  if (!isServing(one)) return 0;
  // Its zone has no room for another in its place.
  if (isShort) return 4;
  if (one.instance.pods === 0) return 1;
  return isHopeless(loadsOf(one)) ? 3 : 2;
};

interface Field {
  readonly perZone: ReadonlyMap<string, number>;
  readonly inFlight: readonly (readonly BudgetLoad[])[];
  /** How long each budget still takes for all old nodes, one after another. */
  readonly chains: ReadonlyMap<string, number>;
  readonly observation: UpdateObservation;
}

/**
 * The next of those that are left: lowest rank, then the zone with the most instances, then the one that waits
 * least for budgets that others use now; of these, the one whose budget has the longest way to go.
 */
const nextOf = (left: readonly Counted[], field: Field): Counted | undefined => {
  const { observation } = field;
  const { name } = observation.update.metadata;
  const isShort = (one: Counted): boolean => shortageOf(observation, one) !== undefined;
  const ranks = new Map(left.map((one) => [one, rankOf(one, name, isShort(one))]));
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

/** The nodes whose drains begin now. */
export const choose = (observation: UpdateObservation, herd: Herd): readonly Counted[] => {
  const { update, drainTimeoutMs } = observation;
  const { old, fresh } = herd;
  const perZone = new Map<string, number>();
  for (const { instance } of [...old, ...fresh]) {
    perZone.set(instance.zone, (perZone.get(instance.zone) ?? 0) + 1);
  }
  // Where pods were looked at, of a node that was not nobody knows what its drain would wait for.
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
  const inFlight = inFlightOf(herd).map(loadsOf);
  const chains = chainsOf(old.map(loadsOf));
  const free = freeToDrain(observation, herd);
  const chosen: Counted[] = [];
  let serving = 0;
  while (chosen.length < free.slots) {
    const one = nextOf(left, { perZone, inFlight, chains, observation });
    if (one === undefined) break;
    left = left.filter((each) => each !== one);
    const serves = isServing(one);
    if (serves && serving >= free.spare) continue;
    // With force no budget keeps a node beyond its time.
    const isFree = update.spec.force === true || gateAllows(inFlight, loadsOf(one), drainTimeoutMs);
    if (!isFree) continue;
    if (serves) serving += 1;
    inFlight.push(loadsOf(one));
    const { zone } = one.instance;
    perZone.set(zone, (perZone.get(zone) ?? 1) - 1);
    chosen.push(one);
  }
  return chosen;
};

const isReplaced = ({ instance }: Counted, id: string): boolean => {
  const cause: DisruptionCause | undefined = ownCause(instance.disruption, id);
  return cause?.followUp === 'Replace';
};

/** Nodes of the new revision that there will be when all that is under way has ended. */
const willBeNew = (observation: UpdateObservation, herd: Herd): number => {
  const { old, fresh } = herd;
  const id = updateCauseId(observation.update.metadata.name);
  const starting = Math.max(0, observation.actualDesired - old.length - fresh.length);
  return fresh.length + starting + inFlightOf(herd).filter((one) => isReplaced(one, id)).length;
};

/** No node of the group is the cluster autoscaler's. */
export const shieldSteps = ({ old, fresh }: Pick<Herd, 'old' | 'fresh'>): readonly UpdateStep[] =>
  [...old, ...fresh].flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName === undefined || instance.shield !== undefined
      ? []
      : [{ kind: 'Shield', nodeName: instance.nodeName }],
  );

/** Old nodes are the last choice for new pods. */
const markSteps = ({ old, fresh }: Herd): readonly UpdateStep[] => [
  ...old.flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName === undefined || instance.isDiscouraged === true
      ? []
      : [{ kind: 'Discourage', nodeName: instance.nodeName }],
  ),
  ...shieldSteps({ old, fresh }),
];

export const decideSurgeRolling = (observation: UpdateObservation, herd: Herd): UpdateDecision => {
  const { desired, surge } = observation;
  const { old, fresh, leavingOld } = herd;
  if (areTooMany(observation, lateNewNodes(observation, herd))) {
    return stay(observation, { change: fail(observation, notJoining(observation)) });
  }
  const timeouts = decideTimeouts(observation, herd);
  if (timeouts.ends !== undefined) return timeouts.ends;
  const shortage = endsForShortage(observation, herd);
  if (shortage?.change !== undefined) return shortage;
  const isThrough = old.length === 0 && leavingOld.length === 0;
  const isStarted = old.length + fresh.length >= observation.actualDesired;
  if (isThrough && isStarted && fresh.every(isWhole) && !restsInWave(observation)) {
    const change = { ...enter(observation, 'Restoring'), ...timeouts.change };
    return stay(observation, { change });
  }
  const marks = [...timeouts.steps, ...markSteps(herd)];
  const changed = { ...timeouts.change, ...shortageChange(observation) };
  const told = Object.keys(changed).length === 0 ? {} : { change: changed };
  if (shortage !== undefined) return { ...shortage, steps: marks, ...told };
  const isPausing = timeouts.steps.some(({ kind }) => kind === 'Pause');
  if (isHeld(observation) || isPausing) {
    return whileHeld(observation, stay(observation, { steps: marks, ...told }));
  }
  const chosen = choose(observation, herd);
  let expected = willBeNew(observation, herd);
  let left = surge.desired;
  const drains = chosen.map(({ instance }): UpdateStep => {
    const { instanceId } = instance;
    if (expected >= desired) {
      left = Math.max(0, left - 1);
      return { kind: 'Retire', instanceId, ...holdFor(observation, instance) };
    }
    expected += 1;
    return { kind: 'Replace', instanceId, ...holdFor(observation, instance) };
  });
  // Who stays in quarantine keeps a new node beside what is wanted.
  const { quarantined } = timeouts;
  const size = Math.max(left, quarantined);
  const next = { desired: size, maxSize: Math.max(Math.min(surge.maxSize, left), quarantined) };
  const decided = stay(observation, { surge: next, steps: [...marks, ...drains], ...told });
  return awaiting(observation, herd, chosen.length === 0, decided);
};
