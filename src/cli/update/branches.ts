// Nodes of an update and their blockers, as lines that fit a size: with less room, blockers are the
// last to be omitted. Pure.
import { type EpochMs, parseTime } from '../../api/brand.ts';
import type { NodeView } from '../../core/overview/index.ts';
import { formatDuration } from '../duration.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Branch {
  readonly line: string;
  readonly blockers: readonly string[];
  /** Short forms of the blockers, for a single line. */
  readonly briefs: readonly string[];
}

export const plural = (count: number, one: string): string =>
  `${count} ${one}${count === 1 ? '' : 's'}`;

export const cut = (line: string, columns: number): string =>
  line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;

export const between = (from: string | undefined, to: EpochMs): string | undefined => {
  const at = parseTime(from);
  return at === undefined ? undefined : formatDuration((to - at) / 1000);
};

const podsText = ({ podsLeft, podsTotal }: NodeView): string => {
  if (podsLeft === undefined) return '';
  const of = podsTotal === undefined || podsTotal < podsLeft ? '' : ` of ${podsTotal}`;
  const isOne = podsLeft === 1 && of === '';
  return `, ${podsLeft}${of} ${isOne ? 'pod' : 'pods'} left`;
};

/** `gives up in 11m59s`, while it is being drained. */
const untilText = (node: NodeView, now: EpochMs): string | undefined => {
  const left = parseTime(node.deadline);
  if (left === undefined || node.state !== 'inFlight' || left <= now) return undefined;
  const end = node.onDeadline === 'force' ? 'forced' : 'gives up';
  return `${end} in ${formatDuration((left - now) / 1000)}`;
};

const whatText = (node: NodeView, now: EpochMs): string => {
  const age = between(node.since, now);
  const time = age === undefined ? '' : node.state === 'inFlight' ? ` for ${age}` : ` ${age} ago`;
  return `${node.what}${time}${podsText(node)}`;
};

export const nodeLine = (node: NodeView, now: EpochMs): string => {
  const until = untilText(node, now);
  return `${node.name}  ${whatText(node, now)}${until === undefined ? '' : `, ${until}`}`;
};

/** The deadline comes first where the line is truncated. */
const shortLine = (node: NodeView, now: EpochMs): string => {
  const until = untilText(node, now);
  return `${node.name}  ${until === undefined ? '' : `${until}, `}${whatText(node, now)}`;
};

/** Splits into lines of at most `width`, between words. */
export const wrapped = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
};

const blockerIndent = '    ';

export const branchOf = (node: NodeView, now: EpochMs, { columns }: Size): Branch => {
  const line = nodeLine(node, now);
  const { blockers, briefs = [] } = node;
  return {
    line: line.length + 2 <= columns ? line : shortLine(node, now),
    blockers,
    briefs: blockers.map((blocker, index) => {
      const isFit = blocker.length + blockerIndent.length <= columns;
      return isFit ? blocker : (briefs[index] ?? blocker);
    }),
  };
};

/**
 * As many branches as fit in `room` lines: blockers in full, then a truncated line each, then one
 * line per node, then fewer nodes.
 */
export const fitted = (
  branches: readonly Branch[],
  { columns, rows: room }: Size,
): readonly string[] => {
  const full = branches.flatMap(({ line, blockers }) => [
    `  ${line}`,
    ...blockers.flatMap((blocker) =>
      wrapped(blocker, Math.max(1, columns - blockerIndent.length - 2)).map(
        (part, index) => `${blockerIndent}${index === 0 ? '' : '  '}${part}`,
      ),
    ),
  ]);
  if (full.length <= room) return full;
  const whole = branches.flatMap(({ line, briefs }) => [
    `  ${line}`,
    ...briefs.map((blocker) => `${blockerIndent}${blocker}`),
  ]);
  if (whole.length <= room) return whole;
  const short = branches.map(({ line, briefs }) => {
    const [only, ...others] = briefs;
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    return [`  ${line}`, ...(only === undefined ? [] : [`${blockerIndent}${only}${more}`])];
  });
  if (short.flat().length <= room) return short.flat();
  const lines: string[] = [];
  let shown = 0;
  for (const one of short) {
    // Reserves a line for the number of omitted ones.
    if (lines.length + one.length > room - 1) break;
    lines.push(...one);
    shown++;
  }
  const left = branches.length - shown;
  return room < 1 ? [] : [...lines, `  and ${plural(left, 'node')} more`];
};

/** The node with the nearest deadline: node, deadline, budget, pod. */
export const urgentLines = (
  nodes: readonly NodeView[],
  now: EpochMs,
  { columns }: Size,
): readonly string[] => {
  const sorted = nodes.toSorted((a, b) =>
    (a.deadline ?? '9').localeCompare(b.deadline ?? '9', 'en'),
  );
  const [first] = sorted;
  if (first === undefined) return [];
  const { briefs = first.blockers } = first;
  const others = nodes.length - 1;
  const until = untilText(first, now);
  return [
    cut(shortLine(first, now), columns),
    ...briefs.slice(0, 1),
    ...(until === undefined || first.name.length + until.length + 2 <= columns ? [] : [until]),
    ...(others === 0
      ? []
      : [`and ${plural(others, 'node')} more ${others === 1 ? 'waits' : 'wait'}`]),
  ];
};
