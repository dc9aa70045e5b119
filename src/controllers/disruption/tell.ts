// Writes Kubernetes events beside everything else. Events are informative: a failed write delays
// nothing and is not repeated.
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import { KubeError } from '../../ports/index.ts';
import { describeError } from '../../runtime/index.ts';
import type { DisruptionDeps } from './deps.ts';

export class Teller {
  readonly #deps: Pick<DisruptionDeps, 'kube' | 'log'>;
  readonly #signal: AbortSignal;
  readonly #telling = new Set<Promise<void>>();

  constructor(deps: Pick<DisruptionDeps, 'kube' | 'log'>, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  tell(event: JsonObject | undefined): void {
    if (event === undefined) return;
    const { kube, log } = this.#deps;
    const signal = this.#signal;
    const telling = kube
      .create(resourceTypes.events, event, { namespace: 'default', signal })
      .then(
        () => undefined,
        (error: unknown) => {
          if (signal.aborted) return;
          if (error instanceof KubeError && error.code === 'AlreadyExists') return;
          log.warn('event not written', { error: describeError(error) });
        },
      )
      .finally(() => this.#telling.delete(telling));
    this.#telling.add(telling);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#telling);
  }
}
