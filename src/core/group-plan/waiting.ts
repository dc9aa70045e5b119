// What a node group waits for once its plan has been run. Pure.
import type { GroupWaiting } from '../../api/plan.ts';
import { countedOf } from './members.ts';
import type { GroupObservation } from './observation.ts';
import type { ScaleInView } from './scale-in.ts';
import type { RolloutPart } from './update.ts';

const maxNamed = 20;

const drains = (view: ScaleInView | undefined): readonly GroupWaiting[] => {
  const names = (view?.draining ?? []).map(({ metadata }) => metadata.name);
  if (names.length === 0) return [];
  return [{ kind: 'drains', disruptions: names.slice(0, maxNamed), total: names.length }];
};

const ofUpdate = (
  { update }: GroupObservation,
  rollout: RolloutPart | undefined,
): readonly GroupWaiting[] => {
  if (update === undefined || rollout === undefined) return [];
  const { name } = update.metadata;
  const { change } = rollout.decision ?? {};
  const status = { ...update.status, ...change };
  const holds = (status.holds ?? []).map(
    (hold): GroupWaiting => ({ kind: 'hold', update: name, hold }),
  );
  if (holds.length > 0 || status.phase === undefined) return holds;
  return [{ kind: 'update', update: name, phase: status.phase }];
};

export const waitingOf = (
  observation: GroupObservation,
  {
    target,
    view,
    rollout,
  }: {
    readonly target: number;
    readonly view: ScaleInView | undefined;
    readonly rollout: RolloutPart | undefined;
  },
): readonly GroupWaiting[] => {
  const missing = target - countedOf(observation.scaling).length;
  return [
    ...drains(view),
    ...(missing > 0 ? [{ kind: 'instances', missing } as const] : []),
    ...ofUpdate(observation, rollout),
  ];
};
