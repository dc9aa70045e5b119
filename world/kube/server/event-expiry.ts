// Events expire after an hour, as with kube-apiserver's --event-ttl. One sweep a minute while any
// exist; nothing else in the store expires.
import { type Kernel, microsPerSecond } from '../../kernel/index.ts';
import { parseKubeTime } from './objects.ts';
import { keyOf, type Store } from './store.ts';

const events = { group: '', resource: 'events' };
const actor = 'kube.events';
const lifetimeSeconds = 3600;
const sweepEverySeconds = 60;

export class EventExpiry {
  readonly #kernel: Kernel;
  readonly #store: Store;
  readonly #state: { get: () => boolean; set: (armed: boolean) => void };

  constructor(kernel: Kernel, store: Store) {
    this.#kernel = kernel;
    this.#store = store;
    const table = kernel.tables.open('kube.event-expiry');
    this.#state = {
      get: () => table.get('armed') !== undefined,
      set: (armed) => {
        if (armed) table.put('armed', { armed });
        else table.delete('armed');
      },
    };
  }

  start(): void {
    this.#kernel.register({ name: actor, handle: () => this.#sweep() });
    this.#store.onChange(events, (change) => {
      if (change.type === 'ADDED') this.#arm();
    });
  }

  #arm(): void {
    if (this.#state.get()) return;
    this.#state.set(true);
    const afterMicros = sweepEverySeconds * microsPerSecond;
    this.#kernel.schedule({ afterMicros, actor, kind: 'sweep' });
  }

  #sweep(): void {
    this.#state.set(false);
    const oldest = this.#kernel.now() - lifetimeSeconds * microsPerSecond;
    for (const event of this.#store.list(events)) {
      const at = parseKubeTime(event.lastTimestamp ?? event.metadata.creationTimestamp);
      if (at !== undefined && at < oldest) this.#store.remove(events, keyOf(event));
    }
    if (this.#store.count(events) > 0) this.#arm();
  }
}
