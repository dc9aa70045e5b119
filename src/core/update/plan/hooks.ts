// The duration of hooks for the model: measured in earlier updates of the group, or else a guess;
// bounded by the hook's timeout. Pure.
import {
  defaultHookTimeoutSeconds,
  type HookTime,
  hookKinds,
  type UpdateHooks,
} from '../../../api/update-hooks.ts';
import { quantileOf } from '../../quantile.ts';
import type { HookSpreads, Spread } from './spread.ts';

/** A hook without measurements: a short Job, and a slow one. */
const guess = { p50: 30, p90: 120 } as const;
/** With fewer measurements the slowest hooks are not representative. */
const few = 5;
const leastSpread = 1.3;

const measured = (seconds: readonly number[]): Spread | undefined => {
  if (seconds.length === 0) return undefined;
  const sorted = seconds.toSorted((a, b) => a - b);
  const p50 = Math.max(1, quantileOf(sorted, 0.5));
  const slow = quantileOf(sorted, 0.9);
  const p90 = seconds.length < few ? Math.max(p50 * leastSpread, slow) : Math.max(p50, slow);
  const runs = seconds.length === 1 ? 'run' : 'runs';
  return { p50, p90, source: `measured on ${seconds.length} ${runs}` };
};

export const hookSpreads = (hooks: UpdateHooks, times: readonly HookTime[]): HookSpreads =>
  Object.fromEntries(
    hookKinds.flatMap((kind) => {
      const hook = hooks[kind];
      if (hook === undefined) return [];
      const most = hook.timeoutSeconds ?? defaultHookTimeoutSeconds;
      const own = times.filter((one) => one.hook === kind).map(({ seconds }) => seconds);
      const known = measured(own);
      const { p50, p90, source } = known ?? { ...guess, source: 'default' };
      const within = { p50: Math.min(p50, most), p90: Math.min(p90, most), source, most };
      return [[kind, known === undefined ? { ...within, isGuess: true } : within]];
    }),
  );
