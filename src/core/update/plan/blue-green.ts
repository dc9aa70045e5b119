// Blue/green in the model of an update: all new nodes launch first, in two steps. Then a drain slot
// is free again as soon as its node is empty; soak, last hook and termination happen once, at the
// end. Pure.
import { type Bounds, boundsOf } from './bounds.ts';
import type { ModelInput } from './model.ts';
import type { HookSpread } from './spread.ts';

const nothing = { p50: 0, p90: 0, source: 'none' } as const;

/**
 * Expresses blue/green as a run of a strategy that launches all new nodes first. They launch in two
 * steps, the canary nodes and then the rest; no drain waits for the termination of an old instance.
 */
export const asRun = (input: ModelInput): ModelInput => {
  if (input.strategy !== 'BLUE_GREEN') return input;
  const { hooks } = input.times;
  // preTerminate hooks run in parallel, once all old nodes are empty.
  const { preTerminate, postReady, ...ofPlaces } = hooks ?? {};
  const steps = input.surge > zonesOf(input) ? 2 : 1;
  const inSteps = <S extends HookSpread>(spread: S): S => ({
    ...spread,
    p50: steps * spread.p50,
    p90: steps * spread.p90,
    ...(spread.most === undefined ? {} : { most: steps * spread.most }),
  });
  const ofNew = postReady === undefined ? {} : { postReady: inSteps(postReady) };
  return {
    ...input,
    strategy: 'SURGE',
    cooldownSeconds: 0,
    last: {
      seconds: (input.soakSeconds ?? 0) + input.cooldownSeconds,
      hook: preTerminate,
      terminate: input.times.terminate,
    },
    times: {
      ...input.times,
      launch: inSteps(input.times.launch),
      boot: inSteps(input.times.boot),
      terminate: nothing,
      ...(hooks === undefined ? {} : { hooks: { ...ofPlaces, ...ofNew } }),
    },
  };
};

const zonesOf = ({ nodes }: ModelInput): number => new Set(nodes.map(({ zone }) => zone)).size;

/** Blue/green only: median time after the last old node is empty. */
const lastSeconds = ({
  strategy,
  nodes,
  soakSeconds = 0,
  cooldownSeconds,
  times,
}: ModelInput): number =>
  strategy !== 'BLUE_GREEN' || nodes.length === 0
    ? 0
    : soakSeconds + (times.hooks?.preTerminate?.p50 ?? 0) + cooldownSeconds + times.terminate.p50;

/** Time in which no drain starts: between batches and after waves. */
const betweenSeconds = (input: ModelInput): number => {
  const { nodes, maxUnavailable, batchSoakSeconds = 0, waves = [] } = input;
  const batches = Math.ceil(nodes.length / Math.max(1, maxUnavailable));
  const ofWaves = waves.reduce((sum, { soakSeconds }) => sum + soakSeconds, 0);
  return Math.max(0, batches - 1) * batchSoakSeconds + ofWaves;
};

/** Budgets keep recovering during soaks, so soaks count for the node bound only. */
export const restedBounds = (input: ModelInput): Bounds => {
  const bounds = boundsOf(asRun(input));
  const last = lastSeconds(input);
  const nodeBound = bounds.nodeBound + betweenSeconds(input) + last;
  const budgetBound = bounds.budgetBound + last;
  return { ...bounds, nodeBound, budgetBound, lowerBound: Math.max(nodeBound, budgetBound) };
};

/** Node-hours above the desired size over the update. */
export const extraNodeHours = (input: ModelInput, seconds: number): number => {
  const { surge, times, strategy } = input;
  const whole = Math.max(0, seconds - times.setup.p50);
  const toe = strategy === 'BLUE_GREEN' ? Math.min(surge, zonesOf(input)) : surge;
  const rest = (surge - toe) * Math.max(0, whole - times.launch.p50 - times.boot.p50);
  return Math.round((toe * whole + rest) / 360) / 10;
};
