// What the model of the plan says of an update: what happens first, where and when. Types only.

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
