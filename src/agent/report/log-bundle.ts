// Answers the repair controller's request for a log bundle: reads the annotation on its own Node,
// collects once, and writes the answer as a condition. Starts nothing by itself, and writes nothing
// else.
import { durationMs, type EpochMs, epochMs, formatKubeTime } from '../../api/brand.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import {
  type BundleAnswer,
  bundleAnnotation,
  bundleAnswer,
  bundleAnswerOf,
} from '../../api/log-bundle.ts';
import { type Clock, type KubeApi, KubeError, type Log, NodeHostError } from '../../ports/index.ts';
import { describeError } from '../../runtime/index.ts';

/** The controller waits for 60 s: one look and one collection fit into that. */
const lookMs = durationMs(15_000);
const collectMs = durationMs(30_000);
/** Bounds what a writer of annotations can make the node collect. */
const betweenMs = durationMs(300_000);
const maxName = 150;

export interface BundleStore {
  /**
   * Collects until `endsAt` at the latest and stores the bundle under the name. Throws
   * NodeHostError.
   */
  collect(
    name: string,
    endsAt: EpochMs,
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly bytes: number }>;
}

export class BundleReporter {
  readonly #kube: Pick<KubeApi, 'get' | 'patch'>;
  readonly #clock: Clock;
  readonly #node: string;
  readonly #store: BundleStore;
  readonly #log: Log;
  #lookAt: EpochMs = epochMs(0);
  #collectedAt: EpochMs | undefined;
  /** The last answer: sent again when its write failed, without a second collection. */
  #answered: { readonly request: string; readonly answer: BundleAnswer } | undefined;

  constructor(options: {
    readonly kube: Pick<KubeApi, 'get' | 'patch'>;
    readonly clock: Clock;
    readonly node: string;
    readonly store: BundleStore;
    readonly log: Log;
  }) {
    this.#kube = options.kube;
    this.#clock = options.clock;
    this.#node = options.node;
    this.#store = options.store;
    this.#log = options.log;
  }

  async pass(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    if (now < this.#lookAt) return;
    this.#lookAt = epochMs(now + lookMs);
    try {
      const request = await this.#request(signal);
      if (request === undefined) return;
      if (this.#answered?.request !== request) {
        this.#answered = { request, answer: await this.#collect(request, signal) };
      }
      await this.#send(request, this.#answered.answer, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof KubeError)) throw error;
      this.#log.warn('a request for a bundle is looked for again', { error: describeError(error) });
    }
  }

  /** Undefined: no repair asks for a bundle, or the Node has the answer already. */
  async #request(signal: AbortSignal): Promise<string | undefined> {
    const found = await this.#kube.get<Node>(resourceTypes.nodes, { name: this.#node }, { signal });
    if (found.kind === 'gone') return undefined;
    const { metadata, status } = found.object;
    const request = metadata.annotations?.[bundleAnnotation];
    if (request === undefined || request === '') return undefined;
    return bundleAnswerOf(status?.conditions, request) === undefined ? request : undefined;
  }

  async #collect(request: string, signal: AbortSignal): Promise<BundleAnswer> {
    const now = this.#clock.now();
    if (this.#collectedAt !== undefined && now - this.#collectedAt < betweenMs) {
      const message = `refused: the last bundle is younger than ${betweenMs / 1000} s`;
      return { isCollected: false, message };
    }
    this.#collectedAt = now;
    try {
      const name = request.replace(/^repair\//, '').replace(/[^\w.-]/g, '_');
      const endsAt = epochMs(now + collectMs);
      const { path, bytes } = await this.#store.collect(name.slice(0, maxName), endsAt, signal);
      this.#log.info('bundle collected', { request, path, bytes });
      return { isCollected: true, message: `${path} (${Math.ceil(bytes / 1024)} KiB)` };
    } catch (error) {
      if (!(error instanceof NodeHostError)) throw error;
      this.#log.warn('no bundle is collected', { request, error: error.message });
      return { isCollected: false, message: error.message };
    }
  }

  async #send(request: string, answer: BundleAnswer, signal: AbortSignal): Promise<void> {
    const at = formatKubeTime(this.#clock.now());
    const condition = {
      ...bundleAnswer(request, answer),
      lastTransitionTime: at,
      lastHeartbeatTime: at,
    };
    const body = { status: { conditions: [condition] } };
    const patch = { type: 'strategic', subresource: 'status', body } as const;
    await this.#kube.patch(resourceTypes.nodes, { name: this.#node }, patch, { signal });
  }
}
