// Too many pods of one budget on one node for its drain to end in time. Each eviction beyond the
// budget's allowance waits for a replacement (reference: the no-timeout condition). For EKS'
// strategies it also checks the worst set of nodes that may be drained at once. Drover's own
// strategies never drain such a set together.

import { isOwnStrategy } from '../../../../api/nodegroup-update.ts';
import { ruleOf } from '../budgets.ts';
import type { Check, Found, Severity } from '../finding.ts';
import type { ConcernedBudget, MovedPod, View } from '../view.ts';
import { byOwner, kubectl, plural, shortName, stuckDrain } from './parts.ts';

const perNode = (pods: readonly MovedPod[]): ReadonlyMap<string, readonly MovedPod[]> =>
  Map.groupBy(pods, ({ node }) => node);

/** The slowest owner among the budget's pods counts. */
const timesOf = (view: View, pods: readonly MovedPod[]) => {
  const owners = byOwner(pods).flatMap(([first]) => first?.owner?.key ?? []);
  return {
    replacement: Math.max(0, ...owners.map(view.forecast.replacementSeconds)),
    stop: Math.max(0, ...owners.map(view.forecast.stopSeconds)),
  };
};

interface Case {
  readonly one: ConcernedBudget;
  readonly pods: readonly MovedPod[];
  readonly count: number;
  readonly nodes: number;
  readonly seconds: number;
  readonly replacement: number;
}

const found = (view: View, severity: Severity, { one, pods, ...more }: Case): Found => {
  const { budget, name, allowed } = one;
  const minutes = Math.ceil(more.seconds / 60);
  const where = more.nodes === 1 ? 'one node' : `${more.nodes} nodes drained at once`;
  const why =
    `${plural(more.count, 'pod')} on ${where} ${more.count === 1 ? 'needs' : 'need'} ` +
    `${plural(minutes, 'minute')}, ${allowed} at a time`;
  return {
    severity,
    object: { kind: 'PodDisruptionBudget', name },
    evidence: {
      rule: ruleOf(budget),
      pods: more.count,
      nodes: more.nodes,
      allowed,
      replacementSeconds: Math.round(more.replacement),
      drainSeconds: Math.round(more.seconds),
      drainTimeoutSeconds: view.snapshot.group.drainTimeoutSeconds,
    },
    consequence: stuckDrain(view, pods, why),
    remedy:
      `${kubectl(name)} patch pdb ${shortName(name)} --type merge -p ` +
      `'{"spec":{"minAvailable":null,"maxUnavailable":${allowed + 1}}}'`,
  };
};

const judge = (view: View, one: ConcernedBudget): readonly Found[] => {
  const { drainTimeoutSeconds, maxUnavailable, strategy } = view.snapshot.group;
  if (one.allowed === 0) return [];
  const nodes = [...perNode(one.pods).values()].toSorted((a, b) => b.length - a.length);
  const [most] = nodes;
  if (most === undefined) return [];
  const { replacement, stop } = timesOf(view, one.pods);
  const rounds = (count: number): number => Math.ceil(count / one.allowed);
  // Lower bound of the drain: the last pods only have to stop; the drain does not wait for their
  // replacements.
  const leastOf = (count: number): number => (rounds(count) - 1) * replacement + stop;
  const least = leastOf(most.length);
  const alone: Case = {
    one,
    pods: most,
    count: most.length,
    nodes: 1,
    seconds: least,
    replacement,
  };
  if (least > drainTimeoutSeconds) {
    // The first of these nodes to be drained makes the update fail.
    const slow = nodes.filter(({ length }) => leastOf(length) > drainTimeoutSeconds).flat();
    return [found(view, 'blocker', { ...alone, pods: slow })];
  }
  const formula = rounds(most.length) * replacement;
  if (formula > drainTimeoutSeconds) {
    return [found(view, 'warning', { ...alone, seconds: formula })];
  }
  const batch = isOwnStrategy(strategy) ? [] : nodes.slice(0, maxUnavailable);
  const count = batch.reduce((all, pods) => all + pods.length, 0);
  const seconds = rounds(count) * replacement;
  if (batch.length < 2 || seconds <= drainTimeoutSeconds) return [];
  const pods = batch.flat();
  return [
    {
      ...found(view, 'warning', { one, pods, count, nodes: batch.length, seconds, replacement }),
      remedy:
        `drover plan update ${view.snapshot.group.name} --strategy SURGE   # or a smaller ` +
        'maxUnavailable',
    },
  ];
};

export const drainTooSlow: Check = {
  name: 'drain-too-slow',
  title: 'A budget makes a drain exceed its timeout',
  needs: ['nodes', 'pods', 'budgets'],
  run: (view) => view.budgets.flatMap((one) => judge(view, one)),
};
