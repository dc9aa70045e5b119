// Draining: waits until the node is empty or its deadline passes. The allocation reports the
// blockers; this file decides whether the node is missing, unmarked, empty or past its deadline.

import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { isReady } from '../../api/conditions.ts';
import type { NodeDisruptionStatus, WaitingOn } from '../../api/disruption.ts';
import type { Node, Pod } from '../../api/kube.ts';
import {
  type Classified,
  classifyPods,
  controllerOf,
  forceAt,
  intervalsOf,
  newBoomerangs,
} from '../drain/index.ts';
import { askAgainAt, askForInstance, complete, goneOutcome, withoutNode } from './absence.ts';
import { afterPods } from './after-pods.ts';
import { type Demand, isDue, wasHeld } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { forceWindow } from './drains.ts';
import { emptiedText } from './emptied.ts';
import { letGo, whileHeld } from './held.ts';
import { lastCompletion } from './hooks.ts';
import { startMarking, startUndoing } from './marking.ts';
import { marksAreVisible, settleMs } from './marks.ts';
import type { Memory, Observation } from './observation.ts';
import {
  classifyOptions,
  inTheWay,
  isReturning,
  unstoppableText,
  unstoppableTimes,
} from './pods-left.ts';
import {
  demandMoved,
  forceMoved,
  progressChanged,
  progressDueAt,
  type StatusChange,
  waitingFields,
  withSince,
  writeStatus,
} from './status.ts';

/** Delay before a quorum list that disagreed with the watch is repeated. */
const listAgainMs = 1_000;
/** The allocation that follows the first list of pods takes at most this long. */
const namedWithinMs = 5_000;
/**
 * After the deadline, how long the API server may still confirm that the node is empty, hooks
 * permitting.
 */
const confirmMs = 15_000;

export const decideDraining = (observation: Observation, demand: Demand): Decision => {
  const { disruption, node, options } = observation;
  const { status } = disruption;
  if (demand.causes.length === 0) return startUndoing(observation);
  if (node === undefined) return withoutNode(observation, demand);
  const same = status?.node?.uid === node.metadata.uid;
  if (status === undefined || !same || !marksAreVisible(node, options.compat)) {
    return startMarking(observation, demand, node);
  }
  return drainMarked(observation, demand, { node, status });
};

interface Marked {
  readonly node: Node;
  readonly status: NodeDisruptionStatus;
}

const drainMarked = (observation: Observation, demand: Demand, marked: Marked): Decision => {
  const { pods, now, memory } = observation;
  const { node, status } = marked;
  const goneHooks = demand.hooks.some(({ status: hook }) => hook.state !== 'Open');
  const doubtful = !isReady(node) || goneHooks;
  if (doubtful && memory.instance?.gone === true) {
    return complete(observation, demand, goneOutcome(memory.instance));
  }
  const ask = doubtful ? askForInstance(observation) : undefined;
  const asked = ask === undefined ? [] : [ask];
  const again = doubtful ? askAgainAt(observation) : undefined;
  if (demand.heldBy !== undefined) {
    const rest = whileHeld(observation, demand, demand.heldBy);
    return { ...rest, steps: [...asked, ...rest.steps], wakeAt: [again] };
  }
  if (wasHeld(observation.disruption)) return letGo(observation, demand);
  if (isDue(demand, now)) {
    return atDeadline(observation, demand, marked);
  }
  if (pods === undefined) {
    const waiting: WaitingOn = {
      kind: 'api',
      what: `pods of ${node.metadata.name}`,
      message: 'not listed yet',
    };
    return decision({ steps: asked, waitingOn: [waiting], wakeAt: [demand.deadline, again] });
  }
  const classified = classifyPods(pods, classifyOptions(observation, status));
  const rest =
    inTheWay(classified, demand) === 0
      ? whenEmpty(observation, demand, marked)
      : whileFull(observation, demand, { ...marked, classified });
  const wakeAt = [
    ...rest.wakeAt,
    demand.deadline,
    again,
    ...unstoppableTimes(observation, classified),
  ];
  return { ...rest, steps: [...asked, ...rest.steps], wakeAt };
};

