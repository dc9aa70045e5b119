// Updates that wait for the one before them: each reports that in its status; one that is aborted
// while it waits ends here. None of them begins.
import { formatTime } from '../../../api/brand.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  isStopAsked,
  type NodeGroupUpdate,
  updateStatusOf,
} from '../../../api/nodegroup-update.ts';
import { explainUpdateWaiting } from '../../../core/update/index.ts';
import { KubeError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { cancelled } from './hold.ts';
import { writeUpdate } from './records.ts';

/** An update in the group's status was recreated, and continues from its record. */
const isQueued = ({ metadata, status }: NodeGroup, one: NodeGroupUpdate): boolean =>
  one.spec.nodeGroup === metadata.name &&
  updateStatusOf(one) === 'InProgress' &&
  one.metadata.name !== status?.updating?.name &&
  (one.status?.phase === undefined || one.status.phase === 'Pending');

const tellOne = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { one, message }: { readonly one: NodeGroupUpdate; readonly message: string },
  signal: AbortSignal,
): Promise<void> => {
  if (isStopAsked(one)) {
    await cancelled(deps, group, one, signal);
    return;
  }
  const at = formatTime(deps.clock.now());
  const phases = one.status?.phases ?? [{ phase: 'Pending' as const, at }];
  const status = { status: 'InProgress', phase: 'Pending', phases, message } as const;
  await writeUpdate(deps, one, status, signal);
};

/**
 * `open`: the update in progress or next. It is not delayed if the write for a queued update is
 * refused.
 */
export const reportQueue = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  open: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<void> => {
  const { metadata, spec } = open;
  const message = explainUpdateWaiting({ kind: 'turn', update: metadata.name, type: spec.type });
  for (const one of deps.updates.list()) {
    if (one.metadata.name === open.metadata.name || !isQueued(group, one)) continue;
    try {
      await tellOne(deps, group, { one, message }, signal);
    } catch (error) {
      if (!(error instanceof KubeError && error.retry === 'never')) throw error;
      const facts = { update: one.metadata.name, code: error.code, message: error.message };
      deps.log.debug('a waiting update is not told so', facts);
    }
  }
};
