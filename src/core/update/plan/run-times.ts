// Durations in one run: drawn from their spreads, scaled by the speed of the cloud and of each hook
// in that run. Pure.
import type { HookKind } from '../../../api/update-hooks.ts';
import { type CompiledApps, drawReplace } from './compiled.ts';
import type { ModelInput } from './model.ts';
import type { Chance } from './random.ts';
import type { HookSpread } from './spread.ts';
import { draw, type Spread } from './spread.ts';

/**
 * Number of polls at the end of an update: one until the controller notices that the nodes are
 * done, another until it notices that labels and taints are removed. EKS' scale-down ends with its
 * last instance.
 */
const looksAtEnd = { SURGE: 2, BLUE_GREEN: 2, MINIMAL: 1, DEFAULT: 0 } as const;

/** One hook in one run: its guessed duration, or its speed relative to the measurement. */
type HookHabit = { readonly seconds: number } | { readonly pace: number };

export class RunTimes {
  readonly #input: ModelInput;
  readonly #chance: Chance;
  readonly #medians: boolean;
  readonly #pace: number;
  readonly #habits: ReadonlyMap<HookSpread, HookHabit>;

  constructor(input: ModelInput, chance: Chance, medians: boolean) {
    this.#input = input;
    this.#chance = chance;
    this.#medians = medians;
    this.#pace = medians ? 1 : Math.exp(chance.normal() * input.commonSpread);
    const { hooks = {} } = input.times;
    const all = [...Object.values(hooks), ...(input.last === undefined ? [] : [input.last.hook])];
    this.#habits = new Map(all.flatMap((one) => (one === undefined ? [] : [this.#habitOf(one)])));
  }

  /** Nodes are alike: a hook without measurements is slow on all of them or on none. */
  #habitOf(spread: HookSpread): [HookSpread, HookHabit] {
    if (spread.isGuess === true) return [spread, { seconds: this.draw(spread, 1) }];
    const { appSpread } = this.#input;
    return [spread, { pace: this.#medians ? 1 : 1 + appSpread * (2 * this.#chance.next() - 1) }];
  }

  draw(spread: Spread, pace = this.#pace): number {
    if (this.#medians) return spread.p50;
    const seconds = pace * draw(spread, this.#chance);
    return Math.min(seconds, spread.most ?? seconds);
  }

  /** Seconds until the replacement of a pod of `app` is Ready. */
  replacement(apps: CompiledApps, app: number, pace: number): number {
    if (this.#medians) return apps.replaceP50[app] ?? 0;
    return drawReplace(apps, app, { chance: this.#chance, pace });
  }

  /** 0 without a hook. */
  #drawHook(spread: HookSpread | undefined): number {
    const habit = spread && this.#habits.get(spread);
    if (spread === undefined || habit === undefined) return 0;
    const seconds = 'seconds' in habit ? habit.seconds : this.draw(spread, habit.pace);
    // The controller notices the end of a hook one poll later.
    return seconds + this.draw(this.#input.times.look);
  }

  hook(kind: HookKind): number {
    return this.#drawHook(this.#input.times.hooks?.[kind]);
  }

  /** Seconds from the request until a new node counts as available. */
  untilUp(): number {
    const { launch, boot } = this.#input.times;
    return this.draw(launch) + this.draw(boot) + this.hook('postReady');
  }

  /** Seconds from an old node being empty until it is terminated. */
  cool(): number {
    const { cooldownSeconds } = this.#input;
    return Math.max(cooldownSeconds, this.hook('postDrain')) + this.hook('preTerminate');
  }

  /** Seconds from all nodes being done until the update ends. */
  last(): number {
    const { strategy, times } = this.#input;
    return this.#blueGreen() + looksAtEnd[strategy] * this.draw(times.look);
  }

  /** Seconds from the last old node being empty until the last one is gone. */
  #blueGreen(): number {
    const { last, nodes } = this.#input;
    if (last === undefined || nodes.length === 0) return 0;
    const slowest = (one: () => number): number => nodes.reduce((most) => Math.max(most, one()), 0);
    const hooks = slowest(() => this.#drawHook(last.hook));
    return last.seconds + hooks + slowest(() => this.draw(last.terminate));
  }
}
