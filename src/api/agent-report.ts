// The output of `drover agent check` as JSON or YAML: the result of every check on a node, and the
// kernel's messages of the last hour.
import type { JsonObject } from './json.ts';

export interface AgentFinding {
  readonly reason: string;
  readonly condition: string;
  /** Condition: it makes the condition False; Event: it is reported. */
  readonly severity: 'Condition' | 'Event';
  readonly message: string;
  /** RFC 3339, from a log line. */
  readonly at?: string;
  /** How many occurrences the agent needs to report it; absent: one. */
  readonly times?: number;
  readonly meaning: string;
  readonly remedy: string;
}

export interface AgentCheckResult {
  readonly check: string;
  readonly title: string;
  readonly result: 'Healthy' | 'Findings' | 'NotLooked';
  readonly saw: readonly string[];
  /** What could not be checked, and why. */
  readonly lacks: readonly string[];
  readonly findings: readonly AgentFinding[];
}

export interface AgentReport {
  readonly apiVersion: 'cli.drover.dev/v1';
  readonly kind: 'AgentCheck';
  readonly checks: readonly AgentCheckResult[];
}

/** For the printers of documents. */
export const reportDocument = (report: AgentReport): JsonObject => ({
  apiVersion: report.apiVersion,
  kind: report.kind,
  checks: report.checks.map(
    (check): JsonObject => ({
      ...check,
      findings: check.findings.map((finding): JsonObject => ({ ...finding })),
    }),
  ),
});
