// The controller neither completes nor extends a hook that it does not own.
import { both, type Oracle } from '../oracle.ts';
import { isHookCall } from '../state/cloud.ts';
import { textOf } from '../state/read.ts';

export const foreignHooks: Oracle = {
  name: 'foreign-hooks-left-alone',
  what: 'the controller answers no hook of a group or a name that is not its own',
  strategies: both,
  needs: ['call'],
  watch: ({ book, saw, report }) => ({
    call: (entry) => {
      if (!isHookCall(entry) || !book.isOurs(entry)) return;
      saw();
      const group = textOf(entry.input.AutoScalingGroupName);
      const hook = textOf(entry.input.LifecycleHookName);
      const { wait } = book.cloud.instances.get(book.instanceOfCall(entry)) ?? {};
      const startedAt = wait?.startedAt ?? book.now;
      if (book.isOwnHook(group, hook, startedAt - book.lagMicros)) return;
      report({ subject: `${group}/${hook}`, message: `${entry.operation} on a foreign hook` });
    },
  }),
};
