// An episode that finds its node empty because the one before it had drained it: what it says of
// that. Pure.

import type {
  CauseKind,
  DisruptionOutcome,
  NodeDisruption,
  NodeDisruptionStatus,
} from '../../api/disruption.ts';
import { wasHandled } from './cause-writes.ts';

/** By them the sentence is known again in the episode after the next. */
const already = 'empty already: ';

const emptiesNode: Readonly<Record<DisruptionOutcome, boolean>> = {
  Drained: true,
  Forced: true,
  NothingToDrain: false,
  InstanceGone: false,
  Failed: false,
  Cancelled: false,
};

/** For which causes the episode was that has ended, each kind once. */
export const causesServed = ({ spec, status }: NodeDisruption): readonly CauseKind[] => {
  const { completingCauses = [] } = status ?? {};
  const served = spec.causes.filter((cause) => wasHandled(cause, completingCauses));
  return [...new Set(served.map(({ kind }) => kind))];
};

/** Undefined: it had pods of its own, or nobody had moved any before. */
export const emptiedText = (
  { previous }: NodeDisruptionStatus,
  podsTotal: number,
): string | undefined => {
  if (podsTotal > 0 || previous?.outcome === undefined) return undefined;
  const { outcome, episode, podsTotal: moved = 0, causes = [], message } = previous;
  if (!emptiesNode[outcome]) return undefined;
  if (message?.startsWith(already)) return message;
  if (moved === 0) return undefined;
  const whose = causes.length === 0 ? '' : ` (${causes.join(', ')})`;
  return (
    `${already}${moved} ${moved === 1 ? 'pod' : 'pods'} had gone ` + `in episode ${episode}${whose}`
  );
};
