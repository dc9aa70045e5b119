// For tests only: builders of model inputs. Only tests in src import this.
import { defaultTimes, type ModelApp, type ModelInput } from '../../src/core/update/plan/model.ts';
import type { Spread } from '../../src/core/update/plan/spread.ts';

export const exactly = (seconds: number): Spread => ({
  p50: seconds,
  p90: seconds,
  source: 'test',
});

export interface AppOf {
  readonly replace?: number;
  readonly stop?: number;
  readonly allowed?: number;
  readonly perNode?: number;
  readonly stateful?: boolean;
}

/**
 * `count` nodes over `zones` zones, each with `perNode` pods of every app; exact times by default.
 */
export const anInput = (
  count: number,
  apps: readonly AppOf[],
  more: Partial<ModelInput> & { readonly zones?: number } = {},
): ModelInput => {
  const { zones = 1, ...rest } = more;
  const strategy = rest.strategy ?? 'DEFAULT';
  const maxUnavailable = rest.maxUnavailable ?? 1;
  const surges = {
    DEFAULT: Math.max(2 * zones, maxUnavailable),
    MINIMAL: 0,
    SURGE: Math.min(count, Math.max(zones, maxUnavailable)),
    BLUE_GREEN: count,
  };
  return {
    strategy,
    nodes: Array.from({ length: count }, (_, i) => ({
      name: `n${i + 1}`,
      zone: 'abc'[i % zones] ?? 'a',
      isReady: true,
      pods: apps.flatMap(({ perNode = 1 }, app) =>
        Array.from({ length: perNode }, (_, pod) => ({ name: `n${i + 1}-${app}-${pod}`, app })),
      ),
    })),
    apps: apps.map(
      (app, index): ModelApp => ({
        key: `Deployment/demo/app${index}`,
        budget: app.allowed === undefined ? undefined : index,
        stop: { ...exactly(app.stop ?? 10), most: 30 },
        graceSeconds: 30,
        replace: exactly(app.replace ?? 40),
        waitsForStop: app.stateful ?? false,
      }),
    ),
    budgets: apps.map(({ allowed = 1 }, index) => ({ name: `demo/b${index}`, allowed })),
    maxUnavailable,
    surge: surges[strategy],
    desired: count,
    done: 0,
    hasRoomElsewhere: false,
    podRoom: Number.POSITIVE_INFINITY,
    drainTimeoutSeconds: 900,
    cooldownSeconds: 60,
    force: false,
    times: {
      setup: exactly(0),
      launch: exactly(0),
      boot: exactly(120),
      terminate: exactly(45),
      look: exactly(0),
      backoff: exactly(0),
    },
    settleSeconds: 0,
    commonSpread: 0,
    appSpread: 0,
    ...rest,
  };
};

/** The same with a plan's spreads for unmeasured times. */
export const withSpread = (input: ModelInput): ModelInput => ({
  ...input,
  apps: input.apps.map((app) => ({
    ...app,
    replace: { ...app.replace, p90: app.replace.p50 * 1.5 },
    stop: { ...app.stop, p90: app.stop.p50 * 2 },
  })),
  times: {
    setup: defaultTimes.setup,
    launch: defaultTimes.launch,
    boot: defaultTimes.boot,
    terminate: defaultTimes.terminate,
    look: defaultTimes.look,
    backoff: defaultTimes.backoff,
  },
  commonSpread: 0.12,
  appSpread: 0.3,
});
