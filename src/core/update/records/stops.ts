// The pod stop times that an update measured on the nodes it drained. Pure.
import type { NodeDisruption } from '../../../api/disruption.ts';
import { type StopTimes, stopTimesOfUpdate } from '../../../api/stop-times.ts';
import { mergedStops } from '../../drain/index.ts';
import { ownCause, updateCauseId } from './nodes.ts';

export const stopTimesOf = (
  disruptions: readonly NodeDisruption[],
  updateName: string,
): readonly StopTimes[] => {
  const id = updateCauseId(updateName);
  const own = disruptions.filter((one) => ownCause(one, id) !== undefined);
  const times = own.flatMap(({ status }) => status?.stopTimes ?? []);
  return mergedStops(times, stopTimesOfUpdate);
};
