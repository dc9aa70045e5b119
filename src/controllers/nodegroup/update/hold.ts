// An update that may not begin yet: it waits in phase Pending, reports what for, and touches
// nothing. If it is aborted, or the spec requests another revision, it is Cancelled.
import { formatTime } from '../../../api/brand.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  byGenerationAnnotation,
  isStopAsked,
  type NodeGroupUpdate,
  type NodeGroupUpdateStatus,
} from '../../../api/nodegroup-update.ts';
import { sameRevisionAsked, startHolds, withRevision } from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { writeUpdate } from './records.ts';

/** Requested by the spec, which has changed to another revision since. */
const isSuperseded = ({ spec }: NodeGroup, { metadata, spec: asked }: NodeGroupUpdate): boolean =>
  metadata.annotations?.[byGenerationAnnotation] !== undefined &&
  !sameRevisionAsked(withRevision(spec, asked.change), spec);

const cancel = (
  deps: NodeGroupDeps,
  update: NodeGroupUpdate,
  message: string,
  signal: AbortSignal,
): Promise<void> => {
  const at = formatTime(deps.clock.now());
  const { status, spec } = update;
  const next: NodeGroupUpdateStatus = {
    status: 'Cancelled',
    phase: 'Ended',
    phases: [...(status?.phases ?? []), { phase: 'Ended', at }],
    // Recorded, so that the spec's request is not repeated automatically.
    ...(spec.abort === undefined ? {} : { startedAt: at }),
    endedAt: at,
    message,
  };
  return writeUpdate(deps, update, next, signal);
};

/** True: the update ended before it began. Nothing of it is written into the spec. */
export const cancelled = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<boolean> => {
  const { phase } = update.status ?? {};
  if (phase !== undefined && phase !== 'Pending') return false;
  if (isStopAsked(update)) {
    await cancel(deps, update, 'stopped on request before it began', signal);
    return true;
  }
  if (phase !== 'Pending' || !isSuperseded(group, update)) return false;
  const why = 'the spec of the node group asks for another revision by now';
  await cancel(deps, update, why, signal);
  return true;
};

/** True: the update must not begin in this pass, and its status says what holds it. */
export const heldBack = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  update: NodeGroupUpdate,
  signal: AbortSignal,
): Promise<boolean> => {
  const now = deps.clock.now();
  const pacing = group.spec.updateConfig ?? {};
  const holds = startHolds({ update, pacing, now });
  if (holds.length === 0) return false;
  const phases = update.status?.phases ?? [{ phase: 'Pending' as const, at: formatTime(now) }];
  const status = { status: 'InProgress', phase: 'Pending', phases, holds } as const;
  await writeUpdate(deps, update, status, signal);
  return true;
};
