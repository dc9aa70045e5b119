// Which node a run takes next with Drover's strategy, as core/update/surge.ts chooses: what nobody misses first,
// hopeless ones last, then the fullest zone, the least wait for budgets, the longest chain, chance. Pure.
import { type BudgetLoad, type GateState, longestChain, passesGate, waitBeside } from './gate.ts';

export interface Candidate {
  readonly isReady: boolean;
  readonly isHopeless: boolean;
  readonly isEmpty: boolean;
  readonly zone: string;
  readonly loads: readonly BudgetLoad[];
}

export interface Field {
  /** A node that serves may go. */
  readonly hasSpare: boolean;
  /** The first drain needs no gate. */
  readonly isAlone: boolean;
  readonly perZone: ReadonlyMap<string, number>;
  /** Pods of a budget that are on old nodes yet. */
  readonly left: (budget: number) => number;
  readonly gate: GateState;
}

export interface Choice {
  readonly at: number | undefined;
  /** Some node would have gone, and its budgets kept it. */
  readonly isHeldByGate: boolean;
}

const rankOf = ({ isReady, isEmpty, isHopeless }: Candidate): number => {
  if (!isReady) return 0;
  if (isEmpty) return 1;
  return isHopeless ? 3 : 2;
};

/** The smaller comes first, member by member. */
const keyOf = (one: Candidate, { perZone, left, gate }: Field): readonly number[] => [
  rankOf(one),
  -(perZone.get(one.zone) ?? 0),
  waitBeside(one.loads, gate),
  -longestChain(one.loads, { allowed: gate.allowed, left }),
];

const isBefore = (a: readonly number[], b: readonly number[]): boolean => {
  for (const [at, one] of a.entries()) {
    const other = b[at] ?? 0;
    if (one !== other) return one < other;
  }
  return false;
};

/** Of candidates in an order of chance, which is kept among equals. */
export const nextOf = (candidates: readonly Candidate[], field: Field): Choice => {
  let best: { readonly at: number; readonly key: readonly number[] } | undefined;
  let isHeldByGate = false;
  for (const [at, one] of candidates.entries()) {
    if (one.isReady && !field.hasSpare) continue;
    if (!field.isAlone && !passesGate(one.loads, field.gate)) {
      isHeldByGate = true;
      continue;
    }
    const key = keyOf(one, field);
    if (best === undefined || isBefore(key, best.key)) best = { at, key };
  }
  return { at: best?.at, isHeldByGate };
};