/** At the deadline: with force the remaining pods end with the instance, else the drain fails. */
const atDeadline = (observation: Observation, demand: Demand, marked: Marked): Decision => {
  const { pods, memory, now } = observation;
  const { node, status } = marked;
  const left = (some: readonly Pod[]): number =>
    inTheWay(classifyPods(some, classifyOptions(observation, status)), demand);
  const { listed } = memory;
  const known =
    pods ?? (listed !== undefined && isDue(demand, listed.at) ? listed.pods : undefined);
  const end = (message: string, podsRemaining: number): Decision => {
    const outcome = demand.onDeadline === 'force' ? ('Forced' as const) : ('Failed' as const);
    const options = classifyOptions(observation, status);
    const returning = boomerangBlockers(classifyPods(known ?? [], options));
    const total = totalOf(observation, status);
    const more = { podsRemaining, ...total, ...lastBlockers(observation, returning) };
    return complete(observation, demand, { outcome, message }, more);
  };
  const count = known === undefined ? 0 : left(known);
  if (count > 0) {
    const late = forceLate(observation, demand, status, count) ?? untilNamed(observation, demand);
    if (late !== undefined) return late;
    return end(`${count} ${count === 1 ? 'pod was' : 'pods were'} left at the deadline`, count);
  }
  const until = confirmUntil(demand, status, memory);
  if (now >= until) {
    const unknown = known === undefined ? 'the pods of the node were not known' : 'no pod was seen';
    return end(`${unknown} at the deadline, and no list confirmed that it was empty`, 0);
  }
  // A node without a list of pods may not be empty, and an empty node has not failed: ask the
  // server.
  if (known !== undefined) {
    const rest = whenEmpty(observation, demand, marked);
    return { ...rest, wakeAt: [...rest.wakeAt, until] };
  }
  const waiting: WaitingOn = {
    kind: 'api',
    what: `pods of ${node.metadata.name}`,
    message: 'not listed yet at the deadline; asking the server',
  };
  const subject = node.metadata.name;
  return decision({
    steps: [{ kind: 'Confirm', what: 'nodeEmpty', subject }],
    waitingOn: [waiting],
    wakeAt: [until],
  });
};

/**
 * Applies a forcing deadline that passed while no process was running: deletes the remaining pods
 * with one second of grace and waits the safety time. Undefined after that.
 */
const forceLate = (
  observation: Observation,
  demand: Demand,
  status: NodeDisruptionStatus,
  podsRemaining: number,
): Decision | undefined => {
  const { disruption, now } = observation;
  if (demand.onDeadline !== 'force') return undefined;
  const since = parseTime(status.forcingSince);
  const until = epochMs(Math.min((since ?? now) + demand.safetyMs, ...hookBounds(demand)));
  // A hook may end the drain before forcing is allowed.
  if (now >= until || now < (demand.forceFrom ?? 0)) return undefined;
  const waiting = lastBlockers(observation);
  const waitingOn = waiting.waitingOn ?? [];
  if (since !== undefined && !demandMoved(status, demand)) {
    return decision({ waitingOn, wakeAt: [until] });
  }
  const forcingSince = formatTime(since ?? now);
  const change = { ...waiting, podsRemaining, forcingSince };
  return decision({ steps: [writeStatus({ disruption, demand, change, now })], waitingOn });
};

/**
 * A failing drain names the pods that blocked it. Right after a restart they may not have been
 * examined; wait briefly for that. Undefined after that.
 */
const untilNamed = (observation: Observation, demand: Demand): Decision | undefined => {
  const { blockers, memory, now } = observation;
  if (demand.onDeadline === 'force' || blockers !== undefined) return undefined;
  const since = Math.max(demand.deadline ?? 0, memory.firstLookAt ?? 0);
  const until = epochMs(Math.min(since + namedWithinMs, ...hookBounds(demand)));
  if (now >= until) return undefined;
  const { waitingOn = [] } = lastBlockers(observation);
  return decision({ waitingOn, wakeAt: [until] });
};

/** The last moments at which open hooks can still be completed. */
const hookBounds = ({ hooks }: Demand): readonly EpochMs[] =>
  hooks.filter(({ status }) => status.state === 'Open').map(({ ref }) => lastCompletion(ref));

/**
 * Until when the API server may be asked whether the node is empty: `confirmMs` after the deadline,
 * or after this process first saw it. Open hooks end it earlier.
 */
const confirmUntil = (
  demand: Demand,
  { forcingSince }: NodeDisruptionStatus,
  { firstLookAt = epochMs(0) }: Memory,
): EpochMs => {
  const since = Math.max(demand.deadline ?? 0, parseTime(forcingSince) ?? 0, firstLookAt);
  return epochMs(Math.min(since + confirmMs, ...hookBounds(demand)));
};

/** What the remaining pods were waiting for: explains why the drain was forced. */
const lastBlockers = (
  { blockers, disruption, now }: Observation,
  returning: readonly WaitingOn[] = [],
) => {
  const written = disruption.status?.waitingOn;
  return waitingFields(
    withSince(blockers === undefined ? (written ?? []) : [...blockers, ...returning], written, now),
  );
};

/**
 * The pods of the node with every one that was bound before `instant`: from a quorum list, or from
 * the watch where it is complete up to then (docs/designs/termination.md).
 */
const podsAsOf = (
  { memory: { listed }, pods, podsCompleteAt }: Observation,
  instant: EpochMs,
): Memory['listed'] => {
  if (listed !== undefined && listed.at >= instant) return listed;
  if (pods === undefined || podsCompleteAt === undefined || podsCompleteAt < instant) {
    return undefined;
  }
  return { at: podsCompleteAt, pods };
};

