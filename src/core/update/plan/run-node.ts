// The nodes and pods of a run: whose turn comes when, which node takes a pod or is ended as surplus, and how fast
// applications are. Pure: what happens to them is the run's.
import type { Timed } from './heap.ts';
import { draw, type ModelInput, type ModelNode } from './model.ts';
import { type Chance, shuffled } from './random.ts';

export interface Happening extends Timed {
  readonly kind:
    | 'begin'
    | 'booted'
    | 'seen'
    | 'noticed'
    | 'hooked'
    | 'stopped'
    | 'retried'
    | 'ready'
    | 'deadline'
    | 'leaving'
    | 'gone';
  readonly node: number;
  readonly pod: number;
}

export interface RunPod {
  readonly app: number;
  evictions: number;
  /** Released with its node and not evicted yet. */
  isWaiting: boolean;
}

/** How much slower an application is in a run, and how long its pods take to stop. */
export interface Habit {
  readonly pace: number;
  readonly stop: number;
}

export const habitsOf = (
  { apps, appSpread }: ModelInput,
  chance: Chance,
  medians: boolean,
): readonly Habit[] =>
  apps.map(({ stop, graceSeconds }) => {
    const pace = medians ? 1 : 1 + appSpread * (2 * chance.next() - 1);
    return { pace, stop: Math.min(graceSeconds, medians ? stop.p50 : draw(stop, chance)) };
  });

export interface RunNode {
  readonly name: string;
  readonly zone: string;
  readonly isOld: boolean;
  readonly isReady: boolean;
  state: 'booting' | 'up' | 'draining' | 'leaving' | 'gone';
  /** Up, and the controllers have seen it. */
  isNoticed: boolean;
  pods: number[];
  /** Of new nodes: how many pods of each application. */
  readonly perApp: Map<number, number>;
  left: number;
  start: number;
  end: number;
}

/** Auto Scaling counts no instance that it ends. */
const isThere = (state: RunNode['state']): boolean => state !== 'leaving' && state !== 'gone';

/** Nothing is on its way with it: it stays as it is, it is gone, or it is new and seen. */
export const isSeen = ({ state, isNoticed }: RunNode): boolean =>
  state === 'gone' || (state === 'up' && isNoticed);

/** Seen to be over, and then seen to be set back; EKS' scale-down is over with its last instance. */
export const looksAtEnd = { SURGE: 2, BLUE_GREEN: 2, MINIMAL: 1, DEFAULT: 0 } as const;

interface ZoneFacts {
  /** In this look; a drain that began before it still counts in its zone. */
  readonly chosen: ReadonlySet<number>;
  /** Nodes that blue/green has emptied are there to the end. */
  readonly areKept: boolean;
}

export const perZoneOf = (
  nodes: readonly RunNode[],
  { chosen, areKept }: ZoneFacts,
): ReadonlyMap<string, number> => {
  const sizes = new Map<string, number>();
  for (const [index, { state, zone }] of nodes.entries()) {
    if (chosen.has(index)) continue;
    if (areKept || isThere(state)) sizes.set(zone, (sizes.get(zone) ?? 0) + 1);
  }
  return sizes;
};

/** One that serves may go: as many are left then as are wanted, less those that may be away. */
export const hasSpare = (
  { desired, nodes: planned, done, maxUnavailable }: ModelInput,
  nodes: readonly RunNode[],
): boolean => {
  const serving = nodes.filter(
    ({ state, isReady, isNoticed }) => state === 'up' && isReady && isNoticed,
  ).length;
  // A group that has not grown to what is wanted yet is planned as it is.
  return serving - 1 >= Math.min(desired, planned.length + done) - maxUnavailable;
};

/** Whether the group fills up again after a node that leaves, or gets smaller by it. */
export const isReplaced = (
  { strategy, desired, surge }: ModelInput,
  nodes: readonly RunNode[],
): boolean => {
  switch (strategy) {
    case 'DEFAULT':
    case 'MINIMAL':
      return true;
    case 'BLUE_GREEN':
    case 'SURGE': {
      const there = nodes.filter(({ state }) => isThere(state));
      // The last ones retire: what the surge brought, no more than old nodes are left, is what stays.
      const old = there.filter(({ isOld }) => isOld).length;
      return there.length < desired + Math.min(surge, old);
    }
  }
};

/** As kube-scheduler spreads the pods of one owner over hosts. */
export const leastOf = (
  nodes: readonly RunNode[],
  { app, podRoom }: { readonly app: number; readonly podRoom: number },
): RunNode | undefined => {
  let best: RunNode | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    if (node.isOld || node.state !== 'up' || node.pods.length >= podRoom) continue;
    const count = (node.perApp.get(app) ?? 0) * 1_000_000 + node.pods.length;
    if (count >= least) continue;
    best = node;
    least = count;
  }
  return best;
};

/** Of the zone with most instances one that is empty, else the oldest, as Auto Scaling's default termination policy. */
export const surplusOf = (nodes: readonly RunNode[]): number | undefined => {
  const up = nodes.flatMap(({ state, isOld, zone, pods }, at) =>
    state === 'up' && !isOld ? [{ at, zone, isEmpty: pods.length === 0 }] : [],
  );
  const sizes = new Map<string, number>();
  for (const { zone } of up) sizes.set(zone, (sizes.get(zone) ?? 0) + 1);
  const most = Math.max(...sizes.values());
  const fullest = up.filter(({ zone }) => sizes.get(zone) === most);
  return (fullest.find(({ isEmpty }) => isEmpty) ?? fullest[0])?.at;
};

/** Which of `nodes` goes when: drawn, or by the turns that are known. What does not serve goes first. */
export const turnsOf = (nodes: readonly ModelNode[], chance: Chance | undefined): number[] => {
  const all = nodes.map((_, i) => i);
  const turn = (at: number): number => nodes[at]?.turn ?? 0;
  const drawn =
    chance === undefined ? all.toSorted((a, b) => turn(a) - turn(b)) : shuffled(all, chance);
  return drawn.toSorted((a, b) => Number(nodes[a]?.isReady) - Number(nodes[b]?.isReady));
};
