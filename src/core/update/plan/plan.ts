// The plan of an update: verdict, totals, order and batches, and the preflight's findings. The same
// snapshot gives the same plan. Pure; changes nothing.

import { formatTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import {
  isOwnStrategy,
  type SkippedType,
  type UpdateStrategy,
  type Waiver,
} from '../../../api/nodegroup-update.ts';
import { hookKinds } from '../../../api/update-hooks.ts';
import { quantileOf } from '../../quantile.ts';
import type { Outlook } from '../pacing/index.ts';
import { type Finding, runChecks, type Snapshot, type View, viewOf } from '../preflight/index.ts';
import { podsAsk, skippedTypes } from '../strategies/instance-types.ts';
import { approvalsOf, type PlanApproval } from './approvals.ts';
import { asRun, extraNodeHours, restedBounds } from './blue-green.ts';
import { type CloudTimes, modelOf } from './build.ts';
import { forecastOf, noForecast } from './forecast.ts';
import { basisOf, hashOf, type PlanBasis } from './hash.ts';
import type { ModelApp, ModelInput, RunResult } from './model.ts';
import { mostRuns, runsOf } from './runs.ts';
import type { Spread } from './spread.ts';

export type PlanFinding = Finding & { readonly waived?: { readonly reason?: string } };

export interface PlanBatch {
  readonly number: number;
  readonly startMinute: number;
  readonly endMinute: number;
  readonly nodes: readonly {
    readonly name: string;
    readonly zone: string;
    readonly pods: number;
    readonly startMinute: number;
  }[];
}

export interface Assumption {
  readonly what: string;
  readonly p50Seconds: number;
  readonly p90Seconds: number;
  readonly source: string;
}

/** The JSON form of `drover plan update`, version 1. */
export interface UpdatePlan {
  readonly version: 1;
  readonly kind: 'UpdatePlan';
  readonly plannedAt: string;
  readonly group: string;
  readonly cluster: string;
  readonly managedBy: 'drover' | 'eks';
  readonly strategy: UpdateStrategy;
  readonly from: Snapshot['group']['current'];
  readonly to: Snapshot['target'];
  /** Hash of everything the plan depends on; an update by a plan with another hash is refused. */
  readonly hash: string;
  /** Hashes of its parts. They show which part differs when a plan is stale. */
  readonly basis: PlanBasis;
  readonly verdict: 'ready' | 'blocked' | 'upToDate';
  /** Surplus new nodes of an earlier update, which this one removes. */
  readonly leftover?: number;
  readonly nodes: number;
  readonly pods: number;
  readonly maxUnavailable: number;
  readonly surge: number;
  readonly launches: number;
  /** Node-hours above the desired size, at the median. */
  readonly extraNodeHours: number;
  /** Median of the runs; more than `pods` if new nodes are removed again. */
  readonly evictions: number;
  readonly minutes: { readonly p50: number; readonly p90: number };
  readonly lowerBound: {
    readonly minutes: number;
    readonly by: 'nodes' | 'budget';
    readonly budget?: string;
  };
  /** A higher parallelism does not lower the bound. */
  readonly kStar?: number;
  /** Number of model runs behind the figures. */
  readonly runs: number;
  /** Percentage of runs in which a drain exceeded the drain timeout. */
  readonly lateRunsPercent: number;
  /** EKS drains in random order; Drover by zone, and at random among equal zones. */
  readonly order: 'random' | 'byZone';
  readonly batches: readonly PlanBatch[];
  /**
   * Groups with several types: a zone without capacity for the first type gets the next one that is
   * not skipped.
   */
  readonly instanceTypes?: {
    readonly order: readonly string[];
    readonly skipped: readonly SkippedType[];
  };
  /** What would delay the start: windows, freezes, a missing approval. */
  readonly holds: Outlook['holds'];
  /** The approvals that operators must give, in order of time. */
  readonly approvals: readonly PlanApproval[];
  readonly findings: readonly PlanFinding[];
  readonly waivers: readonly Waiver[];
  readonly assumptions: readonly Assumption[];
}

export interface PlanOptions {
  readonly waivers?: readonly Waiver[];
  /** Maximum number of model runs. */
  readonly runs?: number;
  /** Known times of the cloud, instead of the defaults. */
  readonly times?: CloudTimes;
}

const maxAssumedOwners = 5;

const minutes = (seconds: number): number => Math.round(seconds / 6) / 10;

const batchesOf = (input: ModelInput, median: RunResult): readonly PlanBatch[] => {
  const byName = new Map(input.nodes.map((node) => [node.name, node]));
  const size = Math.max(1, input.maxUnavailable);
  const count = Math.ceil(median.drains.length / size);
  return Array.from({ length: count }, (_, i) => {
    const drains = median.drains.slice(i * size, (i + 1) * size);
    return {
      number: i + 1,
      startMinute: minutes(Math.min(...drains.map(({ startSeconds }) => startSeconds))),
      endMinute: minutes(Math.max(...drains.map(({ endSeconds }) => endSeconds))),
      nodes: drains.map(({ node, startSeconds }) => ({
        name: node,
        zone: byName.get(node)?.zone ?? '',
        pods: byName.get(node)?.pods.length ?? 0,
        startMinute: minutes(startSeconds),
      })),
    };
  });
};

const assumed = (what: string, { p50, p90, source }: Spread): Assumption => ({
  what,
  p50Seconds: Math.round(p50),
  p90Seconds: Math.round(p90),
  source,
});

/** The longest stop time in a run. */
const longestStop = ({ stop }: ModelApp): number =>
  stop.graceShare === undefined ? stop.p90 : stop.most;

const stopSource = ({ source, graceShare, most }: ModelApp['stop']): string =>
  graceShare === undefined
    ? source
    : `${source}; in ${Math.round(graceShare * 100)} of 100 runs its whole grace, ${most} s`;

const assumptionsOf = ({ times, apps }: ModelInput): readonly Assumption[] => [
  assumed('preparation', times.setup),
  assumed('a place in the group until the launch', times.launch),
  assumed('launch until Ready', times.boot),
  assumed('termination of an instance', times.terminate),
  ...hookKinds.flatMap((kind) => {
    const spread = times.hooks?.[kind];
    return spread === undefined ? [] : [assumed(`hook ${kind}`, spread)];
  }),
  ...apps
    .toSorted((a, b) => b.replace.p50 - a.replace.p50 || (a.key < b.key ? -1 : 1))
    .slice(0, maxAssumedOwners)
    .map(({ key, replace }) => assumed(`replacement of a pod of ${key}`, replace)),
  ...apps
    .toSorted((a, b) => longestStop(b) - longestStop(a) || (a.key < b.key ? -1 : 1))
    .slice(0, maxAssumedOwners)
    .map(({ key, stop }) =>
      assumed(`stop of a pod of ${key}`, { ...stop, source: stopSource(stop) }),
    ),
];

const waivedBy = (findings: readonly Finding[], waivers: readonly Waiver[]) =>
  findings.map((finding): PlanFinding => {
    const waiver = waivers.find(({ check }) => check === finding.check);
    // Waiving a refused update would have no effect.
    if (waiver === undefined || finding.isRefused === true) return finding;
    const { reason } = waiver;
    return { ...finding, waived: reason === undefined ? {} : { reason } };
  });

const sums = (input: ModelInput, runs: readonly RunResult[]) => {
  const bounds = restedBounds(input);
  const isByBudget = bounds.budgetBound > bounds.nodeBound && bounds.budget !== undefined;
  const { budget } = bounds;
  // A run that is stuck never ends; the durations come from runs that complete, if any.
  const through = runs.filter(({ starved }) => starved.length === 0);
  const seconds = (through.length > 0 ? through : runs).map((run) => run.seconds);
  const late = runs.filter((run) => run.late.length > 0).length;
  const isNothing = input.nodes.length === 0;
  return {
    launches: isNothing ? 0 : Math.max(0, ...runs.map(({ launches }) => launches)),
    extraNodeHours: isNothing ? 0 : extraNodeHours(input, quantileOf(seconds, 0.5)),
    evictions: quantileOf(
      runs.map(({ evictions }) => evictions),
      0.5,
    ),
    minutes: {
      p50: isNothing ? 0 : minutes(quantileOf(seconds, 0.5)),
      p90: isNothing ? 0 : minutes(quantileOf(seconds, 0.9)),
    },
    lowerBound: {
      minutes: minutes(bounds.lowerBound),
      by: isByBudget ? ('budget' as const) : ('nodes' as const),
      ...(isByBudget && budget !== undefined ? { budget } : {}),
    },
    ...defined({ kStar: bounds.kStar }),
    runs: runs.length,
    lateRunsPercent: runs.length === 0 ? 0 : Math.round((100 * late) / runs.length),
  };
};

const instanceTypeFacts = ({
  oldNodes,
  snapshot,
  podsOn,
}: View): Pick<UpdatePlan, 'instanceTypes'> => {
  const { instanceTypes: types, strategy } = snapshot.group;
  if (!isOwnStrategy(strategy) || types.length < 2) return {};
  const loads = oldNodes.map(({ node }) => {
    const { name } = node.metadata;
    return {
      node: name,
      asks: podsAsk(podsOn(name)),
    };
  });
  const skipped = skippedTypes(types, loads);
  const left = new Set(skipped.map(({ type }) => type));
  return { instanceTypes: { order: types.filter((type) => !left.has(type)), skipped } };
};

export const planUpdate = (snapshot: Snapshot, options: PlanOptions = {}): UpdatePlan => {
  const { waivers = [], runs: count = mostRuns } = options;
  const { group, target } = snapshot;
  const { leftover = 0 } = group;
  const view = viewOf(snapshot, noForecast);
  const input = modelOf(view, options.times);
  const basis = basisOf(view);
  const hash = hashOf(basis);
  const seed = Number.parseInt(hash.slice(0, 8), 16);
  const isNothing = input.nodes.length === 0;
  const { runs, ordered, median } = runsOf(input, { seed, most: count });
  const found = runChecks({ ...view, forecast: forecastOf(asRun(input), { runs, ordered }) });
  const findings = waivedBy(found, waivers);
  const isBlocked = findings.some(
    ({ severity, waived }) => severity === 'blocker' && waived === undefined,
  );
  return {
    version: 1,
    kind: 'UpdatePlan',
    plannedAt: formatTime(snapshot.now),
    group: group.name,
    cluster: group.cluster,
    managedBy: group.managedBy,
    strategy: group.strategy,
    holds: snapshot.outlook?.holds ?? [],
    from: group.current,
    to: target,
    hash,
    basis,
    verdict: isBlocked ? 'blocked' : isNothing && leftover === 0 ? 'upToDate' : 'ready',
    ...(leftover === 0 ? {} : { leftover }),
    nodes: input.nodes.length,
    pods: view.moved.length,
    maxUnavailable: group.maxUnavailable,
    surge: view.surge,
    ...sums(input, runs),
    order: isOwnStrategy(group.strategy) ? 'byZone' : 'random',
    batches: isNothing ? [] : batchesOf(input, median),
    approvals: isNothing ? [] : approvalsOf(snapshot, input, median),
    findings,
    ...(isNothing ? {} : instanceTypeFacts(view)),
    waivers,
    assumptions: isNothing ? [] : assumptionsOf(input),
  };
};

/** The hash and basis that a plan of `snapshot` would have. */
export const snapshotBasis = (
  snapshot: Snapshot,
): { readonly hash: string; readonly basis: PlanBasis } => {
  const basis = basisOf(viewOf(snapshot, noForecast));
  return { hash: hashOf(basis), basis };
};
