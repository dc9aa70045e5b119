// Once settled, no instance waits in a termination hook of ours.
import type { Context } from '../../oracle.ts';
import { isBlockedAsTold } from './blocked.ts';

export const checkInstances = (context: Context): void => {
  const { book, saw, report } = context;
  for (const instance of book.cloud.instances.values()) {
    if (!book.isManaged(instance.group)) continue;
    saw();
    if (instance.state !== 'Terminating:Wait') continue;
    const hooks = instance.wait?.ended.size ?? 0;
    const disruption = book.disruptions.ofInstance(instance.instanceId);
    if (disruption !== undefined && isBlockedAsTold(context, disruption)) continue;
    // The controller's hook has ended; the instance waits in a hook that the controller does not
    // own.
    if (hooks > 0 && disruption?.phase === 'Ended') continue;
    report({ subject: instance.instanceId, message: 'still in Terminating:Wait' });
  }
};
