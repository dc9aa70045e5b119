// Public entry of the oracles about the repair of nodes.
import { repairBreakers } from './breakers.ts';
import { repairEnds } from './ends.ts';
import { repairOnce } from './once.ts';
import { repairOwners } from './owners.ts';
import { repairQuarantine } from './quarantine.ts';
import { repairResults } from './replaced.ts';
import { repairOfUnhealthy } from './unhealthy.ts';
import { repairWait } from './wait.ts';

export const repairs = [
  repairWait,
  repairOfUnhealthy,
  repairBreakers,
  repairOwners,
  repairResults,
  repairOnce,
  repairQuarantine,
  repairEnds,
];
