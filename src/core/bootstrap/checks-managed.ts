// Checks for settings in user data that EKS or Drover also sets: one label with two values,
// settings that EKS adds to a managed group. Reports which value wins, not whether the node joins.
import {
  type Evaluation,
  find,
  type Located,
  memberOf,
  type Problem,
  placedLabels,
} from '../../formats/index.ts';
import type { LintOptions } from './options.ts';

/**
 * EKS identifies a group's nodes by these labels; a node with another value does not belong to the
 * group.
 */
const isOfEks = (label: string): boolean => label.startsWith('eks.amazonaws.com/');

const problem = (rule: string, at: Problem['at'], message: string): Problem => ({
  rule,
  at,
  message,
});

const labelsOfSettings = (kubernetes: Located | undefined) => {
  const labels = find(kubernetes, 'node-labels');
  return labels?.kind !== 'map'
    ? []
    : [...labels.members].map(([key, { keyAt }]) => ({ key, value: undefined, at: keyAt }));
};

export const labelChecks = (
  { node, bootstrap }: Evaluation,
  { launchedBy }: LintOptions,
): readonly Problem[] => {
  const found: Problem[] = [];
  const seen = new Map<string, string>();
  const kubernetes = find(bootstrap.settings?.toml.value, 'settings', 'kubernetes');
  for (const { key, value, at } of [
    ...placedLabels(node.kubelet.flags),
    ...labelsOfSettings(kubernetes),
  ]) {
    const before = seen.get(key);
    if (before !== undefined && value !== undefined && before !== value) {
      found.push(
        problem('LB003', at, `the label ${key} was ${before} before, and is ${value} now`),
      );
    } else if (launchedBy === 'managed' && isOfEks(key)) {
      found.push(problem('LB003', at, `EKS sets the label ${key} itself, and this value wins`));
    }
    if (value !== undefined) seen.set(key, value);
  }
  return found;
};

/** Settings that EKS adds to a managed group; the user's value wins. */
const settingsOfEks = ['cluster-name', 'api-server', 'cluster-certificate', 'cluster-dns-ip'];

export const settingChecks = (
  { bootstrap }: Evaluation,
  { launchedBy }: LintOptions,
): readonly Problem[] => {
  if (launchedBy !== 'managed') return [];
  const kubernetes = find(bootstrap.settings?.toml.value, 'settings', 'kubernetes');
  return settingsOfEks.flatMap((name) => {
    const member = memberOf(kubernetes, name);
    return member === undefined
      ? []
      : [problem('BR005', member.keyAt, `EKS adds settings.kubernetes.${name}; this value wins`)];
  });
};
