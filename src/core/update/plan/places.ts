// Room for pods on the new nodes of a run, and the pods that wait for room. Placement on single
// nodes is simulated only for DEFAULT, where surplus nodes are drained again; other strategies
// count free places. Pure but for the state of one run.
import type { Compiled } from './compiled.ts';
import { type Chance, takeSome } from './random.ts';
import { type Room, roomOf } from './room.ts';

/** Each new node is offered at most this many waiting pods, or twice as many as it has room for. */
const mostTried = 256;
const none = -1;

export class Places {
  readonly #room: Room | undefined;
  readonly #podRoom: number;
  #free = 0;
  /** Pods that found no room. */
  readonly #waiting: number[] = [];

  constructor(model: Compiled) {
    const { strategy, podRoom } = model.input;
    this.#podRoom = podRoom;
    if (strategy === 'DEFAULT') this.#room = roomOf(model);
  }

  open(node: number): void {
    this.#room?.open(node);
    this.#free += this.#podRoom;
  }

  close(node: number): void {
    this.#room?.close(node);
  }

  podsOf(node: number): readonly number[] {
    return this.#room?.podsOf(node) ?? [];
  }

  emptyNodes(): readonly number[] {
    return this.#room?.emptyNodes() ?? [];
  }

  /** Places the pod on a new node; false if none has room. */
  take(app: number, pod: number): boolean {
    if (this.#room !== undefined) return this.#room.take(app, pod) !== none;
    if (this.#free <= 0) return false;
    this.#free--;
    return true;
  }

  wait(pod: number): void {
    this.#waiting.push(pod);
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** The pods that try a new node: all that wait or, if very many wait, enough to fill it. */
  tryNew(chance: Chance): readonly number[] {
    return takeSome(this.#waiting, Math.max(mostTried, 2 * this.#podRoom), chance);
  }
}
