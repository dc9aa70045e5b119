// The schema of stop-times.ts, for the statuses of NodeDisruption and NodeGroupUpdate, with the
// text of `kubectl explain`.
import { count, listOf, object, type Schema, text } from './crd-schema.ts';
import type { Words } from './crd-words.ts';

export const stopTimesOf = ({ owners, pods }: { owners: number; pods: number }): Schema =>
  listOf(object({ owner: text(512), seconds: listOf(count, pods) }, ['owner', 'seconds']), owners);

export const stopTimesWords: Words = {
  stopTimes: [
    'How long pods took to stop, by owner: plans of later updates go by them.',
    {
      owner: 'Kind, namespace and name of the controller of the pods.',
      seconds: 'Whole seconds from the deletion of each pod until it was gone.',
    },
  ],
};
