// The controller keeps the times that the causes of an update state. Judged in four files.
import { both, type Oracle } from '../../oracle.ts';
import { watchCooldown } from './cooldown.ts';
import { watchForce } from './force.ts';
import { watchGivingUp } from './giving-up.ts';
import { watchUnforced } from './unforced.ts';

export const updateTimes: Oracle = {
  name: 'updates-keep-their-times',
  what:
    'each cause of an update keeps its own times: forceFrom, deadline and cooldown, and ' +
    'without force nothing is deleted under a budget',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => [
    watchForce(context),
    watchGivingUp(context),
    watchCooldown(context),
    watchUnforced(context),
  ],
};
