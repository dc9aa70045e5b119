// The nodes of a run and their counts: serving, in motion, counted by Auto Scaling, per zone.
// Counts are kept incrementally, so that no event scans all nodes. Pure but for the state of one
// run.
import type { Compiled } from './compiled.ts';
import type { ModelInput } from './model.ts';

export const state = { booting: 0, up: 1, draining: 2, leaving: 3, gone: 4 } as const;
export type State = (typeof state)[keyof typeof state];

/** Auto Scaling does not count an instance that it is terminating. */
const isThere = (one: number | undefined): boolean => one !== state.leaving && one !== state.gone;

export class Members {
  readonly #input: ModelInput;
  /** Blue/green counts drained nodes in their zone until it terminates them. */
  readonly #areKept: boolean;
  readonly #states: number[] = [];
  /** Per node: the controllers have noticed that it is up. */
  readonly #noticed: boolean[] = [];
  readonly #ready: boolean[] = [];
  readonly #zones: number[] = [];
  /** Old nodes have the indexes below this number. */
  readonly old: number;
  readonly perZone: Int32Array;
  /** New nodes that are up, by zone. */
  readonly #newUp: Int32Array;
  /** All new nodes with an index below this number are drained or gone. */
  #firstStaying: number;
  #serving = 0;
  #moving = 0;
  #there = 0;
  #oldThere = 0;

  constructor({ input, zones, zoneOf, isReady }: Compiled) {
    this.#input = input;
    this.#areKept = input.last !== undefined;
    // The last entry is for nodes of unknown zone.
    this.perZone = new Int32Array(zones.length + 1);
    this.#newUp = new Int32Array(zones.length + 1);
    this.old = input.nodes.length;
    this.#firstStaying = this.old;
    for (const [node, zone] of zoneOf.entries()) {
      this.#add(zone, { to: state.up, isReady: isReady[node] === 1 });
    }
    for (let i = 0; i < input.done; i++) this.#add(zones.length, { to: state.up, isReady: true });
  }

  get count(): number {
    return this.#states.length;
  }

  #add(zone: number, { to, isReady }: { readonly to: State; readonly isReady: boolean }): number {
    const node = this.#states.length;
    this.#states.push(to);
    this.#noticed.push(to === state.up);
    this.#ready.push(isReady);
    this.#zones.push(zone);
    this.#count(node, 1);
    return node;
  }

  launch(zone: number): number {
    return this.#add(zone, { to: state.booting, isReady: true });
  }

  isOld(node: number): boolean {
    return node < this.old;
  }
  zoneOf(node: number): number {
    return this.#zones[node] ?? 0;
  }
  is(node: number, one: State): boolean {
    return this.#states[node] === one;
  }
  isReady(node: number): boolean {
    return this.#ready[node] === true;
  }

  become(node: number, to: State): void {
    this.#count(node, -1);
    this.#states[node] = to;
    this.#count(node, 1);
  }

  notice(node: number): void {
    this.#count(node, -1);
    this.#noticed[node] = true;
    this.#count(node, 1);
  }

  #count(node: number, sign: 1 | -1): void {
    const [now, noticed] = [this.#states[node], this.#noticed[node] === true];
    const isSeen = now === state.up && noticed;
    if (isSeen && this.#ready[node] === true) this.#serving += sign;
    if (!isSeen && now !== state.gone) this.#moving += sign;
    const zone = this.#zones[node] ?? 0;
    if (now === state.up && node >= this.old) this.#newUp[zone] = (this.#newUp[zone] ?? 0) + sign;
    if (this.#areKept || isThere(now)) this.perZone[zone] = (this.perZone[zone] ?? 0) + sign;
    if (!isThere(now)) return;
    this.#there += sign;
    if (node < this.old) this.#oldThere += sign;
  }

  /** No drain or termination is in progress, and the controllers have noticed every new node. */
  get areSettled(): boolean {
    return this.#moving === 0;
  }

  /** A node that serves may be drained: enough remain for the desired size less maxUnavailable. */
  get hasSpare(): boolean {
    const { desired, nodes, done, maxUnavailable } = this.#input;
    // A group below its desired size is planned at its actual size.
    return this.#serving - 1 >= Math.min(desired, nodes.length + done) - maxUnavailable;
  }

  /** Whether Auto Scaling replaces a node that is terminated, or the group shrinks by it. */
  get isReplaced(): boolean {
    const { strategy, desired, surge } = this.#input;
    if (strategy === 'DEFAULT' || strategy === 'MINIMAL') return true;
    // The surge counts no more nodes than there are old ones left: the last old nodes are
    // terminated with decrement, and the surge nodes remain in their place.
    return this.#there < desired + Math.min(surge, this.#oldThere);
  }

  /**
   * The node that a scale-in terminates, by Auto Scaling's default termination policy. In the zone
   * with most new nodes it is the oldest of the `empty` ones, or else the oldest; -1: none.
   */
  surplus(empty: readonly number[]): number {
    const most = Math.max(...this.#newUp);
    const isInPlace = (node: number): boolean =>
      this.#states[node] === state.up && this.#newUp[this.zoneOf(node)] === most;
    const oldest = empty.reduce(
      (least, node) => ((least === -1 || node < least) && isInPlace(node) ? node : least),
      -1,
    );
    if (oldest !== -1) return oldest;
    // A node that was drained does not come back.
    while ((this.#states[this.#firstStaying] ?? state.up) > state.up) this.#firstStaying++;
    for (let node = this.#firstStaying; node < this.#states.length; node++) {
      if (isInPlace(node)) return node;
    }
    return -1;
  }
}
