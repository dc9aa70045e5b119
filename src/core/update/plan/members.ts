// The nodes of a run and what they add up to: how many serve, are on their way, count for Auto
// Scaling or in their zone. Sums are kept, so that no event looks at all nodes. Pure but for what
// it keeps of one run.
import type { Compiled } from './compiled.ts';
import type { ModelInput } from './model.ts';

export const state = { booting: 0, up: 1, draining: 2, leaving: 3, gone: 4 } as const;
export type State = (typeof state)[keyof typeof state];

/** Auto Scaling counts no instance that it ends. */
const isThere = (one: number | undefined): boolean => one !== state.leaving && one !== state.gone;

export class Members {
  readonly #input: ModelInput;
  /** Nodes that blue/green has emptied count in their zone to the end. */
  readonly #areKept: boolean;
  readonly #states: number[] = [];
  /** The controllers have seen that it is up. */
  readonly #noticed: boolean[] = [];
  readonly #ready: boolean[] = [];
  readonly #zones: number[] = [];
  /** Old nodes have the indexes before this. */
  readonly old: number;
  readonly perZone: Int32Array;
  /** New nodes that are up, by zone. */
  readonly #newUp: Int32Array;
  #serving = 0;
  #moving = 0;
  #there = 0;
  #oldThere = 0;

  constructor({ input, zones, zoneOf, isReady }: Compiled) {
    this.#input = input;
    this.#areKept = input.last !== undefined;
    // The last one is of nodes whose zone is not known.
    this.perZone = new Int32Array(zones.length + 1);
    this.#newUp = new Int32Array(zones.length + 1);
    this.old = input.nodes.length;
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

  /** Nothing is drained or leaves, and every new node is up and seen. */
  get areSettled(): boolean {
    return this.#moving === 0;
  }

  /**
   * One that serves may be drained: as many are left then as are wanted, less those that may be
   * away.
   */
  get hasSpare(): boolean {
    const { desired, nodes, done, maxUnavailable } = this.#input;
    // A group that has not grown to what is wanted yet is planned as it is.
    return this.#serving - 1 >= Math.min(desired, nodes.length + done) - maxUnavailable;
  }

  /** Whether the group fills up again after a node that leaves, or gets smaller by it. */
  get isReplaced(): boolean {
    const { strategy, desired, surge } = this.#input;
    if (strategy === 'DEFAULT' || strategy === 'MINIMAL') return true;
    // The last ones retire: what the surge brought, no more than old nodes are left, is what stays.
    return this.#there < desired + Math.min(surge, this.#oldThere);
  }

  /**
   * Of the zone with most new nodes one that is empty, else the oldest, as Auto Scaling's default
   * termination policy; -1: there is none.
   */
  surplus(isEmpty: (node: number) => boolean): number {
    const most = Math.max(...this.#newUp);
    let oldest = -1;
    for (let node = this.old; node < this.#states.length; node++) {
      if (this.#states[node] !== state.up || this.#newUp[this.zoneOf(node)] !== most) continue;
      if (isEmpty(node)) return node;
      if (oldest === -1) oldest = node;
    }
    return oldest;
  }
}
