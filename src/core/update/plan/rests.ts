// When no further node is begun in a run though there would be a place: until a wave or a batch of
// blue/green is over, and while the update rests behind it. What goes on meanwhile, goes on. Pure
// but for the rest that it is in.
import type { ModelInput } from './model.ts';

export interface RestFacts {
  readonly now: number;
  /** Nodes that were begun. */
  readonly begun: number;
  readonly inFlight: number;
  /** When the last node was empty; hooks may have run since. */
  readonly emptiedAt: number;
  /** Nothing is drained or leaves, and every new node is there and seen. */
  readonly isSettled: boolean;
}

export interface RestDecision {
  /** How many more nodes may be begun. */
  readonly limit: number;
  /** A rest begins, of so many seconds. */
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
      // The shares are of the nodes that are replaced.
      upTo: Math.min(nodes.length, Math.ceil((nodes.length * percent) / 100)),
      soakSeconds,
    }));

export class Rests {
  readonly #waves: readonly WaveEnd[];
  readonly #batchSeconds: number;
  readonly #total: number;
  #wave = 0;
  /** Begun when the last batch had rested. */
  #rested = 0;
  #until = 0;

  constructor(input: ModelInput) {
    this.#waves = wavesOf(input);
    this.#batchSeconds = input.batchSoakSeconds ?? 0;
    this.#total = input.nodes.length;
  }

  /** The update is not over before. */
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
