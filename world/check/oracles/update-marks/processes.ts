// The controller resumes no process that others have suspended.
import type { Context, Watcher } from '../../oracle.ts';
import type { Call } from '../../state/book.ts';
import { textOf, textsOf } from '../../state/read.ts';
import { openUpdateOf, type Remains } from './owners.ts';

const check = (context: Context, entry: Call, remains: Remains): void => {
  const { book, saw, report } = context;
  const { processes } = remains;
  const group = textOf(entry.input.AutoScalingGroupName);
  const isOurs = book.isOurs(entry);
  const suspends = entry.operation === 'SuspendProcesses';
  for (const one of textsOf(entry.input.ScalingProcesses)) {
    const key = `${group} ${one}`;
    if (isOurs) saw();
    if (entry.error !== undefined) continue;
    // An update in progress has noted the suspension as its own; a second suspension by others
    // leaves no trace on the group.
    const isNoted = openUpdateOf(context, remains, group)?.suspends.includes(one) === true;
    if (suspends && isNoted) processes.set(key, true);
    if (suspends) processes.set(key, isOurs);
    else if (processes.take(key, isOurs)) {
      report({ subject: group, message: `${one}, which others had suspended, was resumed` });
    }
  }
};

export const watchProcesses = (context: Context, remains: Remains): Watcher => ({
  call: (entry) => {
    if (/^(?:Suspend|Resume)Processes$/.test(entry.operation)) check(context, entry, remains);
  },
});
