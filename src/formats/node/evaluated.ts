// The result of evaluating user data, and what all families share: the instance's numbers, the
// kubelet's arguments, the cluster.
import type { Taint } from '../../api/kube.ts';
import type { Family } from '../user-data/families.ts';
import type { Placed } from './arguments.ts';
import { defaultMaxPods, type EniLimits, maxPodsOf } from './capacity.ts';
import type { NodeFacts } from './facts.ts';
import type { NodeFile } from './files.ts';
import { instanceTypeFacts } from './instance-types.ts';
import type { KubeletView } from './kubelet.ts';
import type { Obstacle } from './problem.ts';

export interface ClusterView {
  readonly name: string | undefined;
  readonly endpoint: string | undefined;
  readonly certificateAuthority: string | undefined;
  readonly serviceCidr: string | undefined;
  readonly dns: readonly string[];
}

export interface EvaluatedNode {
  readonly family: Family;
  /** Why the node does not join, as far as its user data decides; empty when it joins. */
  readonly obstacles: readonly Obstacle[];
  readonly nodeName: string;
  readonly cluster: ClusterView;
  readonly kubelet: KubeletView;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods: number;
  readonly files: readonly NodeFile[];
}

export interface Machine {
  readonly limits: EniLimits | undefined;
  readonly cpus: number;
  readonly memoryMiB: number;
  /** By the formula, or upstream's default for an unknown type. */
  readonly maxPods: number;
}

export const machineOf = (facts: NodeFacts): Machine => {
  const published = instanceTypeFacts(facts.instanceType);
  const interfaces = facts.interfaces ?? published?.interfaces;
  const addressesPerInterface = facts.addressesPerInterface ?? published?.addressesPerInterface;
  const limits =
    interfaces === undefined || addressesPerInterface === undefined
      ? undefined
      : { interfaces, addressesPerInterface };
  return {
    limits,
    cpus: facts.cpus ?? published?.cpus ?? 2,
    memoryMiB: facts.memoryMiB ?? published?.memoryMiB ?? 4096,
    maxPods: limits === undefined ? defaultMaxPods : maxPodsOf(limits),
  };
};

export const word = (text: string): Placed => ({
  text,
  isOpaque: false,
  at: () => ({ line: 1, column: 1 }),
});
