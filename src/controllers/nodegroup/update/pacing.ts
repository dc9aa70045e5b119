// Gathers whether an update's next step may begin: holds by the clock, the group's waves, and
// current probe results. Decides nothing.
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { type StepPacing, stepHolds } from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import type { RolloutInput } from './input.ts';
import { runProbes } from './probes.ts';

/** Empty in phases in which no nodes are updated. */
export const paceOf = async (
  deps: NodeGroupDeps,
  { group, memory, signal }: RolloutInput,
  update: NodeGroupUpdate,
): Promise<StepPacing> => {
  const { phase, strategy } = update.status ?? {};
  // Blue/green taints all its old nodes at once, as soon as the new ones are healthy.
  const isMarking = phase === (strategy === 'BLUE_GREEN' ? 'ScalingUp' : 'Marking');
  if (phase !== 'Rolling' && phase !== 'Soaking' && !isMarking) return {};
  const pacing = group.spec.updateConfig ?? {};
  const { waves = [], probes = [] } = pacing;
  const holds = stepHolds({ update, pacing, now: deps.clock.now() });
  if (isMarking) return { holds };
  const isAsked = holds.length === 0 && update.spec.action !== 'Rollback';
  if (isAsked) {
    const probed = await runProbes(deps, memory, { update, probes }, signal);
    return { holds, waves, probes, probed };
  }
  // Probes do not run while another hold exists, and their earlier results are dropped.
  delete memory.probed;
  return { holds, waves, probes };
};
