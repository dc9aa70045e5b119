// Text about the instance types of an update's new nodes, where they are not all of the group's
// first type. Pure.
import type { NodeGroupUpdateStatus } from '../../api/nodegroup-update.ts';

/**
 * Which of the group's types new nodes have, where that is not the first, and which are skipped.
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
