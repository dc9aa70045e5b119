// What people will have to approve while an update runs, and about when: before it begins, and
// behind each wave with that gate. How long they take is in no minute. Pure.
import type { Snapshot } from '../preflight/index.ts';
import type { ModelInput, RunResult } from './model.ts';

export interface PlanApproval {
  /** Behind this wave; absent: before the update begins. */
  readonly wave?: { readonly number: number; readonly of: number };
  /** So many nodes are updated by then. */
  readonly nodes: number;
  /** After the begin, by the model, without the time that approvals take. */
  readonly minute: number;
}

/** When the wave up to this node is settled: the next node is begun when the wave has rested. */
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
