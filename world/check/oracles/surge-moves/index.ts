// Drover's own strategies move no pod twice: judges the steps of an update that would, in two
// files. Rollbacks, operators and the cloud are exempt.
import { both, type Oracle } from '../../oracle.ts';
import { watchDrainedNodes } from './drained-nodes.ts';
import { watchMisplaced } from './misplaced.ts';

export const surgeMoves: Oracle = {
  name: 'surge-moves-pods-once',
  what: 'in one update of Drover’s strategies no pod has to move twice',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => [watchDrainedNodes(context), watchMisplaced(context)],
};
