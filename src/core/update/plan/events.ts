// The event queue of one run, by time; events at one time keep the order in which they were added.
// Numeric arrays, since a run of a large group has some hundred thousand events.

/** Event kinds; numbers, since events are kept in numeric arrays. */
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
  awaited: 11,
} as const;
export type Happening = (typeof happening)[keyof typeof happening];

const leastRoom = 1024;
/** A pod stops, is replaced and may try new nodes; the arrays grow in runs with more events. */
const eventsPerPod = 4;

export class Events {
  /** The heap: time and number of each event. The number is its index in the arrays below. */
  #at = new Float64Array(leastRoom);
  #number = new Int32Array(leastRoom);
  #size = 0;
  #kinds: Uint8Array;
  #nodes: Int32Array;
  #pods: Int32Array;
  #added = 0;
  /** Time of the last event that `next` returned. */
  at = 0;
  kind: number = happening.begin;
  node = -1;
  pod = -1;

  /** `pods`: number of pods that the run moves. */
  constructor(pods: number) {
    const room = Math.max(leastRoom, eventsPerPod * pods);
    this.#kinds = new Uint8Array(room);
    this.#nodes = new Int32Array(room);
    this.#pods = new Int32Array(room);
  }

  /** Adds an event at `at` about a node, a pod, both or neither (-1). */
  add(at: number, kind: Happening, node: number, pod: number): void {
    if (this.#size === this.#at.length) this.#grow();
    const number = this.#added++;
    if (number === this.#kinds.length) this.#makeRoom();
    this.#kinds[number] = kind;
    this.#nodes[number] = node;
    this.#pods[number] = pod;
    const [times, numbers] = [this.#at, this.#number];
    let place = this.#size++;
    while (place > 0) {
      const up = (place - 1) >> 2;
      const before = times[up] ?? 0;
      // Events in the heap were added earlier, so they come first at equal times.
      if (before <= at) break;
      times[place] = before;
      numbers[place] = numbers[up] ?? 0;
      place = up;
    }
    times[place] = at;
    numbers[place] = number;
  }

  /** Takes the first event; false if there is none. */
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

  /** Inserts an event at the root and moves it down. Each entry of the heap has four children. */
  #sink(at: number, number: number): void {
    const [times, numbers, size] = [this.#at, this.#number, this.#size];
    let place = 0;
    for (let child = 1; child < size; child = 4 * place + 1) {
      let first = child;
      let time = times[child] ?? 0;
      const end = Math.min(child + 4, size);
      for (let other = child + 1; other < end; other++) {
        const its = times[other] ?? 0;
        if (its < time || (its === time && isLess(numbers, other, first))) {
          first = other;
          time = its;
        }
      }
      if (time > at || (time === at && (numbers[first] ?? 0) > number)) break;
      times[place] = time;
      numbers[place] = numbers[first] ?? 0;
      place = first;
    }
    times[place] = at;
    numbers[place] = number;
  }

  #grow(): void {
    this.#at = copied(this.#at, new Float64Array(2 * this.#at.length));
    this.#number = copied(this.#number, new Int32Array(2 * this.#number.length));
  }

  #makeRoom(): void {
    const room = 2 * this.#kinds.length;
    this.#kinds = copied(this.#kinds, new Uint8Array(room));
    this.#nodes = copied(this.#nodes, new Int32Array(room));
    this.#pods = copied(this.#pods, new Int32Array(room));
  }
}

const copied = <A extends Float64Array | Int32Array | Uint8Array>(from: A, to: A): A => {
  to.set(from);
  return to;
};

const isLess = (numbers: Int32Array, a: number, b: number): boolean =>
  (numbers[a] ?? 0) < (numbers[b] ?? 0);
