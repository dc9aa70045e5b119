// Runs every check once, for display: what each saw, found and lacks, and the last hour of the
// kernel log. Writes nothing to a cluster and applies no thresholds.

import type { AgentCheckResult, AgentFinding, AgentReport } from '../api/agent-report.ts';
import { type EpochMs, formatKubeTime } from '../api/brand.ts';
import type { Clock, NodeHost, Random } from '../ports/index.ts';
import { type Check, type CheckContext, createChecks, Results } from './checks/index.ts';
import { bootFacts } from './facts.ts';
import { LineMatcher } from './rules/line-matcher.ts';
import { type HealthRule, type Occurrence, occurrenceOf } from './rules/rule.ts';
import { createSelfTest } from './self-test.ts';
import { KernelLog } from './sources/kernel-log.ts';

const historyMs = 3_600_000;
const maxLines = 100_000;
/** Maximum number of lines shown per reason. */
const maxShown = 5;

export interface CheckOnceOptions {
  readonly host: NodeHost;
  readonly clock: Clock;
  readonly random: Random;
  readonly rules: readonly HealthRule[];
  readonly signal: AbortSignal;
}

const findingOf = ({ rule, reason, message }: Occurrence, at?: EpochMs): AgentFinding => ({
  reason,
  condition: rule.condition,
  severity: rule.severity,
  message,
  ...(at === undefined ? {} : { at: formatKubeTime(at) }),
  ...(rule.threshold === undefined ? {} : { times: rule.threshold.count }),
  meaning: rule.text.meaning,
  remedy: rule.text.remedy,
});

const resultOf = (
  { name, title }: Pick<Check, 'title'> & { readonly name: string },
  saw: readonly string[],
  lacks: readonly string[],
  findings: readonly AgentFinding[],
): AgentCheckResult => ({
  check: name,
  title,
  result: findings.length > 0 ? 'Findings' : lacks.length > 0 ? 'NotLooked' : 'Healthy',
  saw,
  lacks,
  findings,
});

const readKernelLog = async (
  log: KernelLog,
  rules: readonly HealthRule[],
  now: EpochMs,
): Promise<AgentCheckResult> => {
  const { lines } = await log.read(maxLines, now);
  const matcher = new LineMatcher(rules);
  const shown = new Map<string, number>();
  const findings: AgentFinding[] = [];
  const recent = lines.filter(({ at }) => now - at <= historyMs);
  for (const { text, at } of recent) {
    for (const occurrence of matcher.find('kernel', text, at)) {
      const count = (shown.get(occurrence.reason) ?? 0) + 1;
      shown.set(occurrence.reason, count);
      if (count <= maxShown) findings.push(findingOf(occurrence, at));
    }
  }
  const check = { name: 'kernel-lines', title: 'what the kernel said within the last hour' };
  const saw = [`${recent.length} lines of the last hour, ${lines.length} of this boot`];
  const { failure } = log;
  return failure === undefined
    ? resultOf(check, saw, [], findings)
    : resultOf(check, [], [failure], []);
};

export const checkOnce = async (options: CheckOnceOptions): Promise<AgentReport> => {
  const { host, clock, random, rules, signal } = options;
  const { bootedAt } = await bootFacts(host, clock.now());
  const kernelLog = new KernelLog(host, { bootedAt, afterSequence: undefined });
  const look = async (check: Check): Promise<AgentCheckResult> => {
    const results = new Results();
    const context: CheckContext = {
      host,
      now: clock.now(),
      signal,
      rule: (reason) => rules.find((rule) => rule.reason === reason),
    };
    await check.look(context, results);
    const { found, saw, lacks } = results.end();
    const findings = found.flatMap(({ reason, facts }) =>
      rules
        .filter((rule) => rule.reason === reason && rule.check === check.name)
        .map((rule) => findingOf(occurrenceOf(rule, facts))),
    );
    return resultOf(
      check,
      saw,
      lacks.map(({ why }) => why),
      findings,
    );
  };
  const checks: AgentCheckResult[] = [await readKernelLog(kernelLog, rules, clock.now())];
  for (const check of createChecks()) checks.push(await look(check));
  const selfTest = createSelfTest({ kernelLog, random, takeSkipped: () => [] });
  checks.push(await look(selfTest));
  kernelLog.close();
  return { apiVersion: 'cli.drover.dev/v1', kind: 'AgentCheck', checks };
};
