// A digest of everything a plan depends on: the group with its updateConfig, target, old nodes,
// owners of their pods, budgets. It excludes pod names and times, so that a restarted pod does not
// make a plan stale. Pure.
import { fnv1aHex, fnvBasis } from '../../fnv.ts';
import type { Snapshot } from '../preflight/snapshot.ts';
import type { View } from '../preflight/view.ts';

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)}}`;
};

/** Two hashes with different bases: 64 bits are enough to distinguish plans. */
const digest = (text: string): string =>
  [fnvBasis, 0x01000193].map((basis) => fnv1aHex(text, basis)).join('');

/** Owner -> number of its pods, per old node. */
const podsOn = ({ movedFrom }: View, node: string): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const one of movedFrom(node)) {
    const key = one.owner?.key ?? `Pod/${one.name}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

const settingsOf = ({ group, target }: Snapshot) => ({
  name: group.name,
  cluster: group.cluster,
  sizes: group.sizes,
  strategy: group.strategy,
  soakSeconds: group.soakSeconds,
  batchSoakSeconds: group.batchSoakSeconds,
  maxUnavailable: group.maxUnavailable,
  drainTimeoutSeconds: group.drainTimeoutSeconds,
  podWaits: group.podWaits,
  cooldownSeconds: group.cooldownSeconds,
  onShortage: group.onShortage,
  policies: group.policies,
  updateConfig: group.updateConfig,
  force: group.force,
  leftover: group.leftover,
  subnets: group.subnets.toSorted(),
  instanceTypes: group.instanceTypes,
  labels: group.labels,
  taints: group.taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`).toSorted(),
  target: { imageId: target.imageId, launchTemplate: target.launchTemplate },
});

/** One digest per part that a plan depends on: the part that differs says why a plan is stale. */
export interface PlanBasis {
  /** Sizes, target, strategy, policies, updateConfig and the group's other settings. */
  readonly settings: string;
  readonly nodes: string;
  readonly pods: string;
  readonly budgets: string;
}

/** The digests of the snapshot in `view`. */
export const basisOf = (view: View): PlanBasis => {
  const of = (value: unknown): string => digest(canonical(value));
  const nodes = view.oldNodes
    .map(({ node, zone }) => ({ uid: node.metadata.uid, zone, name: node.metadata.name }))
    .toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
  return {
    settings: of(settingsOf(view.snapshot)),
    nodes: of(nodes.map(({ uid, zone }) => ({ uid, zone }))),
    pods: of(nodes.map(({ uid, name }) => ({ uid, pods: podsOn(view, name) }))),
    budgets: of(
      view.budgets
        .map(({ name, budget }) => ({ name, spec: budget.spec }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ),
  };
};

export const hashOf = (basis: PlanBasis): string => digest(canonical(basis));
