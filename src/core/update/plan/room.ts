// Which new node of a run takes a pod: the one with the fewest of its application, then with the
// fewest pods, as kube-scheduler spreads the pods of one owner over hosts. Pure but for the pods
// that it counts.

/**
 * As many nodes as kube-scheduler scores at least (minFeasibleNodesToFind): beyond them it looks at
 * a share.
 */
const mostLooks = 100;
const none = -1;

/**
 * Pods of an application on a node: a hash table of numbers, in which most nodes have no pod of
 * most applications.
 */
class PairCounts {
  #keys: Float64Array;
  #counts: Int32Array;
  #used = 0;
  readonly #apps: number;

  constructor(apps: number) {
    this.#apps = apps;
    this.#keys = new Float64Array(1024).fill(none);
    this.#counts = new Int32Array(1024);
  }

  #placeOf(node: number, app: number): number {
    const key = node * this.#apps + app;
    const mask = this.#keys.length - 1;
    let at = (Math.imul(node, 0x9e3779b1) ^ Math.imul(app, 0x85ebca6b)) >>> 0;
    at = (at ^ (at >>> 15)) & mask;
    while (this.#keys[at] !== none && this.#keys[at] !== key) at = (at + 1) & mask;
    return at;
  }

  of(node: number, app: number): number {
    return this.#counts[this.#placeOf(node, app)] ?? 0;
  }

  add(node: number, app: number, count = 1): void {
    if (2 * this.#used >= this.#keys.length) this.#grow();
    const at = this.#placeOf(node, app);
    if (this.#keys[at] === none) {
      this.#keys[at] = node * this.#apps + app;
      this.#used++;
    }
    this.#counts[at] = (this.#counts[at] ?? 0) + count;
  }

  #grow(): void {
    const [keys, counts] = [this.#keys, this.#counts];
    this.#keys = new Float64Array(4 * keys.length).fill(none);
    this.#counts = new Int32Array(4 * keys.length);
    this.#used = 0;
    for (const [at, key] of keys.entries()) {
      if (key === none) continue;
      const node = Math.floor(key / this.#apps);
      this.add(node, key - node * this.#apps, counts[at]);
    }
  }
}

/**
 * Nodes by how many pods they have, as linked lists: the emptiest are found at once, in the order
 * in which they came.
 */
export class Room {
  readonly #podRoom: number;
  readonly #counts: PairCounts;
  /** Of an application with one pod no node has another. */
  readonly #podsOf: Int32Array;
  readonly #pods: number[][] = [];
  readonly #after: number[] = [];
  readonly #before: number[] = [];
  readonly #first: number[] = [];
  readonly #last: number[] = [];
  /** No open node has fewer pods. */
  #least = 0;

  constructor(podRoom: number, podsOf: Int32Array) {
    this.#podRoom = podRoom;
    this.#podsOf = podsOf;
    this.#counts = new PairCounts(podsOf.length);
  }

  /** Pods that `node` took. */
  podsOf(node: number): readonly number[] {
    return this.#pods[node] ?? [];
  }

  /** `node` takes pods from now on. */
  open(node: number): void {
    this.#pods[node] = [];
    this.#link(node, 0);
  }

  /** `node` takes no further ones. */
  close(node: number): void {
    this.#unlink(node, this.podsOf(node).length);
  }

  /** The node that takes `pod` of `app`; -1 where none has room. */
  take(app: number, pod: number): number {
    const node = this.#bestFor(app);
    const pods = this.#pods[node];
    if (pods === undefined) return none;
    this.#unlink(node, pods.length);
    pods.push(pod);
    this.#link(node, pods.length);
    this.#counts.add(node, app);
    return node;
  }

  #bestFor(app: number): number {
    const isOnly = this.#podsOf[app] === 1;
    let best = none;
    let least = Number.POSITIVE_INFINITY;
    let looks = 0;
    for (let pods = this.#leastPods(); pods < this.#end(); pods++) {
      for (let node = this.#first[pods] ?? none; node !== none; node = this.#after[node] ?? none) {
        const count = isOnly ? 0 : this.#counts.of(node, app);
        if (count < least) [best, least] = [node, count];
        // Those that come later have as many pods or more.
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
