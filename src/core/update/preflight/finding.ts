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

/** When and where something happens first, by the model of the plan. */
export interface Forecast {
  /** The one of `nodes` that is drained first; undefined when none of them is. */
  readonly firstDrained: (
    nodes: readonly string[],
  ) => { readonly node: string; readonly minute: number } | undefined;
  /**
   * Nodes that keep waiting, to the end of their drain's time, for replacements that have no place:
   * in which share of the runs.
   */
  readonly starved: ReadonlyMap<string, number>;
  /**
   * In which share of the runs any node does: more than of each alone, where it is another one in
   * each run.
   */
  readonly starvedShare: number;
  /** Minutes until the first new node is asked for. */
  readonly firstLaunchMinute: number;
  /** Minutes of the whole update in nine of ten runs. */
  readonly p90Minutes: number;
  /** How long the replacement of a pod takes until it is Ready, in seconds, by owner. */
  readonly replacementSeconds: (owner: string) => number;
  /** How long pods of an owner take to stop. */
  readonly stopSeconds: (owner: string) => number;
}
