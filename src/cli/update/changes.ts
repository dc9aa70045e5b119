// What changed between two polls of an update, one line per change, for output that is not a
// terminal. Reports each change once. Pure.

import type { MissingNode } from '../../api/nodegroup-update.ts';
import { healthRemedy } from '../../core/explain/index.ts';
import { fromTo, type NodeView, type UpdateView } from '../../core/overview/index.ts';
import { hookLines } from './holds.ts';
import { stateText } from './screen.ts';

const beginLines = (view: UpdateView): readonly string[] => {
  const { from, to } = fromTo(view);
  return [
    `update ${view.id} of ${view.nodeGroup}: ` +
      `${to === undefined ? view.update.spec.type : `${from ?? '?'} -> ${to}`}`,
  ];
};

/** New holds only, without values that change by themselves. */
const holdsLines = (before: UpdateView | undefined, after: UpdateView): readonly string[] => {
  const known = new Set((before?.update.status?.holds ?? []).map(({ reason }) => reason));
  const holds = after.status === 'InProgress' ? (after.update.status?.holds ?? []) : [];
  return holds
    .filter(({ kind, reason }) => kind !== 'Paused' && !known.has(reason))
    .map(({ kind, reason }) => `held by ${kind}: ${reason}`);
};

const hooksLines = (before: UpdateView | undefined, after: UpdateView): readonly string[] => {
  const known = new Set(before === undefined ? [] : hookLines(before));
  return hookLines(after).filter((line) => !known.has(line));
};

/** New entries only, with their start. */
const missedLines = (before: UpdateView | undefined, after: UpdateView): readonly string[] => {
  const keyOf = ({ zone, instanceId, code, message }: MissingNode): string =>
    [zone, instanceId, code, message].join('/');
  const known = new Set((before?.update.status?.missing ?? []).map(keyOf));
  const missing = after.status === 'InProgress' ? (after.update.status?.missing ?? []) : [];
  return missing
    .filter((one) => !known.has(keyOf(one)))
    .map(({ zone, instanceId, code, message, since }) => {
      const where = zone === undefined ? '' : ` in ${zone}`;
      return instanceId === undefined
        ? `no new node${where} since ${since}: ${code}: ${message}`
        : `new node ${instanceId}${where} has not joined since ${since}: ${message}`;
    });
};

/** resultLines reports the end. */
const stateLines = (before: UpdateView | undefined, after: UpdateView): readonly string[] => {
  const then = before === undefined ? 'InProgress' : stateText(before);
  const isTold = after.status !== 'InProgress' || stateText(after) === then;
  const { message = '', errors = [] } = after.update.status ?? {};
  const isKnown =
    message === '' ||
    message === before?.update.status?.message ||
    errors.some((error) => error.message === message);
  return [
    ...(before?.phase === after.phase ? [] : [`phase ${after.phase}`]),
    ...(isTold ? [] : [stateText(after)]),
    ...(isKnown ? [] : [message]),
    ...holdsLines(before, after),
    ...hooksLines(before, after),
    ...missedLines(before, after),
  ];
};

const progressLines = (before: UpdateView | undefined, after: UpdateView): readonly string[] => {
  const { progress } = after.update.status ?? {};
  const then = before?.update.status?.progress;
  if (progress === undefined) return [];
  const { done, total, emptied = 0 } = progress;
  return [
    ...(emptied > (then?.emptied ?? 0) ? [`${emptied} of ${total} old nodes empty`] : []),
    ...(done === (then?.done ?? 0) ? [] : [`${done} of ${total} nodes done`]),
  ];
};

const nodeLines = (before: NodeView | undefined, after: NodeView): readonly string[] => {
  // Waiting nodes are many, and their state is not informative.
  if (after.state === 'waiting') return [];
  const isSame = before?.state === after.state && before.what === after.what;
  const told = new Set(before?.state === after.state ? before.blockers : []);
  const fresh = after.blockers.filter((blocker) => !told.has(blocker));
  return [
    ...(isSame ? [] : [`${after.name}: ${after.what}`]),
    ...fresh.map((blocker) => `${after.name}: ${blocker}`),
  ];
};

export const changeLines = (
  before: UpdateView | undefined,
  after: UpdateView,
): readonly string[] => {
  const known = new Map((before?.nodes ?? []).map((node) => [node.instanceId, node]));
  return [
    ...(before === undefined ? beginLines(after) : []),
    ...stateLines(before, after),
    ...after.nodes.flatMap((node) => nodeLines(known.get(node.instanceId), node)),
    ...progressLines(before, after),
  ];
};

/** The result in EKS' words, with the remedy for each error. */
export const resultLines = (view: UpdateView): readonly string[] => {
  const { errors = [] } = view.update.status ?? {};
  return [
    `update ${view.id}: ${view.status}`,
    ...errors.flatMap((error) => [
      `${error.code}: ${error.message}`,
      `remedy: ${healthRemedy(error, { name: view.nodeGroup })}`,
    ]),
  ];
};
