// Blue/green in the model of an update: all new nodes first, in two steps, then each place is free again as soon as
// its node is empty; what comes when the last one is, comes once. Pure.
import type { ModelInput, Spread } from './model.ts';

const nothing = { p50: 0, p90: 0, source: 'none' } as const;

/**
 * As the run of a strategy that has all its new nodes at the beginning. They come in two steps, a toe and the others,
 * one after the other; nobody waits for the end of an old instance.
 */
export const asRun = (input: ModelInput): ModelInput => {
  if (input.strategy !== 'BLUE_GREEN') return input;
  const { hooks } = input.times;
  // Those before termination run beside each other, once all old nodes are empty.
  const { preTerminate: _last, ...ofPlaces } = hooks ?? {};
  const steps = input.surge > zonesOf(input) ? 2 : 1;
  const inSteps = (spread: Spread): Spread => ({
    ...spread,
    p50: steps * spread.p50,
    p90: steps * spread.p90,
  });
  return {
    ...input,
    strategy: 'SURGE',
    cooldownSeconds: 0,
    times: {
      ...input.times,
      launch: inSteps(input.times.launch),
      boot: inSteps(input.times.boot),
      terminate: nothing,
      ...(hooks === undefined ? {} : { hooks: ofPlaces }),
    },
  };
};

const zonesOf = ({ nodes }: ModelInput): number => new Set(nodes.map(({ zone }) => zone)).size;

/** After the last old node is empty, and between batches: it is the same in every run. */
export const restSeconds = ({
  strategy,
  nodes,
  maxUnavailable,
  soakSeconds = 0,
  batchSoakSeconds = 0,
  cooldownSeconds,
  times,
}: ModelInput): number => {
  if (strategy !== 'BLUE_GREEN' || nodes.length === 0) return 0;
  const batches = Math.ceil(nodes.length / Math.max(1, maxUnavailable));
  const soaks = (batches - 1) * batchSoakSeconds + soakSeconds;
  const last = times.hooks?.preTerminate?.p50 ?? 0;
  return soaks + last + cooldownSeconds + times.terminate.p50;
};

/** Nodes beyond those that are wanted, for as long as there are some: what the update costs besides. */
export const extraNodeHours = (input: ModelInput, seconds: number): number => {
  const { surge, times, strategy } = input;
  const whole = Math.max(0, seconds - times.setup.p50);
  const toe = strategy === 'BLUE_GREEN' ? Math.min(surge, zonesOf(input)) : surge;
  const rest = (surge - toe) * Math.max(0, whole - times.launch.p50 - times.boot.p50);
  return Math.round((toe * whole + rest) / 360) / 10;
};
