// Surge and swap as recorded on objects: the labels that select them, and the fenced writes of a
// decision. No behaviour.
import type { JsonObject } from './json.ts';
import type { Deployment, Pod } from './kube.ts';

/** On a Deployment: `true` asks for it. A label, so that only such Deployments are watched. */
export const surgeLabel = 'drover.dev/surge';
/** On a pod whose deletion cost Drover has set; selects the pods whose cost must be reset. */
export const swappedLabel = 'drover.dev/surge-swapped';

/** `body`: a JSON patch with a fence. */
export type SurgeStep =
  /** The ReplicaSet terminates this pod first when it is scaled back. */
  | { readonly kind: 'cost' | 'restore'; readonly pod: Pod; readonly body: readonly JsonObject[] }
  | { readonly kind: 'raise' | 'lower' | 'forget'; readonly body: readonly JsonObject[] };

/** What ends the surge of one Deployment, in this order. */
export interface SurgeEnd {
  readonly deployment: Deployment;
  readonly steps: readonly SurgeStep[];
}