const whenEmpty = (
  observation: Observation,
  demand: Demand,
  { node, status }: Marked,
): Decision => {
  const { now } = observation;
  const settled = epochMs((parseTime(status.markedAt) ?? now) + settleMs);
  if (now < settled) {
    const until = formatTime(settled);
    return decision({ waitingOn: [{ kind: 'settling', until }], wakeAt: [settled] });
  }
  const listed = podsAsOf(observation, settled);
  const ask: Decision = decision({
    steps: [{ kind: 'Confirm', what: 'nodeEmpty', subject: node.metadata.name }],
    waitingOn: [{ kind: 'settling', until: formatTime(now) }],
  });
  if (listed === undefined) return ask;
  const options = classifyOptions(observation, status);
  if (inTheWay(classifyPods(listed.pods, options), demand) > 0) {
    const again = epochMs(listed.at + listAgainMs);
    if (now >= again) return ask;
    const message = 'the server lists pods that the watch has not shown';
    const waiting: WaitingOn = { kind: 'api', what: `pods of ${node.metadata.name}`, message };
    return decision({ waitingOn: [waiting], wakeAt: [again] });
  }
  const after = afterPods(observation, demand, { status, pods: listed.pods });
  if (after !== undefined) return after;
  const forced = status.forcingSince !== undefined;
  const total = totalOf(observation, status);
  const found =
    unstoppableText(classifyPods(listed.pods, options)) ??
    emptiedText(status, total.podsTotal ?? status.podsTotal ?? 0) ??
    'empty';
  const how = {
    outcome: forced ? ('Forced' as const) : ('Drained' as const),
    message: forced ? 'empty; the last pods went by force' : found,
  };
  return complete(observation, demand, how, total);
};

/** Total of pods, written at the end of a drain that was too quick for a progress write. */
const totalOf = ({ memory }: Observation, { podsTotal }: NodeDisruptionStatus): StatusChange => {
  const most = Math.max(podsTotal ?? 0, memory.mostPods ?? 0);
  return podsTotal === undefined && memory.mostPods === undefined ? {} : { podsTotal: most };
};

/** How many pods keep the node from being empty, for `Memory.mostPods`; undefined while unknown. */
export const podsInTheWay = (observation: Observation): number | undefined => {
  const { disruption, pods } = observation;
  const { status } = disruption;
  if (pods === undefined || status?.phase !== 'Draining') return undefined;
  return classifyPods(pods, classifyOptions(observation, status)).evict.length;
};

interface Full extends Marked {
  readonly classified: Classified;
}

const ownerOf = (pod: Pod): { readonly owner?: string } => {
  const owner = controllerOf(pod);
  return owner === undefined ? {} : { owner: `${owner.kind}/${owner.name}` };
};

const boomerangBlockers = ({ skip }: Classified): readonly WaitingOn[] =>
  skip.filter(isReturning).map(({ pod }) => ({
    kind: 'boomerang',
    pod: `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`,
    ...ownerOf(pod),
  }));

/** Pods remain. Records each intent before its effect; writes progress only rarely. */
const whileFull = (observation: Observation, demand: Demand, full: Full): Decision => {
  const { disruption, blockers, now } = observation;
  const { status, classified } = full;
  const seen = [...(blockers ?? []), ...boomerangBlockers(classified)];
  const waitingOn = withSince(seen, status.waitingOn, now);
  const progress: StatusChange = {
    ...waitingFields(waitingOn),
    podsRemaining: inTheWay(classified, demand),
    podsTotal: Math.max(status.podsTotal ?? 0, classified.evict.length),
    progressAt: formatTime(now),
  };
  const back = newBoomerangs(classified, status.boomerangs ?? []);
  const forces = forceTimes(observation, demand, full);
  const forcing = status.forcingSince === undefined && forces.some((at) => at <= now);
  const dueAt = progressDueAt(status);
  // Blockers that are not examined yet (after a restart) must not erase the recorded ones.
  const moved = blockers !== undefined && progressChanged(status, waitingOn);
  // After a change of the demand, the force times in the status are outdated; they are written once
  // the allocation has examined the new demand.
  const isOther = blockers !== undefined && forceMoved(status, waitingOn);
  const due = (moved && dueAt !== undefined && dueAt <= now) || isOther;
  const change: StatusChange = {
    ...(due || (forcing && blockers !== undefined) ? progress : {}),
    ...(back.length === 0 ? {} : { boomerangs: [...(status.boomerangs ?? []), ...back] }),
    ...(forcing ? { forcingSince: formatTime(now) } : {}),
  };
  const wakeAt = [...forces, ...(moved ? [dueAt] : [])];
  if (Object.keys(change).length === 0 && !demandMoved(status, demand)) {
    return decision({ waitingOn, wakeAt });
  }
  return decision({
    steps: [writeStatus({ disruption, demand, change, now })],
    waitingOn,
    wakeAt,
  });
};

const forceTimes = (
  { group }: Observation,
  demand: Demand,
  { status, classified: { evict } }: Full,
): readonly EpochMs[] => {
  const window = forceWindow(demand, status, group);
  const intervals = intervalsOf(evict, window);
  return evict.flatMap(({ pod }) => forceAt(pod, window, intervals.get(pod.metadata.uid)) ?? []);
};
