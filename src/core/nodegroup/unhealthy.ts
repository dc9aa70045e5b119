// The sentence about a group's unhealthy nodes: how many, and for the first few what is wrong and
// since when. It contains no ages, so that it changes only when a node does. Pure.
import { epochMs, formatKubeTime } from '../../api/brand.ts';
import type { Node } from '../../api/kube.ts';
import { healthOf } from '../health/index.ts';

const named = 3;

/** Undefined while every node is healthy or starting. */
export const unhealthyText = (
  nodes: readonly Node[],
  now: Parameters<typeof healthOf>[0]['now'],
): string | undefined => {
  const ill = nodes.flatMap((node) => {
    const { state, findings } = healthOf({ node, now });
    const [first] = findings;
    return state === 'Unhealthy' && first !== undefined ? [{ node, first }] : [];
  });
  if (ill.length === 0) return undefined;
  const some = ill
    .toSorted((a, b) => (a.node.metadata.name < b.node.metadata.name ? -1 : 1))
    .slice(0, named)
    .map(({ node, first: { condition, reason, since } }) => {
      const from = formatKubeTime(epochMs(since));
      return `${node.metadata.name} (${condition} ${reason} since ${from})`;
    });
  const more = ill.length > named ? ` and ${ill.length - named} more` : '';
  const nouns = ill.length === 1 ? 'node is' : 'nodes are';
  return `${ill.length} ${nouns} unhealthy: ${some.join(', ')}${more}.`;
};
