// Oracle 12: the controller writes nothing in a fixed state, judged in two files.
import { both, type Oracle } from '../../oracle.ts';
import { watchQuietMinutes } from './quiet-minutes.ts';
import { watchUselessWrites } from './useless-writes.ts';

export const fixedState: Oracle = {
  name: 'fixed-state-writes-nothing',
  what: 'no write of ours changes nothing, and none falls into a minute without any event',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => [watchUselessWrites(context), watchQuietMinutes(context)],
};
