// The approvals that an update will need and about when: before it begins, and after each wave with
// that gate. Times do not include how long operators take to approve. Pure.
import type { Snapshot } from '../preflight/index.ts';
import type { ModelInput, RunResult } from './model.ts';

export interface PlanApproval {
  /** After this wave; absent: before the update begins. */
  readonly wave?: { readonly number: number; readonly of: number };
  /** Number of nodes updated at that time. */
  readonly nodes: number;
  /** Minutes after the start according to the model, without the time that approvals take. */
  readonly minute: number;
}

/** When the wave with the first `upTo` nodes is complete: its soak before the next node begins. */
const settledAt = (
  { drains }: RunResult,
  { upTo, soakSeconds }: { readonly upTo: number; readonly soakSeconds: number },
): number => {
  const next = drains[upTo];
  if (next !== undefined) return next.startSeconds - soakSeconds;
  return Math.max(0, ...drains.map(({ endSeconds }) => endSeconds));
};

export const approvalsOf = (
  { outlook }: Snapshot,
  { nodes }: Pick<ModelInput, 'nodes'>,
  median: RunResult,
): readonly PlanApproval[] => {
  const { holds = [], waves = [] } = outlook ?? {};
  const sorted = waves.toSorted((a, b) => a.percent - b.percent);
  return [
    ...(holds.some(({ kind }) => kind === 'Approval') ? [{ nodes: 0, minute: 0 }] : []),
    ...sorted.flatMap(({ percent, soakSeconds, wantsApproval }, at): readonly PlanApproval[] => {
      if (wantsApproval !== true) return [];
      const upTo = Math.min(nodes.length, Math.ceil((nodes.length * percent) / 100));
      const seconds = Math.max(0, settledAt(median, { upTo, soakSeconds }));
      const wave = { number: at + 1, of: sorted.length };
      return [{ wave, nodes: upTo, minute: Math.round(seconds / 6) / 10 }];
    }),
  ];
};
