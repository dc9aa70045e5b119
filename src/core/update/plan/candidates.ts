// The old node that a simulated run of Drover's strategy drains next, chosen as in
// core/update/strategies/surge.ts. Order: nodes that are not Ready first, nodes whose budgets never
// allow an eviction last; then the largest zone, the shortest wait for budgets, the longest chain
// of evictions, random. Nodes that the gate holds are parked until their budget's load falls. Pure
// but for the state of one run.
import type { Compiled } from './compiled.ts';

export interface Field {
  /** Enough nodes serve for one more Ready node to be drained. */
  readonly hasSpare: boolean;
  /** The gate does not apply to the only drain. */
  readonly isAlone: boolean;
  /** Nodes of each zone, without those already chosen in this pass. */
  readonly perZone: Int32Array;
  /** Per budget: pods whose eviction was requested and that have not stopped yet. */
  readonly outstanding: Int32Array;
  /** Per budget: pods still on old nodes. */
  readonly left: Int32Array;
}

export interface Choice {
  /** -1: none. */
  readonly node: number;
  /** The gate prevented a drain that would have been chosen otherwise. */
  readonly isHeldByGate: boolean;
}

const none = -1;
const free = 0;
const parked = 1;
const taken = 2;
/** Up to this many candidates are all compared, as in the controller. */
const fewCandidates = 72;
/**
 * With more candidates only the first ones are compared; comparing all of them hardly improves the
 * choice.
 */
const mostCompared = 24;

/** Number of ranks: not Ready, empty, other nodes, nodes that a budget never lets drain. */
const ranks = 4;
const rankOf = ({ isReady, podsOf, input }: Compiled, node: number): number => {
  if (isReady[node] !== 1) return 0;
  if (podsOf[node]?.length === 0) return 1;
  return input.nodes[node]?.isHopeless === true ? 3 : 2;
};

/** Nodes of one rank in one zone, in order. */
interface Line {
  readonly zone: number;
  nodes: number[];
  /** Number of nodes neither taken nor held by the gate. */
  free: number;
}

const sizeOf = ({ zone }: Line, perZone: Int32Array): number => perZone[zone] ?? 0;

/** The largest zone with nodes left that has fewer nodes than `below`; -1: there is none. */
const largestBelow = (lines: readonly Line[], perZone: Int32Array, below: number): number => {
  let largest: number = none;
  for (const line of lines) {
    if (line.nodes.length === 0) continue;
    const size = Math.max(0, sizeOf(line, perZone));
    if (size < below && size > largest) largest = size;
  }
  return largest;
};

interface Best {
  node: number;
  wait: number;
  chain: number;
}

export class Candidates {
  readonly #model: Compiled;
  readonly #lines: readonly (readonly Line[])[];
  readonly #lineOf: readonly Line[];
  readonly #turns: Int32Array;
  readonly #states: Uint8Array;
  /** Per budget: the nodes it holds, and the highest load at which one of them may be drained. */
  readonly #held: readonly number[][];
  readonly #heldUntil: Float64Array;
  readonly #needs: Float64Array;
  #size: number;

  constructor(model: Compiled, order: readonly number[]) {
    this.#model = model;
    const lines = Array.from({ length: ranks }, () =>
      model.zones.map((_, zone): Line => ({ zone, nodes: [], free: 0 })),
    );
    const lineOf: Line[] = [];
    this.#turns = new Int32Array(order.length);
    for (const [turn, node] of order.entries()) {
      this.#turns[node] = turn;
      const line = lines[rankOf(model, node)]?.[model.zoneOf[node] ?? 0];
      if (line === undefined) continue;
      line.nodes.push(node);
      line.free++;
      lineOf[node] = line;
    }
    this.#lines = lines;
    this.#lineOf = lineOf;
    this.#states = new Uint8Array(order.length);
    this.#held = model.input.budgets.map(() => []);
    this.#heldUntil = new Float64Array(model.allowed.length).fill(none);
    this.#needs = new Float64Array(order.length);
    this.#size = order.length;
  }

  /** Number of nodes not taken. */
  get size(): number {
    return this.#size;
  }

  /** Whether any node is not parked. */
  get hasFree(): boolean {
    return this.#lines.some((zones) => zones.some((line) => line.free > 0));
  }

