// A rule of the node agent, as data: what sets a reason, which condition it belongs to, what clears
// it. The catalogue and a node's own rules file are lists of these; nothing here matches or
// decides.
import { agentConditionTypes } from '../../api/agent-rights.ts';
import type { CheckName } from './check-names.ts';

/** EKS' names but the last; the agent never touches a condition of another type. */
export const conditionTypes = agentConditionTypes;
export type ConditionType = (typeof conditionTypes)[number];

/**
 * Condition: the condition becomes False, which repair may act on. Event: reported, never acted on.
 */
export const severities = ['Condition', 'Event'] as const;
export type Severity = (typeof severities)[number];

/**
 * Where lines come from. `kernel` has records of the kernel alone: user space cannot forge them.
 */
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
  /** Lines that match this too are left out. */
  readonly unless?: string;
  /** Facts of a line shortly before this one: the cgroup of a process that was killed. */
  readonly after?: string;
}

export interface Threshold {
  /** Occurrences that set the reason. */
  readonly count: number;
  readonly withinSeconds: number;
  /** `same`: of one key; `distinct`: of as many keys; default any. */
  readonly of?: 'any' | 'same' | 'distinct';
}

/** How a rule is shown to work: a real fault on Linux, a recorded real line, a written one. */
export type Proof = 'fault' | 'recorded' | 'written';

export interface RuleText {
  readonly meaning: string;
  readonly remedy: string;
  /** Who else reports it under this name. */
  readonly origin: 'EKS' | 'node-problem-detector' | 'Drover';
  readonly proof: Proof;
  /** Lines that set it, and similar ones that do not; empty for rules of checks. */
  readonly found: readonly string[];
  readonly ignored: readonly string[];
}

export interface HealthRule {
  /** `AppCrash`; `NvidiaXID{xid}Error` takes facts into the name. */
  readonly reason: string;
  readonly condition: ConditionType;
  readonly severity: Severity;
  readonly lines?: readonly LinePattern[];
  /** Finds it by looking; a later look that finds nothing clears it. */
  readonly check?: CheckName;
  /** `{name}` takes the fact of that name. */
  readonly message: string;
  /** What tells occurrences apart; default the message. */
  readonly key?: string;
  readonly threshold?: Threshold;
  /** A number that the check compares with; its unit is in the text of the rule. */
  readonly limit?: number;
  /**
   * Seconds without a recurrence after which the condition is True again, where no check looks;
   * `reboot`: only another boot clears it.
   */
  readonly clearAfterSeconds: number | 'reboot';
  /** Of several reasons of one condition the highest names it; default 0. */
  readonly rank?: number;
  /** What is expected and so not reported; its form is in the text of the rule. */
  readonly allow?: readonly string[];
  readonly text: RuleText;
}

/** Facts of an occurrence, by name. */
export type Facts = Readonly<Record<string, string | number>>;

/** `{name}` replaced by facts; what is not known is empty. */
export const filled = (template: string, facts: Facts): string =>
  template.includes('{')
    ? template.replace(/\{(\w+)\}/g, (_, name: string) => String(facts[name] ?? ''))
    : template;

/** One thing that a rule found. */
export interface Occurrence {
  readonly rule: HealthRule;
  readonly reason: string;
  readonly message: string;
  readonly key: string;
}

/** Longer texts of the outside are cut: a condition's message is read by people. */
const maxMessageLength = 512;

export const occurrenceOf = (rule: HealthRule, facts: Facts): Occurrence => {
  const message = filled(rule.message, facts).slice(0, maxMessageLength);
  return {
    rule,
    // A reason is one word in CamelCase by Kubernetes' convention, whatever a log line says.
    reason: filled(rule.reason, facts)
      .replace(/[^A-Za-z0-9]/g, '')
      .slice(0, 64),
    message,
    key: rule.key === undefined ? message : filled(rule.key, facts),
  };
};
