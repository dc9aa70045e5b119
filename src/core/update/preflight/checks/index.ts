// All checks of the preflight, in the order in which they are told. One folder, one list.
import type { Check } from '../finding.ts';
import { budgetMisconfigured } from './budget-misconfigured.ts';
import { budgetNeverAllows } from './budget-never-allows.ts';
import { drainTooSlow } from './drain-too-slow.ts';
import { graceTooLong } from './grace-too-long.ts';
import { severalBudgets } from './several-budgets.ts';
import { singleReplicaBudget } from './single-replica-budget.ts';
import { toleratesEverything } from './tolerates-everything.ts';
import { unreadyPodsHeld } from './unready-pods-held.ts';

export const checks: readonly Check[] = [
  budgetMisconfigured,
  severalBudgets,
  budgetNeverAllows,
  singleReplicaBudget,
  unreadyPodsHeld,
  drainTooSlow,
  graceTooLong,
  toleratesEverything,
];
