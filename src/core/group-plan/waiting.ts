// What a node group waits for after its plan was executed. Pure.
import type { GroupWaiting } from '../../api/plan.ts';
import type { UpdateWaitingOn } from '../../api/update-waiting.ts';
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
  const { change, waitingOn = [] } = rollout.decision ?? {};
  const { holds = [], missing = [], phase } = { ...update.status, ...change };
  const reasons: readonly UpdateWaitingOn[] = [
    ...holds.map((hold) => ({ kind: 'hold', hold }) as const),
    ...waitingOn,
    ...missing.map((node) => ({ kind: 'newNode', node }) as const),
  ];
  const underWay = phase === undefined ? [] : [{ kind: 'phase', phase } as const];
  return (reasons.length > 0 ? reasons : underWay).map((reason) => ({
    kind: 'update',
    update: name,
    waitingOn: reason,
  }));
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
