// Oracle 3, second half: when a hook may be completed, and a drain recorded as Drained. Judged in
// three files.
import { both, type Oracle } from '../../oracle.ts';
import { watchDrained } from './drained.ts';
import { completionExemptions } from './exemptions.ts';
import { watchLaunches } from './launch.ts';
import { watchTerminations } from './termination.ts';

export const hooksCompleted: Oracle = {
  name: 'hooks-complete-when-empty',
  what:
    'we complete a termination, and a drain is Drained, once its node is empty, and a launch ' +
    'once its node is Ready',
  strategies: both,
  needs: ['lifecycle', 'call', 'object'],
  exemptions: completionExemptions,
  watch: (context) => [watchTerminations(context), watchLaunches(context), watchDrained(context)],
};
