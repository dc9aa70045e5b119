// Every mutant, in the order of the oracles that must report it.
import type { Mutant } from '../mutant.ts';
import { certificateMutants } from './certificates.ts';
import { gateMutants } from './gates.ts';
import { groupMutants } from './groups.ts';
import { hookMutants } from './hooks.ts';
import { journalMutants } from './journal.ts';
import { markMutants } from './marks.ts';
import { messageMutants } from './messages.ts';
import { podMutants } from './pods.ts';
import { repairMutants } from './repair.ts';
import { roleMutants } from './roles.ts';
import { rolloutMutants } from './rollouts.ts';
import { updateMutants } from './updates.ts';

export const mutants: readonly Mutant[] = [
  ...podMutants,
  ...markMutants,
  ...hookMutants,
  ...messageMutants,
  ...groupMutants,
  ...updateMutants,
  ...rolloutMutants,
  ...gateMutants,
  ...repairMutants,
  ...roleMutants,
  ...certificateMutants,
  ...journalMutants,
];
