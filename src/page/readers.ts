// The readers of the page's stream. A reader whose connection is full gets nothing more until it
// has read; then it gets what it missed, or `resync`. A reader that does not read is disconnected,
// a slow one is not. Keeps no events.

export interface PageEvent {
  /** Position after this event; absent for events without one. */
  readonly id?: string;
  readonly event: 'delta' | 'beat' | 'resync';
  /** JSON. */
  readonly data: string;
}

export interface PageReader {
  /** False: the connection is full. Nothing follows until `resume` of the subscription. */
  send(event: PageEvent): boolean;
  /** Closes the connection; its page connects again and loads a snapshot. */
  end(): void;
}

export interface Subscription {
  /** The connection has room again. */
  resume(): void;
  end(): void;
}

/** The events after position `id`; undefined: they are no longer kept. */
type After = (id: string | undefined) => readonly PageEvent[] | undefined;

interface Open {
  readonly reader: PageReader;
  /** Position of the last event sent; undefined: a snapshot must come first. */
  at: string | undefined;
  isFull: boolean;
  /** Calls of `tick` since the connection became full or was last emptied. */
  fullTicks: number;
}

/** 15 s, as `lostAfterMs` in web/src/connection.ts: by then the page has connected again. */
const maxFullTicks = 60;

export class Readers {
  readonly #open = new Set<Open>();
  readonly #after: After;

  constructor(after: After) {
    this.#after = after;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Sends the entries after `at`, then `beat`, then later entries as they arrive. */
  add(at: string | undefined, reader: PageReader, beat: PageEvent): Subscription {
    const one: Open = { reader, at, isFull: false, fullTicks: 0 };
    this.#open.add(one);
    this.#catchUp(one);
    if (!one.isFull) this.#send(one, beat);
    return {
      resume: () => {
        one.fullTicks = 0;
        if (one.isFull && this.#open.has(one)) this.#catchUp(one);
      },
      end: () => this.#open.delete(one),
    };
  }

  broadcast(event: PageEvent): void {
    for (const one of this.#open) if (!one.isFull) this.#send(one, event);
  }

  /** Four times a second. */
  tick(): void {
    for (const one of this.#open) {
      one.fullTicks = one.isFull ? one.fullTicks + 1 : 0;
      if (one.fullTicks < maxFullTicks) continue;
      this.#open.delete(one);
      one.reader.end();
    }
  }

  #catchUp(one: Open): void {
    one.isFull = false;
    const missed = this.#after(one.at);
    for (const event of missed ?? [{ event: 'resync', data: '{}' } as const]) {
      if (one.isFull) break;
      this.#send(one, event);
    }
  }

  #send(one: Open, event: PageEvent): void {
    one.isFull = !one.reader.send(event);
    if (event.id !== undefined) one.at = event.id;
  }
}
