// Surge and swap as recorded on objects: the labels that select them, and the patches of a
// decision, guarded by `test` operations. No behaviour.
import type { JsonObject } from './json.ts';
import type { Deployment, Pod } from './kube.ts';

/** On a Deployment: `true` requests surges. A label, so that only such Deployments are watched. */
export const surgeLabel = 'drover.dev/surge';
/** On a pod whose deletion cost Drover has set; selects the pods whose cost must be reset. */
export const swappedLabel = 'drover.dev/surge-swapped';

/** `body`: a JSON patch whose `test` operations fail if the object has changed. */
export type SurgeStep =
  /** The ReplicaSet terminates this pod first when it is scaled back. */
  | { readonly kind: 'cost' | 'restore'; readonly pod: Pod; readonly body: readonly JsonObject[] }
  | { readonly kind: 'raise' | 'lower' | 'forget'; readonly body: readonly JsonObject[] };

/** What ends the surge of one Deployment, in this order. */
export interface SurgeEnd {
  readonly deployment: Deployment;
  readonly steps: readonly SurgeStep[];
}
