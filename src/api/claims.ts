// Chooses among the Nodes that claim one instance. Pure.
import { isReady } from './conditions.ts';
import type { Node } from './kube.ts';

const createdAt = ({ metadata }: Node): string => metadata.creationTimestamp;

/**
 * The node of an instance. Several Nodes may claim one: a kubelet that registered again under
 * another name, or one with a false providerID. The Ready Node that was created first is used, so
 * that a later, false claim cannot take over a drain. If none is Ready, the newest is used.
 */
export const nodeAmong = (claims: readonly Node[]): Node | undefined => {
  if (claims.length < 2) return claims[0];
  const byAge = [...claims].sort((a, b) => createdAt(a).localeCompare(createdAt(b)));
  return byAge.find(isReady) ?? byAge.at(-1);
};
