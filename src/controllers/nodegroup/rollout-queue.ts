// Updates that wait until the one before them is over: each says so in its status, and one that is stopped while it waits
// ends there. Nothing of them is begun.
import { formatTime } from '../../api/brand.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { isStopAsked, type NodeGroupUpdate, updateStatusOf } from '../../api/nodegroup-update.ts';
import type { NodeGroupDeps } from './deps.ts';
import { cancelled } from './rollout-hold.ts';
import { writeUpdate } from './updates.ts';

/** One that the group's status tells of was made once more, and goes on from what stands there. */
const isQueued = ({ metadata, status }: NodeGroup, one: NodeGroupUpdate): boolean =>
  one.spec.nodeGroup === metadata.name &&
  updateStatusOf(one) === 'InProgress' &&
  one.metadata.name !== status?.updating?.name &&
  (one.status?.phase === undefined || one.status.phase === 'Pending');

const waitsText = ({ metadata, spec }: NodeGroupUpdate): string =>
  `waits for update ${metadata.name} (${spec.type}) to end: a node group has one at a time`;

/** `open`: the one that is under way or next. */
export const tellQueue = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  open: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const message = waitsText(open);
  for (const one of deps.updates.list()) {
    if (one.metadata.name === open.metadata.name || !isQueued(group, one)) continue;
    if (isStopAsked(one)) {
      await cancelled(deps, group, one, signal);
      continue;
    }
    const at = formatTime(deps.clock.now());
    const phases = one.status?.phases ?? [{ phase: 'Pending' as const, at }];
    await writeUpdate(
      deps,
      one,
      { status: 'InProgress', phase: 'Pending', phases, message },
      signal,
    );
  }
};
