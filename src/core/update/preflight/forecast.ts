// The plan model's forecast for an update: what happens first, on which node and when. Types only.

/** The forecast, from the runs of the plan's model. */
export interface Forecast {
  /** The first drained node of `nodes`; undefined if none of them is drained. */
  readonly firstDrained: (
    nodes: readonly string[],
  ) => { readonly node: string; readonly minute: number } | undefined;
  /**
   * Share of the runs in which the node waits until its drain times out for replacements that do
   * not fit.
   */
  readonly starved: ReadonlyMap<string, number>;
  /**
   * Share of the runs in which any node waits in this way; it exceeds the share of each single node
   * if the node differs by run.
   */
  readonly starvedShare: number;
  /** Minutes until the first new node is requested. */
  readonly firstLaunchMinute: number;
  /** Minutes of the complete update in nine of ten runs. */
  readonly p90Minutes: number;
  /** Seconds until the replacement of a pod is Ready, by owner. */
  readonly replacementSeconds: (owner: string) => number;
  /** Seconds that pods of an owner take to stop. */
  readonly stopSeconds: (owner: string) => number;
}
