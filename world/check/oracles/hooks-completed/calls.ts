// Successful calls of the controller that complete a lifecycle hook of a managed group.
import type { Book, Call } from '../../state/book.ts';
import type { InstanceState } from '../../state/cloud.ts';
import { textOf } from '../../state/read.ts';

/** The instance whose hook this call completes; undefined: the call is none of these. */
export const managedInstanceOf = (book: Book, entry: Call): InstanceState | undefined => {
  if (entry.operation !== 'CompleteLifecycleAction' || entry.error !== undefined) return undefined;
  if (!book.isOurs(entry) || !book.isManaged(textOf(entry.input.AutoScalingGroupName))) {
    return undefined;
  }
  return book.cloud.instances.get(book.instanceOfCall(entry));
};
