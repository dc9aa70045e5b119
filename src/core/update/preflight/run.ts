// Runs the checks on a snapshot. A check whose facts could not be read reports that instead of
// passing. Findings are sorted: blockers first, then by time. Pure.
import { checks } from './checks/index.ts';
import type { Check, Finding, Severity } from './finding.ts';
import type { Snapshot } from './snapshot.ts';
import type { View } from './view.ts';

const rank: Readonly<Record<Severity, number>> = { blocker: 0, warning: 1, notChecked: 2 };

const notChecked = (check: Check, snapshot: Snapshot): Finding | undefined => {
  const missing = check.needs.flatMap((part) => {
    const why = snapshot.unread[part];
    return why === undefined ? [] : [{ part, why }];
  });
  if (missing.length === 0) return undefined;
  const what = missing.map(({ part }) => part).join(', ');
  const why = [...new Set(missing.map(({ why: reason }) => reason))].join('; ');
  return {
    check: check.name,
    severity: 'notChecked',
    object: { kind: 'NodeGroup', name: snapshot.group.name },
    evidence: { unread: what },
    consequence: { text: `not checked: ${why}` },
    remedy: missing.some(({ part }) => part === 'accountQuotas')
      ? 'allow servicequotas:GetServiceQuota and ec2:DescribeInstances, then plan again'
      : `grant the reader of the plan ${what}, then plan again`,
  };
};

const runOne = (check: Check, view: View): readonly Finding[] => {
  const missing = notChecked(check, view.snapshot);
  if (missing !== undefined) return [missing];
  return check.run(view).map((found) => ({ check: check.name, ...found }));
};

const minuteOf = ({ consequence }: Finding): number =>
  consequence.minute ?? Number.POSITIVE_INFINITY;

const inOrder = (a: Finding, b: Finding): number => {
  const severity = rank[a.severity] - rank[b.severity];
  if (severity !== 0) return severity;
  // Infinity minus infinity is NaN.
  return minuteOf(a) === minuteOf(b) ? 0 : minuteOf(a) - minuteOf(b);
};

/** The findings of all checks. */
export const runChecks = (view: View): readonly Finding[] =>
  checks.flatMap((check) => runOne(check, view)).toSorted(inOrder);
