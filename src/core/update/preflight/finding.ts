// What a check says: which object, which values, what will happen where and when, and the command
// that removes the cause. Types only.
import type { Part } from './snapshot.ts';
import type { View } from './view.ts';

export type Severity = 'blocker' | 'warning' | 'notChecked';

export interface Consequence {
  readonly text: string;
  /** Where it shows first, by the plan's model. */
  readonly node?: string;
  readonly pod?: string;
  /** Minutes after the start, the median of the model's runs. */
  readonly minute?: number;
}

export interface Finding {
  readonly check: string;
  readonly severity: Severity;
  readonly object: { readonly kind: string; readonly name: string };
  readonly evidence: Readonly<Record<string, string | number>>;
  readonly consequence: Consequence;
  /** A command, or what to do where there is none. */
  readonly remedy: string;
  /** The update itself is refused by this rule, whatever is waived. */
  readonly isRefused?: true;
}

/** A finding of a check that is running: the runner adds the name. */
export type Found = Omit<Finding, 'check'>;

export interface Check {
  /** Stable: waivers and scripts use it. */
  readonly name: string;
  /** One line for docs and lists. */
  readonly title: string;
  /** Without any of these it cannot say anything. */
  readonly needs: readonly Part[];
  readonly run: (view: View) => readonly Found[];
}
