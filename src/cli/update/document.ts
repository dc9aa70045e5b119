// Renders updates: a table row, the document for scripts, and everything about one update. Pure.

import { type EpochMs, parseTime } from '../../api/brand.ts';
import {
  approvedAnnotation,
  approvedByAnnotation,
  approvedWaveAnnotation,
  approvedWaveByAnnotation,
} from '../../api/update-pacing.ts';
import type { UpdatePolicies } from '../../api/update-policy.ts';
import { healthRemedy } from '../../core/explain/index.ts';
import { fromTo, type NodeView, type UpdateView } from '../../core/overview/index.ts';
import { documentVersion } from '../drain/render.ts';
import { formatDuration } from '../duration.ts';
import { nodeLine } from './branches.ts';
import { heldText, hookText, pastShortages } from './holds.ts';
import { headerLines } from './screen.ts';
import { typeLines } from './types.ts';

export const updateHeader = [
  'NODEGROUP',
  'UPDATE',
  'TYPE',
  'STATUS',
  'PHASE',
  'NODES',
  'ETA',
  'FROM',
  'TO',
  'CREATED',
];

const withoutFraction = (time: string): string => time.replace(/\.\d+/, '');

/**
 * `InProgress`, `Stopping` after an abort, `Paused`, `Held (Window)`, `Hook (preDrain)` while it
 * waits for hooks of nodes; the result once it has ended.
 */
const statusCell = (view: UpdateView): string => {
  const { update, status } = view;
  if (update.spec.abort !== undefined && status === 'InProgress') return 'Stopping';
  if (update.spec.paused === true && status === 'InProgress') return 'Paused';
  return heldText(view)?.replace('held', 'Held') ?? hookText(view) ?? status;
};

export const updateCells = (view: UpdateView): readonly string[] => {
  const { update } = view;
  const { progress } = update.status ?? {};
  const { from = '-', to = '-' } = fromTo(view);
  return [
    view.nodeGroup,
    view.id,
    update.spec.action === 'Rollback' ? 'Rollback' : update.spec.type,
    statusCell(view),
    update.status?.phase ?? '-',
    progress === undefined ? '-' : `${progress.done}/${progress.total}`,
    progress?.eta === undefined || view.status !== 'InProgress'
      ? '-'
      : withoutFraction(progress.eta.p50),
    from,
    to,
    withoutFraction(update.metadata.creationTimestamp),
  ];
};

/** One update in `-o json`. Times are RFC 3339; null means not known yet. */
const updateItem = (view: UpdateView) => {
  const { update } = view;
  const { spec, status, metadata } = update;
  return {
    id: view.id,
    nodegroup: view.nodeGroup,
    cluster: view.cluster ?? null,
    type: spec.type,
    action: spec.action ?? 'Update',
    status: view.status,
    phase: status?.phase ?? null,
    message: status?.message ?? '',
    strategy: status?.strategy ?? spec.strategy ?? null,
    force: spec.force ?? false,
    paused: spec.paused ?? false,
    approved: metadata.annotations?.[approvedAnnotation] ?? null,
    approvedBy: metadata.annotations?.[approvedByAnnotation] ?? null,
    approvedWave: metadata.annotations?.[approvedWaveAnnotation] ?? null,
    approvedWaveBy: metadata.annotations?.[approvedWaveByAnnotation] ?? null,
    holds: status?.holds ?? [],
    hooks: status?.hooks ?? [],
    wave: status?.wave ?? null,
    abort: spec.abort ?? null,
    reason: spec.reason ?? null,
    policies: spec.policies ?? null,
    params: spec.params,
    from: status?.from ?? null,
    target: status?.target ?? null,
    progress: status?.progress ?? null,
    createdAt: metadata.creationTimestamp,
    startedAt: status?.startedAt ?? null,
    endedAt: status?.endedAt ?? null,
    shortages: status?.shortages ?? [],
    missing: status?.missing ?? [],
    skippedTypes: status?.skippedTypes ?? [],
    fallbacks: status?.fallbacks ?? [],
    phases: status?.phases ?? [],
    errors: status?.errors ?? [],
  };
};

export const updateListDocument = (views: readonly UpdateView[]) => ({
  apiVersion: documentVersion,
  kind: 'UpdateList',
  items: views.map(updateItem),
});

/** `drover describe update -o json`: the same, with each node. */
export const updateDocument = (view: UpdateView) => ({
  apiVersion: documentVersion,
  kind: 'Update',
  ...updateItem(view),
  nodes: view.nodes.map((node) => ({
    name: node.name,
    instanceId: node.instanceId,
    state: node.state,
    what: node.what,
    since: node.since ?? null,
    podsLeft: node.podsLeft ?? null,
    podsTotal: node.podsTotal ?? null,
    deadline: node.deadline ?? null,
    blockers: node.blockers,
  })),
});

