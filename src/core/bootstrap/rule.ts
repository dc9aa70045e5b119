// The form of a rule on user data: data, with a sample that violates it and one that does not.
// docs/rules is printed from these; the samples are the rule's test.
import type { LintOptions } from './options.ts';

export type Severity = 'error' | 'warning';

export interface Sample {
  readonly text: string;
  readonly options?: Partial<LintOptions>;
}

export interface Rule {
  readonly id: string;
  /** A sentence that names the mistake. */
  readonly title: string;
  readonly severity: Severity;
  /** The effect on the node. */
  readonly consequence: string;
  readonly fix: string;
  /** Where the problem was observed or documented. */
  readonly source: string;
  readonly bad: Sample;
  readonly good: Sample;
}
