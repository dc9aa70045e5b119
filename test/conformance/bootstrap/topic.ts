// What a topic of the bootstrap's conformance is: cases as data, whose behaviour they follow, and
// where ours differs. Runs nothing.

export interface Case<G, E> {
  readonly name: string;
  readonly given: G;
  readonly expected: E;
}

export interface Topic<G, E> {
  readonly topic: string;
  /** Project and file whose behaviour is followed. */
  readonly upstream: string;
  /** That behaviour in a sentence or two, for the table in docs/conformance.md. */
  readonly behaviour: string;
  /** Where ours is another on purpose, with the reason. */
  readonly differences: readonly string[];
  readonly cases: readonly Case<G, E>[];
}
