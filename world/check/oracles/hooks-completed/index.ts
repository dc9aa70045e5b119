// When a hook may be completed, and when a drain may be recorded as Drained. Judged in three files.
import { both, type Oracle } from '../../oracle.ts';
import { watchDrained } from './drained.ts';
import { completionExemptions } from './exemptions.ts';
import { watchLaunches } from './launch.ts';
import { watchTerminations } from './termination.ts';

export const hooksCompleted: Oracle = {
  name: 'hooks-complete-when-empty',
  what:
    'a termination hook is completed, and a drain recorded as Drained, only when the node is ' +
    'empty, and a launch hook when it is Ready',
  strategies: both,
  needs: ['lifecycle', 'call', 'object'],
  exemptions: completionExemptions,
  watch: (context) => [watchTerminations(context), watchLaunches(context), watchDrained(context)],
};
