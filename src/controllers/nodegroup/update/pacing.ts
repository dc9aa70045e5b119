// What a decision about an update needs to know of when its next step may begin: what holds it by
// the clock, the group's waves, and what its health probes find now. Decides nothing.
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { type StepPacing, stepHolds } from '../../../core/update/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import type { RolloutInput } from './input.ts';
import { runProbes } from './probes.ts';

/** Nothing where no nodes are updated at the moment. */
export const paceOf = async (
  deps: NodeGroupDeps,
  { group, memory, signal }: RolloutInput,
  update: NodeGroupUpdate,
): Promise<StepPacing> => {
  const { phase, strategy } = update.status ?? {};
  // Blue/green closes its old nodes all at once, as soon as the new ones are there.
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
  // While nothing may begin anyway nobody is asked, and what was found before is not believed after
  // it.
  delete memory.probed;
  return { holds, waves, probes };
};
