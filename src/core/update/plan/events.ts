// The events of one run in the order of their times; at one time in the order in which they were
// added. Arrays of numbers: a run of a large group has some hundred thousand events.

/** What happens; a number, since events are kept in arrays of numbers. */
export const happening = {
  begin: 0,
  booted: 1,
  seen: 2,
  noticed: 3,
  hooked: 4,
  stopped: 5,
  retried: 6,
  ready: 7,
  deadline: 8,
  leaving: 9,
  gone: 10,
} as const;
export type Happening = (typeof happening)[keyof typeof happening];

const leastRoom = 1024;

export class Events {
  /** The heap: when, and the number of the event, which is also its place in the lists below. */
  #at = new Float64Array(leastRoom);
  #number = new Int32Array(leastRoom);
  #size = 0;
  readonly #kinds: number[] = [];
  readonly #nodes: number[] = [];
  readonly #pods: number[] = [];
  /** Time of the event that `next` took last. */
  at = 0;
  kind: number = happening.begin;
  node = -1;
  pod = -1;

  /** An event at `at` about a node, a pod, both or neither (-1). */
  add(at: number, kind: Happening, node: number, pod: number): void {
    if (this.#size === this.#at.length) this.#grow();
    const number = this.#kinds.length;
    this.#kinds.push(kind);
    this.#nodes.push(node);
    this.#pods.push(pod);
    const [times, numbers] = [this.#at, this.#number];
    let place = this.#size++;
    while (place > 0) {
      const up = (place - 1) >> 1;
      const before = times[up] ?? 0;
      // Those that are in the heap were added before: they come first at one time.
      if (before <= at) break;
      times[place] = before;
      numbers[place] = numbers[up] ?? 0;
      place = up;
    }
    times[place] = at;
    numbers[place] = number;
  }

  /** Takes the first event; false when there is none. */
  next(): boolean {
    if (this.#size === 0) return false;
    const number = this.#number[0] ?? 0;
    this.at = this.#at[0] ?? 0;
    this.kind = this.#kinds[number] ?? 0;
    this.node = this.#nodes[number] ?? -1;
    this.pod = this.#pods[number] ?? -1;
    this.#size--;
    if (this.#size > 0) this.#sink(this.#at[this.#size] ?? 0, this.#number[this.#size] ?? 0);
    return true;
  }

  /** Puts an event where the first one was. */
  #sink(at: number, number: number): void {
    const [times, numbers, size] = [this.#at, this.#number, this.#size];
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      let time = times[child] ?? 0;
      const other = times[child + 1] ?? 0;
      const isOther = other < time || (other === time && isLess(numbers, child + 1, child));
      if (child + 1 < size && isOther) {
        child++;
        time = other;
      }
      if (time > at || (time === at && (numbers[child] ?? 0) > number)) break;
      times[place] = time;
      numbers[place] = numbers[child] ?? 0;
      place = child;
    }
    times[place] = at;
    numbers[place] = number;
  }

  #grow(): void {
    const [at, number] = [this.#at, this.#number];
    this.#at = new Float64Array(2 * at.length);
    this.#at.set(at);
    this.#number = new Int32Array(2 * at.length);
    this.#number.set(number);
  }
}

const isLess = (numbers: Int32Array, a: number, b: number): boolean =>
  (numbers[a] ?? 0) < (numbers[b] ?? 0);
