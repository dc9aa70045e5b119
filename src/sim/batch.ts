// Many lives added up: what was looked at, what fired in which phase, and whether a batch proves
// anything. A batch in which a fault kind never fired or a phase was never entered is a failure.
import { disruptionPhases } from '../api/disruption.ts';
import { networkFaultKinds } from './fault-plan.ts';
import type { LifeResult } from './life.ts';

type Counts = Readonly<Record<string, number>>;

export interface Batch {
  readonly lives: number;
  readonly violations: number;
  readonly checked: Counts;
  readonly phases: Counts;
  readonly matrix: Readonly<Record<string, Counts>>;
  readonly steps: number;
  readonly worldSeconds: number;
}

export const emptyBatch = (): Batch => ({
  lives: 0,
  violations: 0,
  checked: {},
  phases: {},
  matrix: {},
  steps: 0,
  worldSeconds: 0,
});

const add = (a: Counts, b: Counts): Counts => {
  const sum: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
};

/** Adds one life, or another batch. */
export const mergeBatch = (
  batch: Batch,
  more: Batch | Omit<LifeResult, 'trace' | 'hash'>,
): Batch => {
  const matrix: Record<string, Counts> = { ...batch.matrix };
  for (const [kind, row] of Object.entries(more.matrix))
    matrix[kind] = add(matrix[kind] ?? {}, row);
  return {
    lives: batch.lives + ('lives' in more ? more.lives : 1),
    violations:
      batch.violations +
      (typeof more.violations === 'number' ? more.violations : more.violations.length),
    checked: add(batch.checked, more.checked),
    phases: add(batch.phases, more.phases),
    matrix,
    steps: batch.steps + more.steps,
    worldSeconds: batch.worldSeconds + more.worldSeconds,
  };
};

/** What users and clouds do wrong in a life, beside the network's faults. */
const worldFaultKinds = [
  'F11-clock-skew',
  'message-loss',
  'message-duplicate',
  'message-delay',
  'message-malformed',
  'slow-termination',
  'kubelet-stop',
  'never-join',
  'no-capacity',
] as const;

const table = (matrix: Batch['matrix']): string[] => {
  const kinds = [...networkFaultKinds, ...worldFaultKinds];
  const header = ['fault', ...disruptionPhases].map((cell, i) => cell.padEnd(i === 0 ? 24 : 11));
  const rows = kinds.map((kind) =>
    [
      kind.padEnd(24),
      ...disruptionPhases.map((phase) => String(matrix[kind]?.[phase] ?? 0).padEnd(11)),
    ].join(''),
  );
  return [header.join(''), ...rows].map((line) => line.trimEnd());
};

const emptyCells = (matrix: Batch['matrix']): string[] =>
  [...networkFaultKinds, ...worldFaultKinds].flatMap((kind) =>
    disruptionPhases
      .filter((phase) => (matrix[kind]?.[phase] ?? 0) === 0)
      .map((phase) => `${kind} never fired in phase ${phase}`),
  );

/** Lines for people, and whether the batch failed. `expectAll` = large enough for every cell. */
export const reportBatch = (
  batch: Batch,
  options: { readonly expectAll: boolean },
): { readonly lines: readonly string[]; readonly failed: boolean } => {
  const lines = [...table(batch.matrix), ''];
  lines.push('oracle                             looked at');
  for (const [oracle, count] of Object.entries(batch.checked)) {
    lines.push(`${oracle.padEnd(35)}${count}`);
  }
  const complaints: string[] = [];
  if (options.expectAll) {
    complaints.push(...emptyCells(batch.matrix));
    for (const phase of disruptionPhases) {
      if ((batch.phases[phase] ?? 0) === 0) complaints.push(`phase ${phase} was never entered`);
    }
  }
  for (const [oracle, count] of Object.entries(batch.checked)) {
    if (count === 0) complaints.push(`oracle ${oracle} looked at nothing`);
  }
  lines.push('', ...complaints.map((complaint) => `NOT PROVEN: ${complaint}`));
  lines.push(
    `${batch.violations} violations in ${batch.lives} lives, ` +
      `${Math.round(batch.worldSeconds / 3600)} hours of world time, ${batch.steps} events`,
  );
  return { lines, failed: batch.violations > 0 || complaints.length > 0 };
};
