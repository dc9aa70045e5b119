// When no further drain starts in a run although a slot is free: until a wave or a blue/green batch
// is complete, and during the soak after it. Drains in progress continue. Pure but for the state of
// one run.
import type { ModelInput } from './model.ts';

export interface RestFacts {
  readonly now: number;
  /** Number of nodes whose replacement has started. */
  readonly begun: number;
  readonly inFlight: number;
  /** When the last node was empty; hooks may have run since. */
  readonly emptiedAt: number;
  /** No drain or termination is in progress, and the controllers have noticed every new node. */
  readonly isSettled: boolean;
}

export interface RestDecision {
  /** How many more replacements may start. */
  readonly limit: number;
  /** A soak of this many seconds begins. */
  readonly restSeconds?: number;
}

interface WaveEnd {
  readonly upTo: number;
  readonly soakSeconds: number;
}

const wavesOf = ({ waves = [], nodes }: ModelInput): readonly WaveEnd[] =>
  waves
    .toSorted((a, b) => a.percent - b.percent)
    .map(({ percent, soakSeconds }) => ({
      // Percentages are of the nodes that are replaced.
      upTo: Math.min(nodes.length, Math.ceil((nodes.length * percent) / 100)),
      soakSeconds,
    }));

export class Rests {
  readonly #waves: readonly WaveEnd[];
  readonly #batchSeconds: number;
  readonly #total: number;
  #wave = 0;
  /** Number of nodes started when the last batch soak ended. */
  #rested = 0;
  #until = 0;

  constructor(input: ModelInput) {
    this.#waves = wavesOf(input);
    this.#batchSeconds = input.batchSoakSeconds ?? 0;
    this.#total = input.nodes.length;
  }

  /** The update does not end before this time. */
  get until(): number {
    return this.#until;
  }

  #rest(now: number, restSeconds: number): RestDecision {
    this.#until = now + restSeconds;
    return { limit: 0, restSeconds };
  }

  decide(facts: RestFacts): RestDecision {
    const { now, begun, inFlight, isSettled, emptiedAt } = facts;
    if (now < this.#until) return { limit: 0 };
    const wave = this.#waves[this.#wave];
    if (wave !== undefined && begun >= wave.upTo) {
      if (!isSettled) return { limit: 0 };
      this.#wave += 1;
      return wave.soakSeconds > 0 ? this.#rest(now, wave.soakSeconds) : this.decide(facts);
    }
    const isBatch = this.#batchSeconds > 0 && begun > this.#rested && begun < this.#total;
    if (isBatch) {
      if (inFlight > 0) return { limit: 0 };
      this.#rested = begun;
      const left = emptiedAt + this.#batchSeconds - now;
      if (left > 0) return this.#rest(now, left);
    }
    return { limit: (wave?.upTo ?? this.#total) - begun };
  }
}
