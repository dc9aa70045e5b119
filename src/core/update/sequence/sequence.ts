// Updates of several groups in sequence: which update begins next, which nodes are marked as
// pending, and how the sequence ends. Everything but its status is derived from the objects in
// every pass. Pure.

import { type EpochMs, formatTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { Condition } from '../../../api/kube.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../../api/nodegroup-update.ts';
import {
  type NodeGroupUpdateSequence,
  type NodeGroupUpdateSequenceStatus,
  pausedBySequenceAnnotation,
  type SequenceGroup,
  type SequenceGroupStatus,
} from '../../../api/update-sequence.ts';
import { beforeOf, sequenceComplaint } from './sequence-order.ts';

export interface SequenceNode {
  readonly name: string;
  /** Its node group, by the Auto Scaling group of its instance. */
  readonly group?: string;
  /** The sequence whose mark the node carries. */
  readonly mark?: string;
}

export interface SequenceObservation {
  readonly sequence: NodeGroupUpdateSequence;
  readonly others: readonly NodeGroupUpdateSequence[];
  /** Node groups that exist and are not being deleted. */
  readonly groups: ReadonlySet<string>;
  readonly updates: readonly NodeGroupUpdate[];
  readonly nodes: readonly SequenceNode[];
  /** Why the API server rejected the update that was to begin. */
  readonly refused?: string;
  readonly now: EpochMs;
}

export type SequenceStep =
  | { readonly kind: 'Mark' | 'Unmark'; readonly nodeName: string }
  | { readonly kind: 'Begin'; readonly group: SequenceGroup; readonly update: string }
  | { readonly kind: 'Pause' | 'Resume' | 'Abort'; readonly update: string }
  /** All marks are removed: the finalizer may be removed. */
  | { readonly kind: 'Release' };

export interface SequenceDecision {
  /** Written before any step. */
  readonly status: NodeGroupUpdateSequenceStatus;
  readonly steps: readonly SequenceStep[];
}

type Status = NodeGroupUpdateSequenceStatus;

const doneOf = (groups: readonly SequenceGroupStatus[]): Status['progress'] => ({
  done: groups.filter(({ status }) => status === 'Successful').length,
  total: groups.length,
});

const first = ({ sequence }: SequenceObservation): Status => {
  const groups = sequence.spec.groups.map(
    ({ name }): SequenceGroupStatus => ({ name, status: 'Waiting', attempt: 1 }),
  );
  return { status: 'InProgress', phase: 'Pending', groups, progress: doneOf(groups) };
};

/** The status with its condition, whose transition time changes only with its value. */
const told = ({ sequence, now }: SequenceObservation, status: Status): Status => {
  const before = sequence.status?.conditions?.find(({ type }) => type === 'Complete');
  const value = status.status === 'Successful' ? 'True' : 'False';
  const same = before?.status === value && before.reason === status.status;
  const condition: Condition = {
    type: 'Complete',
    status: value,
    reason: status.status,
    message: status.message ?? '',
    lastTransitionTime: same ? (before.lastTransitionTime ?? '') : formatTime(now),
  };
  return { ...status, progress: doneOf(status.groups), conditions: [condition] };
};

const unmarks = ({ sequence, nodes }: SequenceObservation): readonly SequenceStep[] =>
  nodes
    .filter(({ mark }) => mark === sequence.metadata.name)
    .map(({ name }): SequenceStep => ({ kind: 'Unmark', nodeName: name }));

const end = (
  observation: SequenceObservation,
  status: Status,
  ending: NonNullable<Status['ending']>,
): SequenceDecision => {
  const { sequence, now } = observation;
  const { generation } = sequence.metadata;
  const { ending: _over, ...rest } = status;
  const ended: Status = {
    ...rest,
    status: ending,
    phase: 'Ended',
    endedAt: formatTime(now),
    ...defined({ endedGeneration: generation }),
  };
  return { status: told(observation, ended), steps: [] };
};

/** Another sequence in progress that shares a group; their marks would be confused. */
const rivalOf = ({ sequence, others }: SequenceObservation): string | undefined => {
  const members = new Set(sequence.spec.groups.map(({ name }) => name));
  return others.find(
    ({ metadata, spec, status }) =>
      metadata.name !== sequence.metadata.name &&
      (status?.phase === 'Rolling' || status?.phase === 'Restoring') &&
      spec.groups.some(({ name }) => members.has(name)),
  )?.metadata.name;
};

const pending = (observation: SequenceObservation, status: Status): SequenceDecision => {
  const { sequence, groups, now } = observation;
  const { spec } = sequence;
  const wait = (message: string) => ({
    status: told(observation, { ...status, message }),
    steps: unmarks(observation),
  });
  if (spec.abort !== undefined) {
    return end(observation, { ...status, message: 'stopped on request' }, 'Cancelled');
  }
  const complaint = sequenceComplaint(sequence, groups);
  if (complaint !== undefined) return end(observation, { ...status, message: complaint }, 'Failed');
  if (spec.paused === true) return wait('paused on request, before the first group');
  const rival = rivalOf(observation);
  if (rival !== undefined) return wait(`waits for sequence ${rival}, which has a group in common`);
  const { startedAt = formatTime(now) } = status;
  return rolling(observation, { ...status, phase: 'Rolling', startedAt });
};

/** Keeps the status small if many groups fail; the update object has the full message. */
const maxGroupMessage = 240;

/** The state of the group's update, from the objects that exist. */
const looked = (
  { updates, groups }: SequenceObservation,
  entry: SequenceGroupStatus,
): SequenceGroupStatus => {
  const { name, update, status } = entry;
  if (status !== 'Waiting' && status !== 'InProgress') return entry;
  const found = updates.find(({ metadata }) => metadata.name === update);
  const isTakenAway = found?.metadata.deletionTimestamp !== undefined;
  if (isTakenAway && updateStatusOf(found) === 'Cancelled') {
    return { ...entry, status: 'Failed', message: `update ${update ?? ''} was deleted` };
  }
  if (found !== undefined) {
    const { message: _before, ...rest } = entry;
    const { errors, message: said = '' } = found.status ?? {};
    const message = (errors?.[0]?.message ?? said).slice(0, maxGroupMessage);
    return { ...rest, status: updateStatusOf(found), ...(message === '' ? {} : { message }) };
  }
  if (status === 'InProgress') {
    return { ...entry, status: 'Failed', message: `update ${update ?? ''} was deleted` };
  }
  if (groups.has(name)) return entry;
  return { ...entry, status: 'Failed', message: `node group ${name} was deleted` };
};

const updateNameOf = ({ metadata }: NodeGroupUpdateSequence, entry: SequenceGroupStatus): string =>
  `${entry.name}-${metadata.uid.slice(0, 8)}-${entry.attempt}`;

/** Passes pause, resume and abort on to the running updates, once each. */
const passedOn = (
  { sequence, updates }: SequenceObservation,
  running: readonly SequenceGroupStatus[],
): readonly SequenceStep[] => {
  const { paused = false, abort } = sequence.spec;
  return running.flatMap(({ update = '' }): readonly SequenceStep[] => {
    const found = updates.find(({ metadata }) => metadata.name === update);
    if (found === undefined) return [];
    const isAborted = found.spec.abort !== undefined;
    if (abort !== undefined && !isAborted) return [{ kind: 'Abort', update }];
    // An update paused by another user stays paused.
    const isOurs = found.metadata.annotations?.[pausedBySequenceAnnotation] !== undefined;
    if (paused && found.spec.paused !== true) return [{ kind: 'Pause', update }];
    return !paused && isOurs ? [{ kind: 'Resume', update }] : [];
  });
};

const isRunning = ({ status }: SequenceGroupStatus): boolean => status === 'InProgress';
const hasStopped = ({ status }: SequenceGroupStatus): boolean =>
  status === 'Failed' || status === 'Cancelled';

/** Marks nodes of groups that wait, and unmarks nodes of groups that are done. */
const marksOf = (
  { sequence, nodes }: SequenceObservation,
  entries: readonly SequenceGroupStatus[],
): { readonly marks: readonly SequenceStep[]; readonly backs: readonly SequenceStep[] } => {
  const own = sequence.metadata.name;
  const stateOf = new Map(entries.map(({ name, status }) => [name, status]));
  const state = ({ group }: SequenceNode) => (group === undefined ? undefined : stateOf.get(group));
  const marks = nodes.filter((node) => state(node) === 'Waiting' && node.mark !== own);
  const backs = nodes.filter((node) => state(node) === 'Successful' && node.mark === own);
  return {
    marks: marks.map(({ name }): SequenceStep => ({ kind: 'Mark', nodeName: name })),
    backs: backs.map(({ name }): SequenceStep => ({ kind: 'Unmark', nodeName: name })),
  };
};

interface Turn {
  readonly entries: readonly SequenceGroupStatus[];
  readonly begins: readonly SequenceStep[];
  /** Groups that could begin but have another update in progress. */
  readonly held: readonly string[];
}

/**
 * Groups that may begin: the update's name is written to the status before the update is created.
 */
const turnOf = (
  { sequence, updates }: SequenceObservation,
  entries: readonly SequenceGroupStatus[],
): Turn => {
  const before = beforeOf(sequence.spec.groups);
  const done = new Set(
    entries.filter(({ status }) => status === 'Successful').map(({ name }) => name),
  );
  const begins: SequenceStep[] = [];
  const held: string[] = [];
  const next = entries.map((entry): SequenceGroupStatus => {
    const group = sequence.spec.groups.find(({ name }) => name === entry.name);
    const isNext = (before.get(entry.name) ?? []).every((name) => done.has(name));
    if (entry.status !== 'Waiting' || group === undefined || !isNext) return entry;
    const other = updates.find(
      (one) => one.spec.nodeGroup === entry.name && updateStatusOf(one) === 'InProgress',
    );
    if (entry.update === undefined && other !== undefined) {
      held.push(`${entry.name} waits for update ${other.metadata.name}, which is in progress`);
      return entry;
    }
    const update = entry.update ?? updateNameOf(sequence, entry);
    begins.push({ kind: 'Begin', group, update });
    return { ...entry, update };
  });
  return { entries: next, begins, held };
};

const sentenceOf = (
  observation: SequenceObservation,
  entries: readonly SequenceGroupStatus[],
  held: readonly string[],
): string => {
  const { done, total } = doneOf(entries);
  const running = entries.filter(isRunning).map(({ name }) => name);
  const paused = observation.sequence.spec.paused === true ? ['paused on request'] : [];
  const now = running.length === 0 ? [] : [`updating ${running.join(', ')}`];
  const refused = observation.refused === undefined ? [] : [observation.refused];
  return [...paused, ...now, ...held, ...refused, `${done} of ${total} groups done`].join('; ');
};

/** No update begins or runs: remove the marks, then end. */
const restoring = (observation: SequenceObservation, status: Status): SequenceDecision => {
  const steps = unmarks(observation);
  const ending = status.ending ?? 'Failed';
  if (steps.length === 0) return end(observation, status, ending);
  return { status: told(observation, { ...status, phase: 'Restoring', ending }), steps };
};

const stopMessage = (entries: readonly SequenceGroupStatus[]): string => {
  const [stopped] = entries.filter(hasStopped);
  if (stopped === undefined) return 'stopped on request';
  const left = entries.filter(({ status }) => status === 'Waiting').map(({ name }) => name);
  const rest = left.length === 0 ? '' : `; not begun: ${left.join(', ')}`;
  const what = stopped.update === undefined ? '' : ` (update ${stopped.update})`;
  return (
    `${stopped.name}: ` +
    `${stopped.status}${what}${stopped.message === undefined ? '' : `: ${stopped.message}`}${rest}`
  );
};

const rolling = (observation: SequenceObservation, status: Status): SequenceDecision => {
  const { spec } = observation.sequence;
  const entries = status.groups.map((entry) => looked(observation, entry));
  const running = entries.filter(isRunning);
  const requests = passedOn(observation, running);
  if (entries.every((entry) => entry.status === 'Successful')) {
    const message = `all ${entries.length} groups are updated`;
    const next = { ...status, groups: entries, message, ending: 'Successful' } as const;
    return restoring(observation, next);
  }
  const isFailed = entries.some((entry) => entry.status === 'Failed');
  if (spec.abort !== undefined || entries.some(hasStopped)) {
    const message = stopMessage(entries);
    const next = { ...status, groups: entries, message };
    if (running.length > 0) return { status: told(observation, next), steps: requests };
    const ending = isFailed && spec.abort === undefined ? 'Failed' : 'Cancelled';
    return restoring(observation, { ...next, ending });
  }
  const { marks, backs } = marksOf(observation, entries);
  // All marks are set before the first drain.
  const isReady = spec.paused !== true && marks.length === 0;
  const turn = isReady ? turnOf(observation, entries) : { entries, begins: [], held: [] };
  const message = sentenceOf(observation, turn.entries, turn.held);
  return {
    status: told(observation, { ...status, groups: turn.entries, message }),
    steps: [...marks, ...backs, ...requests, ...turn.begins],
  };
};

/** Completed groups stay completed; the others are tried again. */
const resumed = (observation: SequenceObservation, status: Status): Status => {
  const { endedAt: _at, endedGeneration: _with, message: _why, ...rest } = status;
  const groups = status.groups.map((entry): SequenceGroupStatus => {
    if (entry.status === 'Successful') return entry;
    const attempt = entry.update === undefined ? entry.attempt : entry.attempt + 1;
    return { name: entry.name, status: 'Waiting', attempt };
  });
  return told(observation, { ...rest, status: 'InProgress', phase: 'Pending', groups });
};

const ended = (observation: SequenceObservation, status: Status): SequenceDecision => {
  const { metadata, spec } = observation.sequence;
  const isAskedAnew = (metadata.generation ?? 0) > (status.endedGeneration ?? 0);
  // Setting paused on an ended sequence is not a request to resume it.
  const mayGoOn = spec.abort === undefined && spec.paused !== true;
  if (isAskedAnew && status.status !== 'Successful' && mayGoOn) {
    return pending(observation, resumed(observation, status));
  }
  return { status, steps: unmarks(observation) };
};

export const decideSequence = (observation: SequenceObservation): SequenceDecision => {
  const { sequence } = observation;
  const status = sequence.status ?? first(observation);
  if (sequence.metadata.deletionTimestamp !== undefined) {
    // Running updates continue on their own, like any other update.
    const steps = unmarks(observation);
    return { status, steps: steps.length === 0 ? [{ kind: 'Release' }] : steps };
  }
  switch (status.phase) {
    case 'Pending':
      return pending(observation, status);
    case 'Rolling':
      return rolling(observation, status);
    case 'Restoring':
      return restoring(observation, status);
    case 'Ended':
      return ended(observation, status);
  }
};
