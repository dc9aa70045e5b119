// The holds that a new update would have, and the length of its window. Used by plans, before the
// update exists. Pure.

import { type EpochMs, formatTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { Hold, UpdatePacing } from '../../../api/update-pacing.ts';
import { windowFaults, windowState } from './windows.ts';

export interface Outlook {
  readonly holds: readonly Omit<Hold, 'since'>[];
  /**
   * The remaining time of the open window, or the length of the next one; absent: it has no
   * foreseeable end.
   */
  readonly windowSeconds?: number;
  /** Windows that never open, each with the reason; absent: none. */
  readonly faults?: readonly string[];
  /** The soak of each wave; absent: there are no waves. */
  readonly waves?: readonly {
    readonly percent: number;
    readonly soakSeconds: number;
    /** An approval is needed after this wave. */
    readonly wantsApproval?: true;
  }[];
}

const secondsLeft = (pacing: UpdatePacing, at: EpochMs): number | undefined => {
  const { kind, until } = windowState(pacing, at);
  return kind === 'open' && until !== undefined ? Math.floor((until - at) / 1000) : undefined;
};

export const outlookOf = (pacing: UpdatePacing, now: EpochMs): Outlook => {
  const state = windowState(pacing, now);
  const until = state.until === undefined ? {} : { until: formatTime(state.until) };
  const begins = state.kind === 'open' ? now : state.until;
  const windowSeconds = begins === undefined ? undefined : secondsLeft(pacing, begins);
  const { waves = [] } = pacing;
  const faults = windowFaults(pacing);
  const approval = 'the group wants an approval: `drover approve update` once it is asked for';
  return {
    holds: [
      ...(pacing.approval === 'Required' ? [{ kind: 'Approval', reason: approval } as const] : []),
      ...(state.kind === 'open' ? [] : [{ kind: state.by, reason: state.reason, ...until }]),
    ],
    ...defined({ windowSeconds }),
    ...(faults.length === 0 ? {} : { faults }),
    ...(waves.length === 0
      ? {}
      : {
          waves: waves.map(({ percent, soakSeconds = 0, gates = [] }) => ({
            percent,
            soakSeconds,
            ...(gates.includes('Approval') ? { wantsApproval: true as const } : {}),
          })),
        }),
  };
};
