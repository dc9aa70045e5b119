// What the agent knows of a node's health, as a value. It is saved to disk, so that a restart
// neither clears a fault nor resets its time.
import { type EpochMs, formatKubeTime, parseTime } from '../../api/brand.ts';
import type { ConditionType, HealthRule, Severity } from '../rules/rule.ts';

export interface Hit {
  readonly at: EpochMs;
  readonly key: string;
}

/** One reason, from its first occurrence until it is forgotten. */
export interface ReasonState {
  /** The rule's own reason, `NvidiaXID{xid}Error`; empty for one that another agent set. */
  readonly rule: string;
  readonly reason: string;
  readonly condition: ConditionType;
  readonly severity: Severity;
  readonly message: string;
  /** The reason with the highest rank becomes the reason of the condition. */
  readonly rank: number;
  readonly lastSeen: EpochMs;
  /** Hits within the rule's window, at most as many as its threshold. */
  readonly hits: readonly Hit[];
  /** When it made its condition False. */
  readonly since?: EpochMs;
  /** The last few times at which the reason was set, to detect flapping. */
  readonly settings: readonly EpochMs[];
}

/** A condition as published. */
export interface ConditionState {
  readonly type: ConditionType;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  /** When `status` last changed. */
  readonly since: EpochMs;
}

export interface HealthState {
  readonly reasons: ReadonlyMap<string, ReasonState>;
  readonly conditions: ReadonlyMap<ConditionType, ConditionState>;
  /** Checks that ran since the agent started, and logs that were read to their end. */
  readonly looked: ReadonlySet<string>;
  /** Reasons that no check can examine here; only time clears them. */
  readonly unseen: ReadonlySet<string>;
}

export const emptyState: HealthState = {
  reasons: new Map(),
  conditions: new Map(),
  looked: new Set(),
  unseen: new Set(),
};

/** Something to report once. */
export interface Notice {
  readonly type: 'Warning' | 'Normal';
  readonly condition: ConditionType;
  readonly reason: string;
  readonly message: string;
  readonly at: EpochMs;
}

export interface Step {
  readonly state: HealthState;
  readonly notices: readonly Notice[];
}

export const reasonKey = (condition: ConditionType, reason: string): string =>
  `${condition}/${reason}`;

/** Rules by their own reason; the first of duplicates. */
export type RuleIndex = ReadonlyMap<string, HealthRule>;

export const withReason = (state: HealthState, one: ReasonState): HealthState => {
  const reasons = new Map(state.reasons);
  reasons.set(reasonKey(one.condition, one.reason), one);
  return { ...state, reasons };
};

interface SavedReason extends Omit<ReasonState, 'lastSeen' | 'hits' | 'since' | 'settings'> {
  readonly lastSeen: string;
  readonly since?: string;
  readonly settings: readonly string[];
}

/** The reasons to save: those that make a condition False. Their counts are not saved. */
export const savedReasons = (state: HealthState): readonly SavedReason[] =>
  [...state.reasons.values()].flatMap((one) => {
    if (one.since === undefined) return [];
    const { hits: _, lastSeen, since, settings, ...rest } = one;
    return [
      {
        ...rest,
        lastSeen: formatKubeTime(lastSeen),
        since: formatKubeTime(since),
        settings: settings.map(formatKubeTime),
      },
    ];
  });

/** Reads saved reasons; skips entries of another form. */
export const restoredReasons = (saved: readonly unknown[]): readonly ReasonState[] =>
  saved.flatMap((value) => {
    const one = value as Partial<SavedReason> | null;
    const { rule, reason, condition, severity, message, rank = 0 } = one ?? {};
    const lastSeen = parseTime(one?.lastSeen);
    const since = parseTime(one?.since);
    if (typeof rule !== 'string' || typeof reason !== 'string') return [];
    if (condition === undefined || severity === undefined) return [];
    if (lastSeen === undefined || since === undefined || typeof message !== 'string') return [];
    const settings = (one?.settings ?? []).flatMap((text) => parseTime(text) ?? []);
    const known = { rule, reason, condition, severity, message, rank };
    return [{ ...known, lastSeen, hits: [], since, settings }];
  });
