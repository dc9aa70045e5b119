// The frames of one in-process watch in the network: in order, each with its own lag, until the
// stream ends, breaks or is aborted.
import type { WatchFrame } from '../../../world/contracts.ts';
import type { Network } from './network.ts';

export class WatchQueue {
  readonly #network: Network;
  readonly #resource: string;
  readonly #arrived: WatchFrame[] = [];
  readonly #send: (arrive: () => void, lagMicros: number) => void;
  #closed = false;
  #broken = false;
  #wake: (() => void) | undefined;

  constructor(network: Network, resource: string) {
    this.#network = network;
    this.#resource = resource;
    this.#send = network.stream();
  }

  push(frame: WatchFrame): void {
    if (this.#broken) return;
    const { lagMicros, breaks } = this.#network.faults.watchFrame(this.#resource);
    this.#send(() => {
      this.#arrived.push(frame);
      this.#wake?.();
    }, lagMicros);
    if (breaks) {
      this.#broken = true;
      this.end();
    }
  }

  end(): void {
    this.#send(() => {
      this.#closed = true;
      this.#wake?.();
    }, 0);
  }

  async *frames(signal: AbortSignal | undefined): AsyncIterable<WatchFrame> {
    const abort = (): void => this.#wake?.();
    signal?.addEventListener('abort', abort);
    try {
      for (;;) {
        signal?.throwIfAborted();
        const frame = this.#arrived.shift();
        if (frame !== undefined) yield frame;
        else if (this.#closed) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }
}