const titles = {
  inFlight: 'in flight',
  failed: 'failed',
  waiting: 'cordoned and waiting',
  notBegun: 'not begun',
  kept: 'empty and kept',
  done: 'done',
  takenBack: 'new nodes taken back',
} as const;
const order = ['inFlight', 'failed', 'waiting', 'notBegun', 'kept', 'done', 'takenBack'] as const;

const phaseLines = (view: UpdateView, now: EpochMs): readonly string[] => {
  const { phases = [], endedAt } = view.update.status ?? {};
  return phases.map(({ phase, at }, index) => {
    const until = parseTime(phases[index + 1]?.at ?? endedAt) ?? now;
    const began = parseTime(at);
    const took = began === undefined ? '' : `  ${formatDuration((until - began) / 1000)}`;
    return `  ${withoutFraction(at)}  ${phase}${took}`;
  });
};

/** `drain: onTimeout Skip, timeoutSeconds 300`, a line for each. */
const policyLines = (policies: UpdatePolicies = {}): readonly string[] =>
  Object.entries(policies).map(([name, value]) => {
    const text =
      typeof value === 'object'
        ? Object.entries(value)
            .map(([key, one]) => `${key} ${one}`)
            .join(', ')
        : String(value);
    return `  ${name}: ${text}`;
  });

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines];

/**
 * Approvals of start and waves from the annotations; the API server's audit log has the proof. A
 * pending approval is a hold.
 */
const approvalLines = ({ update }: UpdateView): readonly string[] => {
  const { annotations = {} } = update.metadata;
  const byOf = (name: string): string => `by ${annotations[name] ?? 'an unknown user'}`;
  const given = annotations[approvedAnnotation];
  const wave = annotations[approvedWaveAnnotation];
  const plan = given === 'true' ? '' : `, plan ${given}`;
  return [
    ...(given === undefined ? [] : [`  ${byOf(approvedByAnnotation)}${plan}`]),
    ...(wave === undefined
      ? []
      : [`  what follows wave ${wave}: ${byOf(approvedWaveByAnnotation)}`]),
  ];
};

/** The plan of the update, and the findings that an operator accepted. */
const planLines = ({ update: { spec } }: UpdateView): readonly string[] => [
  ...(spec.planHash === undefined ? [] : [`  plan ${spec.planHash}`]),
  ...(spec.waivers ?? []).map(({ check, by, reason }) => {
    const who = by === undefined ? '' : ` by ${by}`;
    return `  ${check} waived${who}${reason === undefined ? '' : `: ${reason}`}`;
  }),
];

/** In the order of their events; nodes without an event by name. */
const inTime = (nodes: readonly NodeView[]): readonly NodeView[] => {
  const at = ({ since }: NodeView): number => parseTime(since) ?? Number.MAX_VALUE;
  return nodes.toSorted((a, b) => at(a) - at(b));
};

/** Everything about one update, with nothing folded. */
export const describeLines = (view: UpdateView, now: EpochMs): readonly string[] => {
  const { spec, status } = view.update;
  const sizes = status?.original;
  const kept =
    sizes === undefined
      ? []
      : [`  min ${sizes.minSize}, max ${sizes.maxSize}, desired ${sizes.desired}`];
  const nodes = order.flatMap((state) =>
    section(
      titles[state],
      inTime(view.nodes.filter((node) => node.state === state)).flatMap((node) => [
        `  ${nodeLine(node, now)}`,
        ...node.blockers.map((blocker) => `    ${blocker}`),
      ]),
    ),
  );
  const { reason } = spec;
  const { message = '', errors = [] } = status ?? {};
  const isError = errors.some((error) => error.message === message);
  return [
    ...headerLines(view, now),
    ...(message === '' || isError ? [] : [message]),
    ...section(
      'errors',
      errors.flatMap((error) => [
        `  ${error.code}: ${error.message}`,
        `    remedy: ${healthRemedy(error, { name: view.nodeGroup })}`,
      ]),
    ),
    ...section(
      'no room for new nodes',
      pastShortages(view).map(({ zone, code, message: why }) => `  ${zone}: ${code}: ${why}`),
    ),
    ...section(
      'instance types',
      typeLines(status ?? {}).map((line) => `  ${line}`),
    ),
    ...section('asked for', [
      ...spec.params.map(({ type, value }) => `  ${type}: ${value}`),
      ...(reason === undefined ? [] : [`  because of ${reason}`]),
      ...policyLines(spec.policies),
    ]),
    ...section('planned', planLines(view)),
    ...section('approved', approvalLines(view)),
    ...section('sizes before it', kept),
    ...section('phases', phaseLines(view, now)),
    ...nodes,
  ];
};
