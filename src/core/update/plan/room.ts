// The new node that takes a pod, as kube-scheduler spreads the pods of one owner over hosts. It is
// the one with the fewest pods of the application, then with the fewest pods. Pure but for the
// state of one run.
import type { Compiled } from './compiled.ts';

/**
 * kube-scheduler scores at least this many nodes (minFeasibleNodesToFind), and only a share of any
 * further ones.
 */
const mostLooks = 100;
const none = -1;
/**
 * Bounds the table of counts: 20 MB at 5,000 nodes. With more applications some share a column.
 * Those are small, and most of their counts are 0.
 */
const mostColumns = 2048;

export interface RoomOptions {
  /** How many pods a node can take. */
  readonly podRoom: number;
  /** Number of pods per application. */
  readonly podsOf: Int32Array;
  /** Nodes that may take pods are numbered from `firstNode` up to, but not including, `endNode`. */
  readonly firstNode: number;
  readonly endNode: number;
}

/**
 * Nodes in linked lists by pod count, so that the emptiest are found at once, in order of arrival.
 */
export class Room {
  readonly #podRoom: number;
  readonly #firstNode: number;
  /**
   * Per application: the start of its column in `#counts`. -1: it has a single pod, so nothing is
   * counted.
   */
  readonly #columns: Int32Array;
  readonly #counts: Uint16Array;
  readonly #pods: number[][] = [];
  readonly #after: Int32Array;
  readonly #before: Int32Array;
  readonly #first: number[] = [];
  readonly #last: number[] = [];
  /** No node that takes pods has fewer pods than this. */
  #least = 0;

  constructor({ podRoom, podsOf, firstNode, endNode }: RoomOptions) {
    this.#podRoom = podRoom;
    this.#firstNode = firstNode;
    const height = endNode - firstNode;
    this.#after = new Int32Array(endNode);
    this.#before = new Int32Array(endNode);
    this.#columns = new Int32Array(podsOf.length);
    let several = 0;
    for (const [app, pods] of podsOf.entries()) {
      this.#columns[app] = pods === 1 ? none : (several++ % mostColumns) * height;
    }
    this.#counts = new Uint16Array(Math.min(several, mostColumns) * height);
  }

  /** Pods placed on `node`. */
  podsOf(node: number): readonly number[] {
    return this.#pods[node] ?? [];
  }

  /** Lets `node` take pods. */
  open(node: number): void {
    this.#pods[node] = [];
    this.#link(node, 0);
  }

  /** Lets `node` take no further pods. */
  close(node: number): void {
    this.#unlink(node, this.podsOf(node).length);
  }

  /** The empty nodes that may take pods. */
  emptyNodes(): readonly number[] {
    const nodes: number[] = [];
    for (let node = this.#first[0] ?? none; node !== none; node = this.#after[node] ?? none) {
      nodes.push(node);
    }
    return nodes;
  }

  /** The node that takes `pod` of `app`; -1 if none has room. */
  take(app: number, pod: number): number {
    const node = this.#bestFor(app);
    const pods = this.#pods[node];
    if (pods === undefined) return none;
    this.#unlink(node, pods.length);
    pods.push(pod);
    this.#link(node, pods.length);
    const column = this.#columns[app] ?? none;
    if (column === none) return node;
    const at = column + node - this.#firstNode;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    return node;
  }

  #bestFor(app: number): number {
    const column = this.#columns[app] ?? none;
    const [counts, firstNode] = [this.#counts, this.#firstNode];
    let best = none;
    let least = Number.POSITIVE_INFINITY;
    let looks = 0;
    for (let pods = this.#leastPods(); pods < this.#end(); pods++) {
      for (let node = this.#first[pods] ?? none; node !== none; node = this.#after[node] ?? none) {
        const count = column === none ? 0 : (counts[column + node - firstNode] ?? 0);
        if (count < least) [best, least] = [node, count];
        // All nodes that follow have at least as many pods.
        if (least === 0 || ++looks >= mostLooks) return best;
      }
    }
    return best;
  }

  #end(): number {
    return Math.min(this.#podRoom, this.#first.length);
  }

  #leastPods(): number {
    while (this.#least < this.#first.length && (this.#first[this.#least] ?? none) === none) {
      this.#least++;
    }
    return this.#least;
  }

  #link(node: number, pods: number): void {
    while (this.#first.length <= pods) {
      this.#first.push(none);
      this.#last.push(none);
    }
    const last = this.#last[pods] ?? none;
    this.#before[node] = last;
    this.#after[node] = none;
    if (last === none) this.#first[pods] = node;
    else this.#after[last] = node;
    this.#last[pods] = node;
    this.#least = Math.min(this.#least, pods);
  }

  #unlink(node: number, pods: number): void {
    const [before, after] = [this.#before[node] ?? none, this.#after[node] ?? none];
    if (before === none) this.#first[pods] = after;
    else this.#after[before] = after;
    if (after === none) this.#last[pods] = before;
    else this.#before[after] = before;
  }
}

/** For one run, which launches the surge and one node for each old node. */
export const roomOf = ({ input, apps }: Compiled): Room => {
  const { podRoom, nodes, done, surge } = input;
  const firstNode = nodes.length;
  const endNode = firstNode + done + surge + nodes.length;
  return new Room({ podRoom, podsOf: apps.pods, firstNode, endNode });
};
