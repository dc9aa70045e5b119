// One plan in a process of its own: node bench/support/plan-process.ts NODES STRATEGY. Prints its
// figures as JSON.
import type { UpdateStrategy } from '../../src/api/nodegroup-update.ts';
import { planUpdate } from '../../src/core/update/plan/index.ts';
import type { PlanFigures } from '../plan-growth.ts';
import { largeSnapshot } from './large-snapshot.ts';

const [nodes = '50', strategy = 'SURGE'] = process.argv.slice(2);
const snapshot = largeSnapshot(Number(nodes), strategy as UpdateStrategy);
const before = process.cpuUsage();
const startedAt = performance.now();
const plan = planUpdate(snapshot);
const { user, system } = process.cpuUsage(before);
const figures: PlanFigures = {
  runs: plan.runs,
  pods: plan.pods,
  wallSeconds: (performance.now() - startedAt) / 1000,
  cpuSeconds: (user + system) / 1e6,
  peakMiB: process.resourceUsage().maxRSS / 1024,
};
console.log(JSON.stringify(figures));