  /** Takes the next node. */
  next(field: Field): Choice {
    const best: Best = { node: none, wait: 0, chain: 0 };
    let isHeldByGate = false;
    for (const [rank, lines] of this.#lines.entries()) {
      if (rank > 0 && !field.hasSpare) break;
      let size = largestBelow(lines, field.perZone, Number.POSITIVE_INFINITY);
      for (; size !== none; size = largestBelow(lines, field.perZone, size)) {
        const isOpen = this.#lookInto(lines, size, field, best);
        if (best.node !== none) return this.#take(best.node);
        isHeldByGate ||= isOpen;
      }
    }
    return { node: none, isHeldByGate };
  }

  /** Checks the zones with `size` nodes; returns whether one of them has nodes left. */
  #lookInto(lines: readonly Line[], size: number, field: Field, best: Best): boolean {
    let [even, count] = [0, 0];
    for (const line of lines) {
      if (line.nodes.length === 0 || sizeOf(line, field.perZone) !== size) continue;
      even++;
      count += line.free;
    }
    const isFew = count <= fewCandidates || field.isAlone;
    const limit = isFew ? fewCandidates : Math.ceil(mostCompared / even);
    let isOpen = false;
    for (const line of lines) {
      if (line.nodes.length === 0 || sizeOf(line, field.perZone) !== size) continue;
      this.#look(line, field, { best, limit });
      isOpen ||= line.nodes.length > 0;
    }
    return isOpen;
  }

  #take(node: number): Choice {
    const line = this.#lineOf[node];
    if (line !== undefined && this.#states[node] === free) line.free--;
    this.#states[node] = taken;
    this.#size--;
    return { node, isHeldByGate: false };
  }

  /** The load of `budget` fell: nodes that it held may be drained again. */
  eased(budget: number, outstanding: number): void {
    if (outstanding > (this.#heldUntil[budget] ?? none)) return;
    const held = this.#held[budget] ?? [];
    let until: number = none;
    let kept = 0;
    for (const node of held) {
      if (this.#states[node] !== parked) continue;
      const need = this.#needs[node] ?? 0;
      if (need >= outstanding) {
        this.#states[node] = free;
        const line = this.#lineOf[node];
        if (line !== undefined) line.free++;
      } else {
        held[kept++] = node;
        until = Math.max(until, need);
      }
    }
    held.length = kept;
    this.#heldUntil[budget] = until;
  }

  #park(node: number, line: Line, load: number): void {
    const { budget, most } = this.#model.loads;
    const by = budget[load] ?? 0;
    const need = most[load] ?? 0;
    this.#states[node] = parked;
    line.free--;
    this.#needs[node] = need;
    this.#held[by]?.push(node);
    this.#heldUntil[by] = Math.max(this.#heldUntil[by] ?? none, need);
  }

  #look(
    line: Line,
    field: Field,
    { best, limit }: { readonly best: Best; readonly limit: number },
  ) {
    const states = this.#states;
    let holes = 0;
    let compared = 0;
    for (const node of line.nodes) {
      if (compared >= limit || (line.free === 0 && !field.isAlone)) break;
      const state = states[node];
      if (state === taken) holes++;
      if (state === taken || (state === parked && !field.isAlone)) continue;
      const load = this.#compare(node, field, best);
      if (load === none) compared++;
      else this.#park(node, line, load);
    }
    if (holes > limit) line.nodes = line.nodes.filter((node) => states[node] !== taken);
  }

  /**
   * Keeps the node with the shorter wait beside the drains in flight, then the one with the longer
   * chain. Returns the load whose budget keeps the node from being drained at present; -1: none.
   */
  #compare(node: number, { outstanding, left, isAlone }: Field, best: Best): number {
    const { loads, allowed } = this.#model;
    const { first, budget: budgets, most: mosts, seconds: times, count } = loads;
    const end = first[node + 1] ?? 0;
    let beside = 0;
    let chain = 0;
    for (let load = first[node] ?? 0; load < end; load++) {
      const budget = budgets[load] ?? 0;
      const others = outstanding[budget] ?? 0;
      if (!isAlone && others > (mosts[load] ?? 0)) return load;
      const most = allowed[budget] ?? 1;
      const seconds = times[load] ?? 0;
      const wait = Math.ceil((others + (count[load] ?? 0)) / most) * seconds;
      if (wait > beside) beside = wait;
      const links = ((left[budget] ?? 0) / most) * seconds;
      if (links > chain) chain = links;
    }
    const wait = beside - (loads.alone[node] ?? 0);
    const isBetter =
      best.node === none ||
      wait < best.wait ||
      (wait === best.wait &&
        (chain > best.chain ||
          (chain === best.chain && (this.#turns[node] ?? 0) < (this.#turns[best.node] ?? 0))));
    if (!isBetter) return none;
    best.node = node;
    best.wait = wait;
    best.chain = chain;
    return none;
  }
}
