// The controller removes its own marks and no others, judged in two files. The author of a mark
// comes from the requests, not from the journal. A mark that others set again may stay or be
// removed. Causes of an earlier episode keep their marks until they are withdrawn.
import { both, type Oracle } from '../../oracle.ts';
import { watchChanges } from './changes.ts';
import { watchLeft } from './left.ts';

export const marksUndone: Oracle = {
  name: 'marks-undone',
  what:
    'a cancelled drain leaves no mark of the controller, and removes no mark or taint of ' +
    'others',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => [watchChanges(context), watchLeft(context)],
};
