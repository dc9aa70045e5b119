// A benchmark's results and their printing: Drover's figure, the peer's and their ratio side by
// side, with the spread of the runs. Asserts nothing: a slow machine is not a failure.
import { availableParallelism, loadavg } from 'node:os';
import { figure, median } from './stats.ts';

/** One measurement of one contender, a value per run (or per event, if `per` says so). */
export interface Series {
  /** The measured quantity, e.g. `first answer (ms)`; series of the same name are compared. */
  readonly what: string;
  readonly who: string;
  readonly role: 'ours' | 'peer';
  readonly values: readonly number[];
}

export interface Outcome {
  readonly series: readonly Series[];
  /** Parts that could not run, as `what: reason`. */
  readonly notRun: readonly string[];
  /** Parts that failed: the run then ends with exit code 1. */
  readonly failures?: readonly string[];
  readonly notes: readonly string[];
}

export interface BenchContext {
  readonly runs: number;
  /** Progress, on stderr. */
  readonly say: (line: string) => void;
}

export interface Bench {
  readonly name: string;
  readonly summary: string;
  readonly defaultRuns: number;
  run(context: BenchContext): Promise<Outcome>;
}

/** Collects series one value at a time, in order of first use. */
export class SeriesCollector {
  readonly #series = new Map<string, { head: Omit<Series, 'values'>; values: number[] }>();

  add(head: Omit<Series, 'values'>, ...values: readonly number[]): void {
    const key = `${head.what}\0${head.who}`;
    const entry = this.#series.get(key) ?? { head, values: [] };
    this.#series.set(key, entry);
    entry.values.push(...values);
  }

  all(): readonly Series[] {
    return [...this.#series.values()].map(({ head, values }) => ({ ...head, values }));
  }
}

const ratioOf = (series: Series, all: readonly Series[]): string => {
  if (series.role === 'ours') return '';
  const ours = all.find((other) => other.what === series.what && other.role === 'ours');
  if (ours === undefined || median(ours.values) === 0 || median(series.values) === 0) return '';
  return `${figure(median(series.values) / median(ours.values))} x ours`;
};

const rowOf = (series: Series, all: readonly Series[]): readonly string[] => {
  const { values } = series;
  const range =
    values.length > 1 ? `${figure(Math.min(...values))} - ${figure(Math.max(...values))}` : '';
  return [
    series.what,
    series.who,
    figure(median(values)),
    range,
    String(values.length),
    ratioOf(series, all),
  ];
};

const headings = ['what', 'who', 'median', 'min - max', 'n', 'ratio'] as const;

/** Groups series of the same name, Drover's first. */
const grouped = (series: readonly Series[]): readonly Series[] => {
  const whats = [...new Set(series.map(({ what }) => what))];
  return whats.flatMap((what) => {
    const same = series.filter((other) => other.what === what);
    return [
      ...same.filter(({ role }) => role === 'ours'),
      ...same.filter(({ role }) => role === 'peer'),
    ];
  });
};

export const table = (series: readonly Series[]): string => {
  const rows = [headings, ...grouped(series).map((one) => rowOf(one, series))];
  const widths = headings.map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** Load before and after: other work on the machine affects every figure. */
export const machineLine = (before: number): string =>
  `${availableParallelism()} cores, loopback, Node ${process.versions.node}; load average ` +
  `${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after (the benchmark's own included)`;
