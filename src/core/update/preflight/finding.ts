// A finding of a check: the object, the evidence, the consequence with its place and time, and the
// command that fixes the cause. Types only.
import type { Part } from './snapshot.ts';
import type { View } from './view.ts';

export type Severity = 'blocker' | 'warning' | 'notChecked';

export interface Consequence {
  readonly text: string;
  /** The first node and pod affected, according to the plan's model. */
  readonly node?: string;
  readonly pod?: string;
  /** Minutes after the start; median of the model's runs. */
  readonly minute?: number;
}

export interface Finding {
  readonly check: string;
  readonly severity: Severity;
  readonly object: { readonly kind: string; readonly name: string };
  readonly evidence: Readonly<Record<string, string | number>>;
  readonly consequence: Consequence;
  /** A command, or an instruction if no command fits. */
  readonly remedy: string;
  /** The update is refused by this rule even if the finding is waived. */
  readonly isRefused?: true;
}

/** A finding as a check returns it; the runner adds the check's name. */
export type Found = Omit<Finding, 'check'>;

export interface Check {
  /** Stable, since waivers and scripts use it. */
  readonly name: string;
  /** One line for docs and lists. */
  readonly title: string;
  /** The check cannot run if any of these could not be read. */
  readonly needs: readonly Part[];
  readonly run: (view: View) => readonly Found[];
}
