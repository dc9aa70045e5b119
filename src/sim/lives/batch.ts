// Totals over many lives: what was checked, which fault occurred in which phase, and whether a
// batch proves anything. A batch fails if a fault kind never occurred or a phase was never entered.

import { repairOracles } from '../../../world/check/index.ts';
import { disruptionPhases } from '../../api/disruption.ts';
import { updatePhases, updateStrategies } from '../../api/nodegroup-update.ts';
import { hookKinds } from '../../api/update-hooks.ts';
import { holdKinds } from '../../api/update-pacing.ts';
import { networkFaultKinds } from '../ports/fault-plan.ts';
import { healthMessageLost } from './actions.ts';
import type { LifeResult } from './life.ts';
import type { Met } from './meetings.ts';

type Counts = Readonly<Record<string, number>>;
type Matrix = Readonly<Record<string, Counts>>;

export interface Batch {
  readonly lives: number;
  readonly violations: number;
  readonly checked: Counts;
  /** By `oracle: exemption`, the number of breaches that it excused. */
  readonly exempted: Counts;
  readonly met: Met;
  readonly steps: number;
  readonly worldSeconds: number;
}

export const emptyBatch = (): Batch => ({
  lives: 0,
  violations: 0,
  checked: {},
  exempted: {},
  met: { matrix: {}, phases: {}, updateMatrix: {}, updateEnds: {}, updateWays: {}, repairWays: {} },
  steps: 0,
  worldSeconds: 0,
});

const add = (a: Counts, b: Counts): Counts => {
  const sum: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
};

const addMatrix = (a: Matrix, b: Matrix): Matrix => {
  const sum: Record<string, Counts> = { ...a };
  for (const [kind, row] of Object.entries(b)) sum[kind] = add(sum[kind] ?? {}, row);
  return sum;
};

/** Adds the totals of one life, or of another batch. */
export const mergeBatch = (
  batch: Batch,
  more: Batch | Omit<LifeResult, 'trace' | 'hash'>,
): Batch => {
  const { met } = more;
  return {
    lives: batch.lives + ('lives' in more ? more.lives : 1),
    violations:
      batch.violations +
      (typeof more.violations === 'number' ? more.violations : more.violations.length),
    checked: add(batch.checked, more.checked),
    exempted: add(batch.exempted, more.exempted),
    met: {
      matrix: addMatrix(batch.met.matrix, met.matrix),
      phases: add(batch.met.phases, met.phases),
      updateMatrix: addMatrix(batch.met.updateMatrix, met.updateMatrix),
      updateEnds: add(batch.met.updateEnds, met.updateEnds),
      updateWays: add(batch.met.updateWays, met.updateWays),
      repairWays: add(batch.met.repairWays, met.repairWays),
    },
    steps: batch.steps + more.steps,
    worldSeconds: batch.worldSeconds + more.worldSeconds,
  };
};

/** Faults of users and clouds in a life, besides those of the network. */
const worldFaultKinds = [
  'F11-clock-skew',
  'message-loss',
  healthMessageLost,
  'message-duplicate',
  'message-delay',
  'message-malformed',
  'slow-termination',
  'kubelet-stop',
  'never-join',
  'no-capacity',
] as const;

/**
 * Phases that do not count as update work: a ConfigUpdate alone is Applied at once, Pending ends at
 * once without an approval, and no fault occurs in Ended.
 */
const notAtWork: ReadonlySet<string> = new Set(['Pending', 'Applied', 'Ended']);
const phasesAtWork = updatePhases.filter((phase) => !notAtWork.has(phase));
const kinds = [...networkFaultKinds, ...worldFaultKinds];

const table = (title: string, matrix: Matrix, phases: readonly string[]): string[] => {
  const header = [title, ...phases].map((cell, i) => cell.padEnd(i === 0 ? 24 : 12));
  const rows = kinds.map((kind) =>
    [kind.padEnd(24), ...phases.map((phase) => String(matrix[kind]?.[phase] ?? 0).padEnd(12))].join(
      '',
    ),
  );
  return [header.join(''), ...rows].map((line) => line.trimEnd());
};

const counts = (title: string, what: string, rows: Counts): readonly string[] => {
  const width = Math.max(title.length, ...Object.keys(rows).map(({ length }) => length)) + 2;
  const lines = Object.entries(rows).map(([name, count]) => `${name.padEnd(width)}${count}`);
  return [`${title.padEnd(width)}${what}`, ...lines];
};

const emptyCells = (what: string, matrix: Matrix, phases: readonly string[]): string[] =>
  kinds.flatMap((kind) =>
    phases
      .filter((phase) => (matrix[kind]?.[phase] ?? 0) === 0)
      .map((phase) => `${kind} never fired in ${what} ${phase}`),
  );

