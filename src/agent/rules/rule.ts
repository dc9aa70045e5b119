// A rule of the node agent, as data: what sets a reason, its condition, what clears it. The
// catalogue and a node's own rules file are lists of these; nothing here matches or decides.
import { agentConditionTypes } from '../../api/agent-rights.ts';
import type { CheckName } from './check-names.ts';

/** EKS' names, except the last; the agent never writes a condition of another type. */
export const conditionTypes = agentConditionTypes;
export type ConditionType = (typeof conditionTypes)[number];

/** Condition: the condition becomes False, which repair may act on. Event: only reported. */
export const severities = ['Condition', 'Event'] as const;
export type Severity = (typeof severities)[number];

/** Sources of lines. `kernel` contains only records of the kernel: user space cannot forge them. */
export const lineSources = [
  'kernel',
  'kubelet',
  'containerd',
  'systemd',
  'cron',
  'ipamd',
  'kube-proxy',
] as const;
export type LineSource = (typeof lineSources)[number];

export interface LinePattern {
  readonly source: LineSource;
  /** Matched in linear time (RE2's language); named groups are facts for `message` and `key`. */
  readonly pattern: string;
  /** Excludes lines that also match this. */
  readonly unless?: string;
  /** Matches an earlier line that adds facts, such as the cgroup of a killed process. */
  readonly after?: string;
}

export interface Threshold {
  /** Number of occurrences that sets the reason. */
  readonly count: number;
  readonly withinSeconds: number;
  /** `same`: occurrences with one key; `distinct`: occurrences with different keys; default any. */
  readonly of?: 'any' | 'same' | 'distinct';
}

/** How a rule was tested: with a real fault on Linux, a recorded log line, or a constructed one. */
export type Proof = 'fault' | 'recorded' | 'written';

export interface RuleText {
  readonly meaning: string;
  readonly remedy: string;
  /** Which agent reports it under this name. */
  readonly origin: 'EKS' | 'node-problem-detector' | 'Drover';
  readonly proof: Proof;
  /** Sample lines that set the reason, and similar ones that do not; empty for rules of checks. */
  readonly found: readonly string[];
  readonly ignored: readonly string[];
}

export interface HealthRule {
  /** `AppCrash`; `NvidiaXID{xid}Error` includes facts in the name. */
  readonly reason: string;
  readonly condition: ConditionType;
  readonly severity: Severity;
  readonly lines?: readonly LinePattern[];
  /** The check that finds it; a later look without it clears it. */
  readonly check?: CheckName;
  /** `{name}` is replaced by the fact of that name. */
  readonly message: string;
  /** Distinguishes occurrences; default the message. */
  readonly key?: string;
  readonly threshold?: Threshold;
  /** The number that the check compares with; the rule's text gives its unit. */
  readonly limit?: number;
  /**
   * Seconds without recurrence after which the condition becomes True again, if no check examines
   * it; `reboot`: only a reboot clears it.
   */
  readonly clearAfterSeconds: number | 'reboot';
  /** The condition's reason is the one with the highest rank; default 0. */
  readonly rank?: number;
  /** Expected items, which are not reported; the rule's text gives their form. */
  readonly allow?: readonly string[];
  readonly text: RuleText;
}

/** Facts of an occurrence, by name. */
export type Facts = Readonly<Record<string, string | number>>;

/** Replaces `{name}` by facts; unknown ones are empty. */
export const filled = (template: string, facts: Facts): string =>
  template.includes('{')
    ? template.replace(/\{(\w+)\}/g, (_, name: string) => String(facts[name] ?? ''))
    : template;

/** One finding of a rule. */
export interface Occurrence {
  readonly rule: HealthRule;
  readonly reason: string;
  readonly message: string;
  readonly key: string;
}

/** Longer external texts are truncated: a condition's message must stay readable. */
const maxMessageLength = 512;

export const occurrenceOf = (rule: HealthRule, facts: Facts): Occurrence => {
  const message = filled(rule.message, facts).slice(0, maxMessageLength);
  return {
    rule,
    // By Kubernetes' convention a reason is one CamelCase word, whatever a log line contains.
    reason: filled(rule.reason, facts)
      .replace(/[^A-Za-z0-9]/g, '')
      .slice(0, 64),
    message,
    key: rule.key === undefined ? message : filled(rule.key, facts),
  };
};
