// The instance types of an update's new nodes in words, where they are not all of the group's
// first. Pure.
import type { NodeGroupUpdateStatus } from '../../api/nodegroup-update.ts';

/**
 * Which of the group's types new nodes are of, where that is not the first, and which they may not
 * be.
 */
export const typeLines = ({
  skippedTypes = [],
  fallbacks = [],
}: Partial<NodeGroupUpdateStatus>): readonly string[] => [
  ...fallbacks.map(
    ({ zone, type, nodes }) =>
      `${zone}: ${nodes} new ${nodes === 1 ? 'node' : 'nodes'} of ${type}: no room there ` +
      "for the group's first type",
  ),
  ...skippedTypes.map(({ type, message }) => `${type} left out meanwhile: ${message}`),
];
