// The controller writes nothing while nothing changes. Judged in two files.
import { both, type Oracle } from '../../oracle.ts';
import { watchQuietMinutes } from './quiet-minutes.ts';
import { watchUselessWrites } from './useless-writes.ts';

export const fixedState: Oracle = {
  name: 'fixed-state-writes-nothing',
  what:
    'each write of the controller changes something, and it writes nothing in a minute ' +
    'without events',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => [watchUselessWrites(context), watchQuietMinutes(context)],
};
