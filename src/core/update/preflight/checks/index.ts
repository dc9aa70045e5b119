// All checks of the preflight, in the order in which they are reported. One folder, one list.

import type { Check } from '../finding.ts';
import { accountQuota } from './account-quota.ts';
import { barePod } from './bare-pod.ts';
import { budgetMisconfigured } from './budget-misconfigured.ts';
import { budgetNeverAllows } from './budget-never-allows.ts';
import { controlGroup } from './control-group.ts';
import { doNotEvict } from './do-not-evict.ts';
import { drainTooSlow } from './drain-too-slow.ts';
import { fitsNoNewNode } from './fits-no-new-node.ts';
import { graceTooLong } from './grace-too-long.ts';
import { localData } from './local-data.ts';
import { namespaceQuota } from './namespace-quota.ts';
import { newNodeCapacity } from './new-node-capacity.ts';
import { otherActor } from './other-actor.ts';
import { severalBudgets } from './several-budgets.ts';
import { singleReplicaBudget } from './single-replica-budget.ts';
import { spreadUnsatisfiable } from './spread-unsatisfiable.ts';
import { subnetAddresses } from './subnet-addresses.ts';
import { targetConfiguration } from './target-configuration.ts';
import { timing } from './timing.ts';
import { toleratesEverything } from './tolerates-everything.ts';
import { unreadyPodsHeld } from './unready-pods-held.ts';
import { versionSkew } from './version-skew.ts';
import { webhookOnOldNodes } from './webhook-on-old-nodes.ts';
import { zonalVolume } from './zonal-volume.ts';

export const checks: readonly Check[] = [
  budgetMisconfigured,
  severalBudgets,
  budgetNeverAllows,
  singleReplicaBudget,
  unreadyPodsHeld,
  drainTooSlow,
  graceTooLong,
  toleratesEverything,
  barePod,
  localData,
  doNotEvict,
  zonalVolume,
  fitsNoNewNode,
  spreadUnsatisfiable,
  subnetAddresses,
  newNodeCapacity,
  accountQuota,
  namespaceQuota,
  versionSkew,
  webhookOnOldNodes,
  controlGroup,
  otherActor,
  targetConfiguration,
  timing,
];
