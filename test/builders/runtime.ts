// For tests only: a clock that the test moves, seeded randomness, a log that only collects. Only
// tests in src import this.
import { type DurationMs, type EpochMs, epochMs } from '../../src/api/brand.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { Clock, Journal, JournalEntry, Log, Random } from '../../src/ports/index.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** 2026-01-01T00:00:00Z, the start time of every test. */
export const testStart = epochMs(Date.UTC(2026, 0, 1));

/** Longest chain of promises between two port calls, with a margin: more is an endless loop. */
const settleHops = 400;

export class VirtualClock implements Clock {
  #now: number = testStart;
  readonly #sleepers = new Set<Sleeper>();

  now(): EpochMs {
    return epochMs(this.#now);
  }
  sleep(duration: DurationMs, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const stop = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      const sleeper: Sleeper = { at: this.#now + Math.max(0, duration), wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
  /** Number of sleeping tasks. */
  get sleeping(): number {
    return this.#sleepers.size;
  }
  /** Runs everything that needs no time. */
  async settle(): Promise<void> {
    for (let i = 0; i < settleHops; i++) await undefined;
  }
  /** Advances time, waking sleepers one by one in the order of their times. */
  async advance(duration: number): Promise<void> {
    const until = this.#now + duration;
    for (;;) {
      await this.settle();
      let next: Sleeper | undefined;
      for (const sleeper of this.#sleepers) {
        if (sleeper.at <= until && (next === undefined || sleeper.at < next.at)) next = sleeper;
      }
      if (next === undefined) break;
      this.#sleepers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
    this.#now = until;
    await this.settle();
  }
  /** A paused process or a changed clock: time moves without waking sleepers. */
  jump(duration: number): void {
    this.#now += duration;
  }
}

/** A linear congruential generator: sufficient for jitter in tests. */
export class TestRandom implements Random {
  #state: number;
  constructor(seed = 1) {
    this.#state = seed >>> 0;
  }
  next(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return this.#state / 4294967296;
  }
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly facts: JsonObject;
}

export class CollectingLog implements Log {
  readonly lines: LogLine[];
  readonly #bound: JsonObject;
  constructor(lines: LogLine[] = [], bound: JsonObject = {}) {
    this.lines = lines;
    this.#bound = bound;
  }
  debug(message: string, facts: JsonObject = {}): void {
    this.#push('debug', message, facts);
  }
  info(message: string, facts: JsonObject = {}): void {
    this.#push('info', message, facts);
  }
  warn(message: string, facts: JsonObject = {}): void {
    this.#push('warn', message, facts);
  }
  error(message: string, facts: JsonObject = {}): void {
    this.#push('error', message, facts);
  }
  child(facts: JsonObject): Log {
    return new CollectingLog(this.lines, { ...this.#bound, ...facts });
  }
  /** Messages of `level` so far. */
  messages(level: LogLine['level']): readonly string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.message);
  }
  #push(level: LogLine['level'], message: string, facts: JsonObject): void {
    this.lines.push({ level, message, facts: { ...this.#bound, ...facts } });
  }
}

export class CollectingJournal implements Journal {
  readonly entries: Omit<JournalEntry, 'at'>[] = [];
  record(entry: Omit<JournalEntry, 'at'>): void {
    this.entries.push(entry);
  }
  types(): readonly string[] {
    return this.entries.map((entry) => entry.type);
  }
}
