// A topic of the bootstrap's conformance: cases as data, the upstream whose behaviour they follow,
// and the differences. Runs nothing.

export interface Case<G, E> {
  readonly name: string;
  readonly given: G;
  readonly expected: E;
}

export interface Topic<G, E> {
  readonly topic: string;
  /** Project and file of the upstream behaviour. */
  readonly upstream: string;
  /** That behaviour in one or two sentences, for the table in docs/conformance.md. */
  readonly behaviour: string;
  /** Intended differences, with the reason. */
  readonly differences: readonly string[];
  readonly cases: readonly Case<G, E>[];
}
