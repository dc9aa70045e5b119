// Renders an update as a screen: a fixed header, then the tree of update, batch, node and blocker,
// within the available lines and columns. Completed and waiting nodes are folded into counts. Pure.
import { type EpochMs, parseTime } from '../../api/brand.ts';
import { fromTo, type NodeView, type UpdateView } from '../../core/overview/index.ts';
import { formatDuration } from '../duration.ts';
import {
  type Branch,
  between,
  branchOf,
  cut,
  fitted,
  plural,
  type Size,
  urgentLines,
  wrapped,
} from './branches.ts';
import { heldText, holdLines, hookLines, missingLines, pastShortages, waveText } from './holds.ts';

const barWidth = 24;

/** `[######------] 3 of 6 nodes`; undefined while the number of nodes is unknown. */
export const progressBar = (view: UpdateView): string | undefined => {
  const { progress } = view.update.status ?? {};
  if (progress === undefined) return undefined;
  const { total, done, emptied = 0 } = progress;
  const share = total === 0 ? 1 : (done + emptied) / total;
  const filled = Math.floor(share * barWidth);
  const bar = `${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}`;
  return `[${bar}]  ${done} of ${total} nodes${emptied === 0 ? '' : `, ${emptied} empty`}`;
};

/** `about 4m left, 90 % within 7m`; undefined where the update has no predicted end. */
export const etaText = ({ status, update }: UpdateView, now: EpochMs): string | undefined => {
  const { p50, p90 } = update.status?.progress?.eta ?? {};
  const [half, most] = [parseTime(p50), parseTime(p90)];
  // A hold may last for any time.
  const isHeld = (update.status?.holds ?? []).length > 0;
  if (status !== 'InProgress' || isHeld || half === undefined || most === undefined) {
    return undefined;
  }
  const left = (at: EpochMs): string => formatDuration((at - now) / 1000);
  const about = half > now ? `about ${left(half)} left` : 'about to end';
  return most > now ? `${about}, 90 % within ${left(most)}` : about;
};

/** `InProgress, paused`; `Failed`. */
export const stateText = (view: UpdateView): string => {
  const { status, update } = view;
  if (status !== 'InProgress') return status;
  const { abort, paused } = update.spec;
  if (abort === 'RollBack') return 'InProgress, rolling back';
  if (abort === 'Stop') return 'InProgress, being stopped';
  const held = heldText(view);
  const waits = held === undefined ? 'InProgress' : `InProgress, ${held}`;
  return paused === true ? 'InProgress, paused' : waits;
};

const howText = (view: UpdateView): string => {
  const { update } = view;
  const wave = waveText(view);
  const { status, spec } = update;
  const strategy = status?.strategy ?? spec.strategy;
  const most = status?.maxUnavailable;
  return [
    ...(strategy === undefined ? [] : [strategy]),
    ...(most === undefined ? [] : [`at most ${most} at once`]),
    ...(spec.force === true ? ['with force'] : []),
    ...(wave === undefined ? [] : [wave]),
  ].join(', ');
};

/** EKS' last phase, in which all old nodes are replaced. */
const surplusLines = ({ status, phase, update, nodes }: UpdateView): readonly string[] => {
  const { strategy, surge = 0 } = update.status ?? {};
  if (status !== 'InProgress' || phase !== 'ScalingDown' || strategy === 'BLUE_GREEN') return [];
  const back = nodes.filter(({ state }) => state === 'takenBack').length;
  return surge === 0 ? [] : [`surplus: ${back} of ${surge} new nodes taken back`];
};

export const headerLines = (view: UpdateView, now: EpochMs): readonly string[] => {
  const { update, nodeGroup, cluster, phase, status } = view;
  const { from, to } = fromTo(view);
  const where = cluster === undefined ? nodeGroup : `${nodeGroup} in ${cluster}`;
  const what = update.spec.action === 'Rollback' ? 'rollback' : update.spec.type;
  const revisions = to === undefined ? '' : `: ${from ?? '?'} -> ${to}`;
  const inPhase = update.status?.phases?.at(-1)?.at;
  const phaseFor = between(inPhase, now);
  const step = phaseFor === undefined ? `, phase ${phase}` : `, phase ${phase} for ${phaseFor}`;
  const how = howText(view);
  const began = update.status?.startedAt ?? update.metadata.creationTimestamp;
  const end = parseTime(update.status?.endedAt);
  const elapsed = between(began, end ?? now);
  const bar = progressBar(view);
  const eta = etaText(view, now);
  const time =
    elapsed === undefined ? [] : [`${elapsed} ${end === undefined ? 'so far' : 'in all'}`];
  return [
    // The id last: a narrow terminal truncates the line at its end.
    `${where}${revisions}  (${what} ${view.id})`,
    `${stateText(view)}${status === 'InProgress' ? step : ''}${how === '' ? '' : `  (${how})`}`,
    [...(bar === undefined ? [] : [bar]), ...time, ...(eta === undefined ? [] : [eta])].join('  '),
    ...(view.behind === undefined
      ? []
      : [`waits for update ${view.behind}, which is in progress: there is one at a time`]),
    ...surplusLines(view),
    ...holdLines(view, now),
    ...hookLines(view),
    ...missingLines(view, now),
  ];
};

