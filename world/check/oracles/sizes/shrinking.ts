// A node is drained before its instance is terminated. The controller shrinks a group by named
// instances only, and not below the size in its spec.
import { both, type Oracle } from '../../oracle.ts';
import { choiceExemptions, watchChoice } from './choice.ts';
import { watchScaleIn } from './scale-in.ts';
import { scaleInExemptions } from './scale-in-exemptions.ts';

export const shrinking: Oracle = {
  name: 'groups-shrink-by-drained-nodes',
  what:
    'the controller shrinks a group only by terminating drained nodes, and not below the size ' +
    'in its spec',
  strategies: both,
  needs: ['object', 'call', 'lifecycle'],
  exemptions: [...choiceExemptions, ...scaleInExemptions],
  watch: (context) => [watchChoice(context), watchScaleIn(context)],
};