/** Outcomes that updates must have reached in a batch that proves something about updates. */
const wantedEnds = updateStrategies.flatMap((strategy) =>
  ['Successful', 'Failed', 'Cancelled'].map((status) => `${strategy} ${status}`),
);

/**
 * States that at least one update or sequence must have reached. WaveProbes is omitted because it
 * is too rare.
 */
const wantedWays: readonly RegExp[] = [
  ...holdKinds.filter((kind) => kind !== 'WaveProbes').map((kind) => RegExp(`held by ${kind}`)),
  ...hookKinds.map((kind) => RegExp(`hook ${kind} by`)),
  /hook \w+ by Job/,
  /hook \w+ by webhook/,
  /node Skipped/,
  /node (?:Quarantined|Paused)/,
  ...['Successful', 'Failed', 'Cancelled'].map((status) => RegExp(`sequence ended as ${status}`)),
];

const missingOfDrains = ({ matrix, phases }: Met): string[] => [
  ...emptyCells('phase', matrix, disruptionPhases),
  ...disruptionPhases
    .filter((phase) => (phases[phase] ?? 0) === 0)
    .map((phase) => `phase ${phase} was never entered`),
];

/** Some phases are short: a single cell may stay empty by chance, a full row or column may not. */
const missingOfUpdates = ({ updateMatrix, updateEnds, updateWays }: Met): string[] => [
  ...kinds
    .filter((kind) => phasesAtWork.every((phase) => (updateMatrix[kind]?.[phase] ?? 0) === 0))
    .map((kind) => `${kind} never fired during an update`),
  ...phasesAtWork
    .filter((phase) => kinds.every((kind) => (updateMatrix[kind]?.[phase] ?? 0) === 0))
    .map((phase) => `nothing ever fired in an update’s phase ${phase}`),
  ...wantedEnds
    .filter((end) => (updateEnds[end] ?? 0) === 0)
    .map((end) => `no update ended as ${end}`),
  ...wantedWays
    .filter((way) => !Object.keys(updateWays).some((met) => way.test(met)))
    .map((way) => `no update met: ${way.source}`),
];

/** Oracles of node repair: they apply to lives whose groups repair (`--repairs`). */
const ofRepairs: ReadonlySet<string> = new Set(repairOracles.map(({ name }) => name));

/**
 * A report as lines of text, and whether the batch failed. `expectAll`: the batch is large enough
 * to fill every cell of drains; `expectUpdates`: also those of updates.
 */
export const reportBatch = (
  batch: Batch,
  options: { readonly expectAll: boolean; readonly expectUpdates?: boolean },
): { readonly lines: readonly string[]; readonly failed: boolean } => {
  const { matrix, updateMatrix, updateEnds, updateWays, repairWays } = batch.met;
  const lines = [
    ...table('fault', matrix, disruptionPhases),
    '',
    ...table('in an update’s phase', updateMatrix, phasesAtWork),
    '',
  ];
  for (const [end, count] of Object.entries(updateEnds).toSorted()) {
    lines.push(`updates ended as ${end.padEnd(25)}${count}`);
  }
  for (const [way, count] of Object.entries(updateWays).toSorted()) {
    lines.push(`updates met ${way.padEnd(29)}${count}`);
  }
  for (const [way, count] of Object.entries(repairWays).toSorted()) {
    lines.push(`repairs met ${way.padEnd(29)}${count}`);
  }
  lines.push('', ...counts('oracle', 'looked at', batch.checked));
  lines.push('', ...counts('exemption', 'used', batch.exempted));
  const complaints: string[] = [];
  if (options.expectAll) complaints.push(...missingOfDrains(batch.met));
  if (options.expectUpdates === true) complaints.push(...missingOfUpdates(batch.met));
  for (const [oracle, count] of Object.entries(batch.checked)) {
    if (count > 0) continue;
    if (Object.keys(repairWays).length === 0 && ofRepairs.has(oracle)) continue;
    complaints.push(`oracle ${oracle} looked at nothing`);
  }
  if (options.expectUpdates === true) {
    const empty = emptyCells('an update’s phase', updateMatrix, phasesAtWork);
    lines.push('', ...empty.map((cell) => `not met: ${cell}`));
  }
  lines.push('', ...complaints.map((complaint) => `NOT PROVEN: ${complaint}`));
  lines.push(
    `${batch.violations} violations in ${batch.lives} lives, ` +
      `${Math.round(batch.worldSeconds / 3600)} hours of world time, ${batch.steps} events`,
  );
  return { lines, failed: batch.violations > 0 || complaints.length > 0 };
};
