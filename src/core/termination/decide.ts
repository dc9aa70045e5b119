// What to do next about one disruption: one function per phase over what was observed. Emits steps
// with no choice left in them; at a fixed state a second decision emits none. Evictions are not
// here: they are allocated over all drains at once (core/drain).
import { epochMs } from '../../api/brand.ts';
import type { DisruptionPhase } from '../../api/disruption.ts';
import type { Plan, Step } from '../../api/plan.ts';
import { causesToCome, type Demand, demandOf } from './causes.ts';
import { decideCompleting } from './completing.ts';
import { type Decision, decision } from './decision.ts';
import { decideDraining } from './draining.ts';
import { decideEnded } from './ended.ts';
import { heartbeatDue, type KnownHook, knownHooks } from './hooks.ts';
import { decideMarking, decidePending } from './marking.ts';
import type { Observation } from './observation.ts';
import { isSuperseded, isTaken, phaseOf, writeStatus } from './status.ts';
import { decideUndoing } from './undoing.ts';

type Decide = (observation: Observation, demand: Demand) => Decision;

const byPhase: Readonly<Record<DisruptionPhase, Decide>> = {
  Pending: decidePending,
  Marking: decideMarking,
  Draining: decideDraining,
  Completing: decideCompleting,
  Undoing: decideUndoing,
  Ended: decideEnded,
};

/** Whose hooks wait for what is done in a phase; those being completed wait no more. */
const hooksToKeep: Readonly<
  Record<DisruptionPhase, (observation: Observation, demand: Demand) => readonly KnownHook[]>
> = {
  Pending: (_observation, { hooks }) => hooks,
  Marking: (_observation, { hooks }) => hooks,
  Draining: (_observation, { hooks }) => hooks,
  Completing: (observation) => knownHooks(observation, causesToCome(observation.disruption)),
  Undoing: (observation) => knownHooks(observation, causesToCome(observation.disruption)),
  Ended: () => [],
};

/** Heartbeats stand before everything else: no failure of another step may hold them up. */
const heartbeats = (observation: Observation, demand: Demand): Decision => {
  const { disruption, now } = observation;
  const { instanceId } = disruption.spec;
  if (instanceId === undefined) return decision({});
  const hooks = hooksToKeep[phaseOf(disruption)](observation, demand);
  const open = hooks.filter(({ status }) => status.state === 'Open');
  const steps = open
    .filter((hook) => heartbeatDue(hook) <= now)
    .map(({ ref }): Step => {
      const { autoScalingGroupName, name: hookName, token } = ref;
      return {
        kind: 'HeartbeatHook',
        autoScalingGroupName,
        hookName,
        instanceId,
        ...(token === undefined ? {} : { token }),
      };
    });
  return decision({ steps, wakeAt: open.map(heartbeatDue) });
};

/** Every write of the journal says in whose term it was made. */
const signed = (step: Step, leaderEpoch: number | undefined): Step =>
  step.kind !== 'WriteStatus' || leaderEpoch === undefined
    ? step
    : { ...step, status: { ...step.status, leaderEpoch } };

export const decideDisruption = (observation: Observation): Plan => {
  const { disruption, now, options } = observation;
  if (isSuperseded(disruption, options.epoch)) {
    return { subject: disruption.metadata.name, steps: [], waitingOn: [] };
  }
  const demand = demandOf(observation);
  const alive = heartbeats(observation, demand);
  const rest = isTaken(disruption, options.epoch)
    ? byPhase[phaseOf(disruption)](observation, demand)
    : decision({ steps: [writeStatus({ disruption, change: {}, now })] });
  const times = [...alive.wakeAt, ...rest.wakeAt].filter((at) => at !== undefined && at > now);
  const next = Math.min(...times.map((at) => at ?? Number.POSITIVE_INFINITY));
  return {
    subject: disruption.metadata.name,
    steps: [...alive.steps, ...rest.steps].map((step) => signed(step, options.epoch)),
    waitingOn: rest.waitingOn,
    ...(Number.isFinite(next) ? { nextCheckAt: epochMs(next) } : {}),
  };
};