/** EC2's names are all equal after the first dot, and that part takes half a line. */
const shortName = ({ name }: NodeView): string =>
  name.replace(/^([^.]+)\.(?:[^.]+\.compute|ec2)\.internal$/, '$1');

const byState = (view: UpdateView, state: NodeView['state']): readonly NodeView[] =>
  view.nodes.filter((node) => node.state === state);

/** The folded counts: completed and waiting nodes, and the group's instances. */
const countLines = (view: UpdateView): readonly string[] => {
  const { progress } = view.update.status ?? {};
  const waiting = byState(view, 'waiting').length;
  const done = progress?.done ?? byState(view, 'done').length;
  const kept = byState(view, 'kept').length;
  const open = (progress?.total ?? 0) - done - waiting - kept;
  const untouched = open - byState(view, 'inFlight').length - byState(view, 'failed').length;
  const parts = [
    ...(done > 0 ? [`${done} done`] : []),
    ...(kept > 0 ? [`${kept} empty and kept`] : []),
    ...(waiting > 0 ? [`${waiting} cordoned and waiting`] : []),
    ...(untouched > 0 ? [`${untouched} not begun`] : []),
  ];
  const group =
    view.instances === undefined
      ? []
      : [`group: ${view.ready ?? 0} of ${plural(view.instances, 'instance')} ready`];
  return [...(parts.length === 0 ? [] : [parts.join(', ')]), ...group];
};

const endLines = (view: UpdateView, { columns, rows }: Size): readonly string[] => {
  const { update, status } = view;
  const { errors = [], message = '' } = update.status ?? {};
  const shortages = pastShortages(view);
  const told =
    status === 'InProgress' || errors.length === 0
      ? [message, ...shortages.map(({ zone, code }) => `no room for new nodes in ${zone}: ${code}`)]
      : errors.map((error) => `${error.code}: ${error.message}`);
  const lines = told.filter(Boolean);
  const full = lines.flatMap((line) => wrapped(line, columns));
  // Long lines are wrapped only if that leaves half of the screen to the nodes.
  return full.length <= Math.max(2, rows / 2) ? full : lines;
};

interface Rest {
  readonly header: readonly string[];
  readonly ends: readonly string[];
  readonly counts: readonly string[];
}

/** With more rows than this the first line of the header always stays. */
const leastRows = 4;

/**
 * On a small screen the blockers are the last to be omitted; before them the progress, the state
 * and the title.
 */
const smallScreen = (
  must: readonly string[],
  { header, ends, counts }: Rest,
  { columns, rows }: Size,
): readonly string[] => {
  const body = must
    .flatMap((line) => wrapped(line, columns))
    .slice(0, rows - (rows > leastRows ? 1 : 0));
  const [what = '', state = '', bar = ''] = header;
  const others = header.slice(3).filter((line) => !must.includes(line));
  const wanted = [what, state, bar, ...counts, ...others, ...ends].slice(0, rows - body.length);
  const shown = (lines: readonly string[]): readonly string[] =>
    lines.filter((line) => wanted.includes(line));
  const lines = [...shown([what, state, bar]), ...shown(others), ...body];
  return [...lines, ...shown(ends), ...shown(counts)]
    .slice(0, rows)
    .map((line) => cut(line, columns));
};

/** The complete screen: never more than `rows` lines of `columns` characters. */
export const screenLines = (view: UpdateView, now: EpochMs, size: Size): readonly string[] => {
  const header = headerLines(view, now);
  const flight = byState(view, 'inFlight');
  const failed = byState(view, 'failed');
  const branch = (node: NodeView): Branch =>
    branchOf({ ...node, name: shortName(node) }, now, size);
  const counts = countLines(view);
  const ends = endLines(view, size);
  const batch = flight.length === 0 ? [] : [`in flight: ${plural(flight.length, 'node')}`];
  const fails = failed.length === 0 ? [] : [`failed: ${plural(failed.length, 'node')}`];
  const fixed = header.length + ends.length + batch.length + fails.length + counts.length;
  const { columns } = size;
  const room = size.rows - fixed;
  // Failed nodes need attention: they keep up to a third of the room.
  const failedRoom = Math.max(2, Math.floor(room / 3));
  const failedLines =
    failed.length === 0 ? [] : fitted(failed.map(branch), { columns, rows: failedRoom });
  const flightLines = fitted(flight.map(branch), {
    columns,
    rows: Math.max(0, room - failedLines.length),
  });
  const all = [...header, ...ends, ...batch, ...flightLines, ...fails, ...failedLines, ...counts];
  const urgent = flight.filter(({ blockers }) => blockers.length > 0);
  const holds = urgent.length === 0 ? holdLines(view, now) : [];
  const isShown = urgent.length > 0 ? room - failedLines.length >= 3 : all.length <= size.rows;
  if (!isShown && urgent.length + holds.length > 0) {
    const named = urgent.map((node) => ({ ...node, name: shortName(node) }));
    const must = urgent.length === 0 ? holds : urgentLines(named, now, size);
    return smallScreen(must, { header, ends, counts }, size);
  }
  return all.slice(0, size.rows).map((line) => cut(line, size.columns));
};
