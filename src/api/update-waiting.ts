// What an update waits for: one value for each reason. `explainUpdateWaiting` (core/update) renders
// it to conditions, messages, the command line and a dry run. No behaviour.
import type { MissingNode, UpdatePhase } from './nodegroup-update.ts';
import type { Hold } from './update-pacing.ts';

export type UpdateWaitingOn =
  /** A pause, a window, an approval, a probe or a soak: no further node is started. */
  | { readonly kind: 'hold'; readonly hold: Hold }
  /** The group's earlier update is in progress. */
  | { readonly kind: 'turn'; readonly update: string; readonly type: string }
  /** A revision that the spec requests; it becomes an update once `update` has ended. */
  | {
      readonly kind: 'change';
      readonly revision: string;
      readonly update: string;
      /** Number of further open updates behind it. */
      readonly more: number;
    }
  /** A launch fails, or an instance has not joined. */
  | { readonly kind: 'newNode'; readonly node: MissingNode }
  /** A node of the surplus is being drained, and its pods are blocked. */
  | {
      readonly kind: 'surplus';
      readonly node: string;
      /** The pods, budgets and owners that block the drain, as text. */
      readonly heldBy: string;
      readonly deadline: string;
      /** What happens at the deadline. */
      readonly atDeadline: 'force' | 'hookEnds' | 'fail';
    }
  /** No zone has capacity for nodes beside the old ones, so old nodes are drained first. */
  | { readonly kind: 'room'; readonly code: string; readonly message: string }
  /** The update paused itself after a drain that exceeded its deadline. */
  | {
      readonly kind: 'resume';
      readonly update: string;
      /** The first node that failed. */
      readonly node?: string;
      readonly message?: string;
      /** Number of further nodes that failed. */
      readonly more: number;
    }
  /** Other nodes of the update are in progress. */
  | { readonly kind: 'phase'; readonly phase: UpdatePhase };
