// What a rule on user data is: data, with a sample that breaks it and one that does not. docs/rules
// is printed from these; the samples are the rule's test.
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
  /** What happens on the node. */
  readonly consequence: string;
  readonly fix: string;
  /** Where this was seen or is said. */
  readonly source: string;
  readonly bad: Sample;
  readonly good: Sample;
}
