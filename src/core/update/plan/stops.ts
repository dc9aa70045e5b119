// How long the pods of an owner take to stop: measured in earlier drains, or known for the cloud.
// Otherwise a guess in which some owners use their full grace period. Never above the grace period,
// never below a preStop sleep. Pure.
import type { FullPod, Workload } from '../../../api/workloads.ts';
import { defaultTimes, type ModelApp } from './model.ts';
import { Chance } from './random.ts';
import { draw, type Spread, type StopSpread, spreadFactor } from './spread.ts';

/** Kubernetes' default. */
const defaultGraceSeconds = 30;

/**
 * Processes that do not handle SIGTERM, such as a shell as PID 1, run until the kubelet kills them.
 * The share of such owners is not measured; the model assumes one in ten.
 */
export const defaultGraceShare = 0.1;

/** Keeps the most recent ones, since applications change. */
const mostSeen = 40;
/** With fewer measurements the slowest pods are not representative. */
const few = 5;
const leastSpread = 1.1;
const leastSpreadOfFew = 1.3;

export const graceOf = (pods: readonly FullPod[]): number =>
  Math.max(0, ...pods.map(({ spec }) => spec.terminationGracePeriodSeconds ?? defaultGraceSeconds));

const sleepIn = /^\s*(?:exec\s+)?(?:\/(?:usr\/)?bin\/)?sleep\s+(\d+)/;

/** How long the preStop hook of a container sleeps before it gets SIGTERM. */
const sleepOf = ({ lifecycle }: NonNullable<FullPod['spec']['containers']>[number]): number => {
  const { sleep, exec } = lifecycle?.preStop ?? {};
  const command = exec?.command ?? [];
  const isShell = command.length > 2 && command.at(-2) === '-c';
  const found = sleepIn.exec(isShell ? (command.at(-1) ?? '') : command.join(' '));
  return sleep?.seconds ?? Number(found?.[1] ?? 0);
};

const sleepsOf = (pods: readonly FullPod[]): number =>
  Math.max(0, ...pods.flatMap(({ spec }) => (spec.containers ?? []).map(sleepOf)));

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

const seenSpread = (seconds: readonly number[]): Spread => {
  const sorted = seconds.toSorted((a, b) => a - b);
  const p50 = Math.max(1, quantile(sorted, 0.5));
  const least = seconds.length < few ? leastSpreadOfFew : leastSpread;
  const p90 = Math.max(p50 * least, quantile(sorted, 0.9));
  const stops = seconds.length === 1 ? 'stop' : 'stops';
  return { p50, p90, source: `measured on ${seconds.length} ${stops}` };
};

export interface KnownStops {
  /** Stop times of the owner's pods, measured in earlier drains. */
  readonly seen: readonly number[];
  /** Known stop time of all pods, instead of the defaults. */
  readonly told: Spread | undefined;
}

const within = (spread: Spread, grace: number): StopSpread => {
  const most = Math.min(grace, spread.most ?? grace);
  return { ...spread, p50: Math.min(spread.p50, most), p90: Math.min(spread.p90, most), most };
};

export const stopSpread = (pods: readonly FullPod[], { seen, told }: KnownStops): StopSpread => {
  const grace = graceOf(pods);
  if (seen.length > 0) return { ...within(seenSpread(seen), grace), isSeen: true };
  if (told !== undefined) return within(told, grace);
  const { p50, p90, source } = defaultTimes.stop;
  const least = Math.min(grace, sleepsOf(pods));
  const guess = within({ p50: least + p50, p90: least + p90, source }, grace);
  return { ...guess, ...(least === 0 ? {} : { least }), graceShare: defaultGraceShare };
};

/**
 * Measured seconds by the key of the owner that scales the pods: the Deployment of a recorded
 * ReplicaSet.
 */
export const seenStops = (
  times: readonly { readonly owner: string; readonly seconds: readonly number[] }[],
  workloads: readonly Workload[],
): ReadonlyMap<string, readonly number[]> => {
  const scaledBy = new Map<string, string>(
    workloads.flatMap(({ kind, metadata }) => {
      const owner = metadata.ownerReferences?.find((one) => one.controller === true);
      const namespace = metadata.namespace ?? '';
      if (owner === undefined) return [];
      const key = `${owner.kind}/${namespace}/${owner.name}`;
      return [[`${kind}/${namespace}/${metadata.name}`, key] as const];
    }),
  );
  const byKey = new Map<string, readonly number[]>();
  for (const { owner, seconds } of times) {
    const key = scaledBy.get(owner) ?? owner;
    byKey.set(key, [...(byKey.get(key) ?? []), ...seconds].slice(-mostSeen));
  }
  return byKey;
};

/**
 * Gives measured stop times a random stream of their own, so that the run's other draws stay the
 * same.
 */
const streamOfStops = 0x5bd1e995;

/** How long pods of each application take to stop in one run. */
export class Stops {
  readonly #apps: readonly ModelApp[];
  readonly #once: Float64Array;
  /**
   * For applications with measured stop times: how much slower they are in this run, as a factor;
   * otherwise 0.
   */
  readonly #pace: Float64Array;
  readonly #factor: Float64Array;
  readonly #own: Chance;

  /** `drawn`: seconds of each application, drawn from the run's own random stream. */
  constructor(
    apps: readonly ModelApp[],
    drawn: Float64Array,
    { seed, medians, appSpread }: { seed: number; medians: boolean; appSpread: number },
  ) {
    this.#apps = apps;
    this.#once = drawn;
    this.#own = new Chance(seed ^ streamOfStops);
    this.#pace = new Float64Array(apps.length);
    this.#factor = new Float64Array(apps.length);
    if (medians) return;
    for (const [at, { stop }] of apps.entries()) {
      if (stop.isSeen === true) {
        this.#pace[at] = 1 + appSpread * (2 * this.#own.next() - 1);
        this.#factor[at] = spreadFactor(stop);
      } else if (stop.graceShare !== undefined && this.#own.next() < stop.graceShare) {
        drawn[at] = stop.most;
      }
    }
  }

  /** The stop time of one pod, in seconds. */
  of(app: number): number {
    const pace = this.#pace[app] ?? 0;
    if (pace === 0) return this.#once[app] ?? 0;
    const { p50 = 0, most = 0 } = this.#apps[app]?.stop ?? {};
    return Math.min(most, pace * p50 * Math.exp(this.#own.normal() * (this.#factor[app] ?? 0)));
  }
}

/** One draw for all pods of an application, since they are alike. */
export const drawStop = (stop: StopSpread, chance: Chance): number => {
  const { p50, p90, most, least = 0, source } = stop;
  const beyond = { p50: p50 - least, p90: p90 - least, source };
  return Math.min(most, least + draw(beyond, chance));
};
