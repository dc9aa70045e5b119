// Describes an episode that finds its node empty because an earlier episode drained it. Pure.

import type {
  CauseKind,
  DisruptionOutcome,
  NodeDisruption,
  NodeDisruptionStatus,
} from '../../api/disruption.ts';
import { wasHandled } from './cause-writes.ts';

/** Prefix by which a later episode recognizes the sentence. */
const already = 'empty already: ';

const emptiesNode: Readonly<Record<DisruptionOutcome, boolean>> = {
  Drained: true,
  Forced: true,
  NothingToDrain: false,
  InstanceGone: false,
  Failed: false,
  Cancelled: false,
};

/** The kinds of the causes that the ended episode served, each once. */
export const causesServed = ({ spec, status }: NodeDisruption): readonly CauseKind[] => {
  const { completingCauses = [] } = status ?? {};
  const served = spec.causes.filter((cause) => wasHandled(cause, completingCauses));
  return [...new Set(served.map(({ kind }) => kind))];
};

/** Undefined: this episode had pods of its own, or no earlier one evicted any. */
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
