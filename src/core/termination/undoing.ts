// Undoing: every cause of this episode was withdrawn. Removes our marks, and only ours, unless an
// earlier episode's cause still needs them. Evicted pods do not return.
import { formatTime } from '../../api/brand.ts';
import { handledIds, standingCauses } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { isUndone, noMarks, undoSteps } from './marks.ts';
import type { Observation } from './observation.ts';
import { waitingFields, writeStatus } from './status.ts';
import { overText } from './waiting-turn.ts';

export const decideUndoing = (observation: Observation): Decision => {
  const { disruption, node, now } = observation;
  const { status } = disruption;
  const ours = status?.ownedMarks;
  const same = node !== undefined && status?.node?.uid === node.metadata.uid;
  const standing = standingCauses(disruption);
  const isFree = same && ours !== undefined && standing.length === 0;
  const steps = isFree && !isUndone(node, ours) ? undoSteps(node, ours) : [];
  if (node !== undefined && steps.length > 0) {
    return decision({ steps, waitingOn: [{ kind: 'marks', node: node.metadata.name }] });
  }
  // A cause that arrived meanwhile is not among the handled ones: it opens the next episode.
  const change = {
    phase: 'Ended' as const,
    outcome: 'Cancelled' as const,
    message:
      standing.length === 0
        ? (overText(observation) ?? 'withdrawn; the marks that were ours are gone')
        : `withdrawn; the marks stay for ${standing.map(({ kind }) => kind).join(', ')}`,
    endedAt: formatTime(now),
    ...(standing.length === 0 ? { ownedMarks: noMarks } : {}),
    handledCauses: handledIds(disruption, []),
    ...waitingFields([]),
  };
  return decision({ steps: [writeStatus({ disruption, change, now })] });
};
