// Decides the next steps of one disruption: one function per phase, from the observation. Steps
// leave no choice open; a second decision on the same state emits none. Evictions are not decided
// here: core/drain allocates them over all drains together.
import { epochMs } from '../../api/brand.ts';
import { isPending } from '../../api/confirmation.ts';
import type { DisruptionPhase, NodeDisruption } from '../../api/disruption.ts';
import type { Plan, Step } from '../../api/plan.ts';
import { causesToCome, type Demand, demandOf } from './causes.ts';
import { decideCompleting } from './completing.ts';
import { type Decision, decision } from './decision.ts';
import { decideDraining } from './draining.ts';
import { decideEnded } from './ended.ts';
import { heartbeatDue, hookKey, type KnownHook, knownHooks } from './hooks.ts';
import { decideMarking, decidePending } from './marking.ts';
import type { Observation } from './observation.ts';
import { isSuperseded, isTaken, phaseOf, writeStatus } from './status.ts';
import { decideUndoing } from './undoing.ts';
import { withdrawOver } from './waiting-turn.ts';

type Decide = (observation: Observation, demand: Demand) => Decision;

const byPhase: Readonly<Record<DisruptionPhase, Decide>> = {
  Pending: decidePending,
  Marking: decideMarking,
  Draining: decideDraining,
  Completing: decideCompleting,
  Undoing: decideUndoing,
  Ended: decideEnded,
};

/**
 * The hooks that need heartbeats, by phase. A hook being completed needs them until Auto Scaling
 * confirms.
 */
const hooksToKeep: Readonly<
  Record<DisruptionPhase, (observation: Observation, demand: Demand) => readonly KnownHook[]>
> = {
  Pending: (_observation, { hooks }) => hooks,
  Marking: (_observation, { hooks }) => hooks,
  Draining: (_observation, { hooks }) => hooks,
  Completing: (observation, { hooks }) => [
    ...hooks,
    ...knownHooks(observation, causesToCome(observation.disruption)),
  ],
  Undoing: (observation) => knownHooks(observation, causesToCome(observation.disruption)),
  Ended: () => [],
};

/** Heartbeats come first: no failure of another step may delay them. */
const heartbeats = (observation: Observation, demand: Demand): Decision => {
  const { disruption, now } = observation;
  const { instanceId } = disruption.spec;
  if (instanceId === undefined) return decision({});
  const hooks = hooksToKeep[phaseOf(disruption)](observation, demand);
  const open = hooks.filter(({ status }) => status.state === 'Open');
  const steps = open
    .filter((hook) => heartbeatDue(hook) <= now)
    .map(({ ref }): Step => {
      const { autoScalingGroupName, name: hookName } = ref;
      return { kind: 'HeartbeatHook', autoScalingGroupName, hookName, instanceId };
    });
  return decision({ steps, wakeAt: open.map(heartbeatDue) });
};

/** Writes at once that a hook has ended since the last write, so that readers see it. */
const hooksWrite = (observation: Observation, demand: Demand, { steps }: Decision): Decision => {
  const { disruption, now } = observation;
  const { status } = disruption;
  const isWritten = steps.some(({ kind }) => kind === 'WriteStatus');
  if (isWritten || status?.hooks === undefined) return decision({});
  const stateOf = new Map(status.hooks.map((hook) => [hookKey(hook), hook.state]));
  const hasMoved = demand.hooks.some(
    ({ ref, status: { state } }) => state !== 'Open' && stateOf.get(hookKey(ref)) === 'Open',
  );
  if (!hasMoved) return decision({});
  return decision({ steps: [writeStatus({ disruption, demand, change: {}, now })] });
};

/** Adds the leader's term to every status write. */
const signed = (step: Step, leaderEpoch: number | undefined): Step =>
  step.kind !== 'WriteStatus' || leaderEpoch === undefined
    ? step
    : { ...step, status: { ...step.status, leaderEpoch } };

/** Nothing starts and nothing is undone while the cloud has not confirmed or denied a cause. */
const awaitsCloud = (disruption: NodeDisruption, { causes }: Demand): boolean => {
  const phase = phaseOf(disruption);
  const isOpen = phase === 'Pending' || phase === 'Marking' || phase === 'Draining';
  return isOpen && causes.length === 0 && disruption.spec.causes.some(isPending);
};

export const decideDisruption = (observation: Observation): Plan => {
  const { disruption, now, options } = observation;
  if (isSuperseded(disruption, options.epoch)) {
    return { subject: disruption.metadata.name, steps: [], waitingOn: [] };
  }
  const demand = demandOf(observation);
  if (awaitsCloud(disruption, demand)) {
    return { subject: disruption.metadata.name, steps: [], waitingOn: [] };
  }
  const alive = heartbeats(observation, demand);
  const rest = isTaken(disruption, options.epoch)
    ? byPhase[phaseOf(disruption)](observation, demand)
    : decision({ steps: [writeStatus({ disruption, change: {}, now })] });
  const noted = hooksWrite(observation, demand, rest);
  const over = withdrawOver(observation);
  const times = [...alive.wakeAt, ...over.wakeAt, ...rest.wakeAt].filter(
    (at) => at !== undefined && at > now,
  );
  const next = Math.min(...times.map((at) => at ?? Number.POSITIVE_INFINITY));
  return {
    subject: disruption.metadata.name,
    steps: [...alive.steps, ...over.steps, ...rest.steps, ...noted.steps].map((step) =>
      signed(step, options.epoch),
    ),
    waitingOn: rest.waitingOn,
    ...(Number.isFinite(next) ? { nextCheckAt: epochMs(next) } : {}),
  };
};
