// How long pods took to stop during drains, used by plans of later updates. Types and their bounds
// only.

export interface StopTimes {
  /** Kind/namespace/name of the pods' controller: a ReplicaSet rather than its Deployment. */
  readonly owner: string;
  /** Whole seconds from the deletion of each pod until it was gone. */
  readonly seconds: readonly number[];
}

/** A NodeDisruption keeps the slowest owners of its node, so that its status stays small. */
export const stopTimesOfNode = { owners: 20, pods: 10 } as const;

/** The limits for an update, over all its nodes. */
export const stopTimesOfUpdate = { owners: 60, pods: 20 } as const;
