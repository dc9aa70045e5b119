// The controller starts no repairs when many nodes turn unhealthy at once. Counts only conditions
// that have lasted long enough for the controller to know.
import { both, type Context, type Oracle } from '../../oracle.ts';
import type { HealthState } from '../../state/health.ts';
import { microsPerMinute, microsPerSecond } from '../../state/read.ts';
import { answerOf, cooldownOf, unhealthyLimitOf } from '../../state/repair-policy.ts';
import { membersOf, onStart, repairableOf, roundingMicros, type Start, sizeOf } from './start.ts';

const shortestMicros = 30 * microsPerSecond;
const partitionMicros = 2 * microsPerMinute;
const signalMicros = 10 * microsPerMinute;

export interface Scene {
  readonly context: Context;
  readonly start: Pick<Start, 'group' | 'at'> & { readonly lagMicros: number };
  readonly members: readonly HealthState[];
  readonly cluster: readonly HealthState[];
}

export const sceneOf = (context: Context, start: Scene['start']): Scene => {
  const { byInstance } = context.book.health;
  return {
    context,
    start,
    members: membersOf(context, start.group).flatMap((id) => byInstance.get(id) ?? []),
    cluster: [...byInstance.values()].filter(({ goneAt }) => goneAt === undefined),
  };
};

const isOver = (one: { readonly endedAt: number | undefined }): boolean =>
  one.endedAt !== undefined;

/** Members that count as unhealthy. */
const unhealthyIn = ({ start, members }: Scene): readonly HealthState[] =>
  members.filter((health) =>
    repairableOf(health, start.group.spec, { at: start.at, lagMicros: 0 }).some((spell) => {
      const { waitMicros } = answerOf(start.group.spec, spell.condition, spell.reason);
      const ageMicros = start.at - spell.from - start.lagMicros;
      return !isOver(spell) && ageMicros >= Math.max(shortestMicros, waitMicros / 10);
    }),
  );

const threshold = (scene: Scene): string | undefined => {
  const { context, start } = scene;
  const unhealthy = unhealthyIn(scene).length;
  const limit = unhealthyLimitOf(start.group.spec, sizeOf(context, start.group));
  return unhealthy > limit ? `${unhealthy} nodes are unhealthy, of ${limit} that may` : undefined;
};

const readyOf = (health: HealthState) => health.spells.get('Ready');

/** Certainly not Ready for at least the shortest time. */
const isDown = (health: HealthState, { at, lagMicros }: Scene['start']): boolean => {
  const ready = readyOf(health);
  return ready !== undefined && !isOver(ready) && at - ready.from >= shortestMicros + lagMicros;
};

/** Not Ready, or Ready again only recently. */
const mayBeDown = (health: HealthState, { at, lagMicros }: Scene['start']): boolean => {
  const ready = readyOf(health);
  return ready !== undefined && at - (ready.endedAt ?? at) <= lagMicros;
};

const zone = ({ start, cluster }: Scene, name: string): string | undefined => {
  const own = cluster.filter((health) => health.zone === name);
  const others = cluster.filter((health) => health.zone !== name);
  const down = own.filter((health) => isDown(health, start)).length;
  const elsewhere = others.filter((health) => mayBeDown(health, start)).length;
  const isOut = down >= 2 && down >= own.length / 2;
  if (!isOut || others.length === 0 || elsewhere >= others.length / 10) return undefined;
  return `${down} of ${own.length} nodes of zone ${name} are down, and no others`;
};

/** The largest number of times that lie within `micros` of each other. */
const mostWithin = (times: readonly number[], micros: number): number =>
  Math.max(
    0,
    ...times.map((from) => times.filter((at) => at >= from && at - from <= micros).length),
  );

const partition = ({ start, cluster }: Scene): string | undefined => {
  const silent = cluster.flatMap((health) => {
    const ready = readyOf(health);
    const isSilent = ready?.status === 'Unknown' && !isOver(ready);
    return isSilent && start.at - ready.from > start.lagMicros ? [ready.from] : [];
  });
  const together = mostWithin(silent, partitionMicros - 2 * roundingMicros);
  if (together < 3 || together < 0.3 * cluster.length) return undefined;
  return `${together} of ${cluster.length} nodes fell silent at once`;
};

const signal = (scene: Scene, health: HealthState): string | undefined => {
  const { start, members } = scene;
  const { at, lagMicros, group } = start;
  const stands = (one: HealthState) =>
    repairableOf(one, group.spec, { at, lagMicros: 0 }).filter(
      (spell) => !isOver(spell) && at - spell.from > lagMicros && at - spell.reasonAt > lagMicros,
    );
  for (const { condition, reason } of stands(health)) {
    const times = members.flatMap((one) =>
      stands(one).flatMap((spell) =>
        spell.condition === condition && spell.reason === reason ? [spell.from] : [],
      ),
    );
    const together = mostWithin(times, signalMicros - 2 * roundingMicros);
    if (together < 3 || together < 0.2 * members.length) continue;
    return `${together} nodes reported ${condition} ${reason} at once`;
  }
  return undefined;
};

/** The breaker that is open for a node; undefined: none for certain. */
export const breakerOf = (scene: Scene, health: HealthState): string | undefined =>
  threshold(scene) ?? zone(scene, health.zone) ?? partition(scene) ?? signal(scene, health);

const cooldown = (context: Context, { group, at }: Start): string | undefined => {
  const { closedAt } = group;
  if (closedAt === undefined || group.specAt > closedAt) return undefined;
  const slack = roundingMicros + (context.book.facts.clockSkew ?? 0);
  const left = closedAt + cooldownOf(group.spec) - slack - at;
  return left > 0 ? `a breaker closed ${Math.round((at - closedAt) / 1e6)} s before` : undefined;
};

export const repairBreakers: Oracle = {
  name: 'repairs-stop-at-breakers',
  what: 'no repair begins while a breaker of its group, zone, control plane or signal holds, or before its cooldown is over',
  strategies: both,
  needs: ['object', 'lifecycle'],
  watch: (context) => {
    const changedAt = new Map<string, number>();
    const judge = (start: Start): void => {
      const { group, health, at, lagMicros, repair } = start;
      const { book } = context;
      const changes = [
        changedAt.get(group.scalingGroup) ?? 0,
        group.specAt,
        book.health.changedAt,
        health?.joinedAt ?? at,
      ];
      const message =
        cooldown(context, start) ??
        (health === undefined ||
        health.goneAt !== undefined ||
        changes.some((one) => at - one <= lagMicros)
          ? undefined
          : breakerOf(sceneOf(context, start), health));
      context.saw();
      if (message === undefined) return;
      context.report({ subject: repair.name, message: `repaired although ${message}` });
    };
    return [
      onStart(context, judge),
      {
        lifecycle: ({ autoScalingGroupName, at }) => changedAt.set(autoScalingGroupName, at),
        scaling: ({ autoScalingGroupName, at }) => changedAt.set(autoScalingGroupName, at),
      },
    ];
  },
};
