// A launch hook is completed with CONTINUE only if the instance's node is Ready.
import type { Context, Watcher } from '../../oracle.ts';
import type { Call } from '../../state/book.ts';
import { managedInstanceOf } from './calls.ts';

const check = (context: Context, entry: Call): void => {
  const { book, saw, report } = context;
  const instance = managedInstanceOf(book, entry);
  if (instance === undefined || instance.wait?.kind === 'terminate') return;
  saw();
  if (entry.input.LifecycleActionResult !== 'CONTINUE') return;
  const { instanceId } = instance;
  const node = book.nodes.lastOfInstance(instanceId);
  // A node that just turned unready or was deleted was Ready when the controller checked.
  const lostAt = node?.goneAt ?? node?.unreadySince;
  const isOld = lostAt === undefined || book.now - lostAt > book.lagMicros;
  if (node !== undefined && (!isOld || (node.ready && node.goneAt === undefined))) return;
  report({ subject: instanceId, message: 'its launch was completed before its node was Ready' });
};

export const watchLaunches = (context: Context): Watcher => ({
  call: (entry) => check(context, entry),
});
