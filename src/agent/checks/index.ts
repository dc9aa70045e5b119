// Public entry of the checks: one set per agent, since some compare with their previous look.
export {
  type Check,
  type CheckContext,
  type LookResult,
  listIfThere,
  Results,
  readIfThere,
} from './check.ts';

import type { Check } from './check.ts';
import { clock, conntrack, openFiles, pressure, zram } from './kernel.ts';
import {
  createEfa,
  createNetworkLimits,
  links,
  macAddressPolicy,
  routes,
  sysctls,
} from './networking.ts';
import { packetFilter } from './packet-filter.ts';
import { processes } from './processes.ts';
import { containerdDeprecations, createContainerd, createKubelet, createUnits } from './runtime.ts';
import { createEbs, mounts, xfs } from './storage.ts';

export const createChecks = (): readonly Check[] => [
  processes,
  openFiles,
  clock,
  conntrack,
  pressure,
  zram,
  mounts,
  createEbs(),
  xfs,
  createUnits(),
  createKubelet(),
  createContainerd(),
  containerdDeprecations,
  links,
  packetFilter,
  sysctls,
  routes,
  createNetworkLimits(),
  createEfa(),
  macAddressPolicy,
];
