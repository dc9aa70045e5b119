// What an allocation chooses from: the drains, and their pods in order. Decides nothing else.
import type { EpochMs } from '../../api/brand.ts';
import type { Pod } from '../../api/kube.ts';
import type { DrainablePod } from './classify.ts';
import type { ForceWindow } from './force.ts';
import type { Failure } from './ledger.ts';
import type { Waits } from './not-yet.ts';
import { graceOf } from './pods.ts';
import type { Route } from './route.ts';
import type { SelfMoving } from './self-moving.ts';

export interface Drain {
  /** The NodeDisruption's name. */
  readonly id: string;
  readonly node: string;
  /** Drainable pods of the node, including terminating ones. */
  readonly pods: readonly DrainablePod[];
  /** False until the marks of the whole batch are visible; nothing is evicted before that. */
  readonly mayEvict: boolean;
  readonly window?: ForceWindow;
  /** The status records the intent to force; without it nothing is forced. */
  readonly forcing: boolean;
  /** Which pods are moved by their own application, and how often a request is sent for them. */
  readonly selfMoving: SelfMoving;
  /** Which pods wait for their turn, and until when. */
  readonly waits: Waits;
  /** Until when pods may be swapped instead of evicted. */
  readonly surgeUntil?: EpochMs;
}

export interface Candidate {
  readonly drain: Drain;
  readonly pod: Pod;
  /** `namespace/name`, for sorting. */
  readonly name: string;
  readonly route: Route;
  readonly forceAt: EpochMs | undefined;
  readonly failure: Failure | undefined;
}

const routeRank: Readonly<Record<Route['kind'], number>> = {
  forced: 0,
  bypass: 1,
  free: 2,
  budget: 2,
  several: 2,
};

const isSingleton = ({ route }: Candidate): boolean =>
  route.kind === 'budget' && route.budget.status.expectedPods === 1;

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Order: forced pods; pods that a budget selects without counting their eviction; then all others.
 * Within each: nearest deadline, single replicas with a budget, longest grace period.
 */
export const inOrder = (a: Candidate, b: Candidate): number =>
  routeRank[a.route.kind] - routeRank[b.route.kind] ||
  (a.drain.window?.deadline ?? Number.MAX_VALUE) - (b.drain.window?.deadline ?? Number.MAX_VALUE) ||
  Number(isSingleton(b)) - Number(isSingleton(a)) ||
  graceOf(b.pod) - graceOf(a.pod) ||
  compareText(a.drain.id, b.drain.id) ||
  compareText(a.name, b.name);
