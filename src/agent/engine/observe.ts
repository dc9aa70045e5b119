// How an occurrence, a look and the passing of time change the state. Pure: time is an argument.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import type { CheckName } from '../rules/check-names.ts';
import type { HealthRule, Occurrence } from '../rules/rule.ts';
import {
  type HealthState,
  type Hit,
  type Notice,
  type ReasonState,
  type RuleIndex,
  reasonKey,
  type Step,
  withReason,
} from './state.ts';

/** A reason set this often within this time flaps, and is held until it was quiet for `quietMs`. */
const flap = { times: 3, withinMs: 3_600_000, quietMs: 900_000 } as const;
/** Time until a reason without a rule is cleared; another agent has set it. */
const defaultClearMs = 900_000;
/** A condition's message must stay readable; further findings are only counted. */
const maxJoined = 3;

const isReached = (rule: HealthRule, hits: readonly Hit[], key: string): boolean => {
  const { count, of = 'any' } = rule.threshold ?? { count: 1 };
  if (of === 'same') return hits.filter((one) => one.key === key).length >= count;
  if (of === 'distinct') return new Set(hits.map((one) => one.key)).size >= count;
  return hits.length >= count;
};

/** Maximum number of hits kept within the window; no threshold needs more. */
const maxHits = 64;
const keptHits = (rule: HealthRule, hits: readonly Hit[], now: EpochMs): readonly Hit[] => {
  if (rule.threshold === undefined) return hits.slice(-1);
  const from = now - rule.threshold.withinSeconds * 1000;
  return hits.filter(({ at }) => at >= from).slice(-maxHits);
};

const noticeOf = (one: ReasonState, message: string, at: EpochMs): Notice => ({
  type: 'Warning',
  condition: one.condition,
  reason: one.reason,
  message,
  at,
});

/** One occurrence of a rule at `at`, which may lie in the past. */
export const observe = (state: HealthState, occurrence: Occurrence, at: EpochMs): Step => {
  const { rule, reason, message, key } = occurrence;
  const { condition, severity } = rule;
  const before = state.reasons.get(reasonKey(condition, reason));
  const hits = keptHits(rule, [...(before?.hits ?? []), { at, key }], at);
  const isSet = isReached(rule, hits, key);
  const lastSeen = epochMs(Math.max(at, before?.lastSeen ?? 0));
  const next: ReasonState = {
    rule: rule.reason,
    reason,
    condition,
    severity,
    message: isSet || before?.since === undefined ? message : before.message,
    rank: rule.rank ?? 0,
    lastSeen,
    // After an event is reported, counting restarts.
    hits: isSet && severity === 'Event' ? [] : hits,
    settings: before?.settings ?? [],
    ...(before?.since === undefined ? {} : { since: before.since }),
  };
  if (!isSet) return { state: withReason(state, next), notices: [] };
  if (severity === 'Event') {
    return { state: withReason(state, next), notices: [noticeOf(next, message, at)] };
  }
  if (next.since !== undefined) return { state: withReason(state, next), notices: [] };
  const settings = [...next.settings, at].slice(-flap.times);
  const set: ReasonState = { ...next, since: at, settings };
  return { state: withReason(state, set), notices: [noticeOf(set, message, at)] };
};

export interface Look {
  readonly check: CheckName;
  readonly found: readonly Occurrence[];
  /** Reasons of rules that could not be checked. */
  readonly unseen: readonly string[];
  /** Start of the look: it clears nothing that was seen later. */
  readonly begunAt: EpochMs;
}

/** Several findings of one reason in one look are one occurrence: a condition has one message. */
const joined = (found: readonly Occurrence[]): readonly Occurrence[] => {
  const byReason = new Map<string, Occurrence[]>();
  for (const one of found) {
    const key =
      one.rule.severity === 'Event'
        ? `${one.reason} ${one.key}`
        : reasonKey(one.rule.condition, one.reason);
    byReason.set(key, [...(byReason.get(key) ?? []), one]);
  }
  return [...byReason.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const messages = [...new Set(same.map(({ message }) => message))];
    const shown = messages.slice(0, maxJoined).join('; ');
    const rest = messages.length - maxJoined;
    return [{ ...first, message: rest > 0 ? `${shown} (and ${rest} more)` : shown }];
  });
};

const clearable = (one: ReasonState, now: EpochMs): boolean => {
  const recent = one.settings.filter((at) => at >= now - flap.withinMs);
  return recent.length < flap.times || now - one.lastSeen >= flap.quietMs;
};

const cleared = (one: ReasonState): ReasonState => {
  const { since: _, ...rest } = one;
  return { ...rest, hits: [] };
};

/** Applies a check's findings, and clears what it checked without finding. */
export const afterLook = (state: HealthState, rules: RuleIndex, look: Look, now: EpochMs): Step => {
  const notices: Notice[] = [];
  let next = state;
  const occurrences = joined(look.found);
  for (const one of occurrences) {
    const step = observe(next, one, now);
    next = step.state;
    notices.push(...step.notices);
  }
  const foundReasons = new Set(
    occurrences.map(({ rule, reason }) => reasonKey(rule.condition, reason)),
  );
  const reasons = new Map(next.reasons);
  for (const [key, one] of reasons) {
    const rule = rules.get(one.rule);
    if (rule?.check !== look.check || look.unseen.includes(one.rule)) continue;
    if (foundReasons.has(key) || one.lastSeen > look.begunAt) continue;
    if (one.since === undefined) reasons.set(key, { ...one, hits: [] });
    else if (clearable(one, now)) reasons.set(key, cleared(one));
  }
  const unseen = new Set(state.unseen);
  for (const rule of rules.values()) {
    if (rule.check === look.check) unseen.delete(rule.reason);
  }
  for (const reason of look.unseen) unseen.add(reason);
  const looked = new Set(state.looked).add(look.check);
  return { state: { ...next, reasons, unseen, looked }, notices };
};

/** The state after a log was read to its end, or is known to be unreadable. */
export const afterReading = (state: HealthState, source: string): HealthState =>
  state.looked.has(source) ? state : { ...state, looked: new Set(state.looked).add(source) };

const isOver = (
  state: HealthState,
  rule: HealthRule | undefined,
  one: ReasonState,
  now: EpochMs,
): boolean => {
  if (rule?.check !== undefined && !state.unseen.has(rule.reason)) return false;
  const clearAfter = rule?.clearAfterSeconds;
  if (clearAfter === 'reboot') return false;
  const clearMs = clearAfter === undefined ? defaultClearMs : clearAfter * 1000;
  return now - one.lastSeen >= clearMs && clearable(one, now);
};

/** Clears what has expired, and forgets what no threshold needs. */
export const afterTime = (state: HealthState, rules: RuleIndex, now: EpochMs): HealthState => {
  let changed: Map<string, ReasonState> | undefined;
  for (const [key, one] of state.reasons) {
    const rule = rules.get(one.rule);
    if (one.since !== undefined) {
      if (!isOver(state, rule, one, now)) continue;
      changed ??= new Map(state.reasons);
      changed.set(key, cleared(one));
    } else if (now - one.lastSeen >= flap.withinMs) {
      changed ??= new Map(state.reasons);
      changed.delete(key);
    }
  }
  return changed === undefined ? state : { ...state, reasons: changed };
};
