// One watch of an informer from start to end. Ends a silent watch; never resumes or retries.
import type { KubeObject, ResourceType } from '../api/kube.ts';
import type { Clock, KubeApi, Log, WatchEvent, WatchStart } from '../ports/index.ts';
import { type LinkedAbort, linkedAbort, sleepOrAbort } from './abort.ts';

const defaultBookmarkPeriodMs = 60_000;
/** A watch without a frame for this many bookmark periods is dead (reference/world.md 3). */
const silentPeriods = 3;

export interface WatchOptions<T extends KubeObject> {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly log: Log;
  readonly type: ResourceType;
  readonly selection: {
    readonly namespace?: string;
    readonly labelSelector?: string;
    readonly fieldSelector?: string;
  };
  readonly start: WatchStart;
  readonly take: (event: WatchEvent<T>) => void;
  readonly onSilence: () => void;
  readonly bookmarkPeriodMs?: number;
}

/** Returns the number of frames. Throws KubeError. */
export const watchOnce = async <T extends KubeObject>(
  options: WatchOptions<T>,
  signal: AbortSignal,
): Promise<number> => {
  const { kube, clock, type, selection, start, take } = options;
  const link = linkedAbort(signal);
  const activity = { at: clock.now(), frames: 0 };
  const watchdog = endWhenSilent(options, activity, link);
  const events = kube.watch<T>(type, { ...selection, ...start, signal: link.signal });
  const frames = events[Symbol.asyncIterator]();
  // One listener for the whole watch: racing each frame against a promise that lives as long as
  // the watch would keep every frame's reaction in memory.
  let wake = (): void => undefined;
  link.signal.addEventListener('abort', () => wake(), { once: true });
  try {
    while (!link.signal.aborted) {
      const frame = await new Promise<IteratorResult<WatchEvent<T>> | undefined>(
        (resolve, reject) => {
          wake = () => resolve(undefined);
          frames.next().then(resolve, reject);
        },
      );
      if (frame === undefined || frame.done === true || link.signal.aborted) break;
      activity.at = clock.now();
      activity.frames++;
      take(frame.value);
    }
  } finally {
    link.abort();
    link.unlink();
    frames.return?.()?.then(undefined, () => undefined);
    await watchdog;
  }
  return activity.frames;
};

const endWhenSilent = async <T extends KubeObject>(
  { clock, log, type, onSilence, bookmarkPeriodMs = defaultBookmarkPeriodMs }: WatchOptions<T>,
  activity: { readonly at: number },
  link: LinkedAbort,
): Promise<void> => {
  const patienceMs = bookmarkPeriodMs * silentPeriods;
  for (;;) {
    const leftMs = activity.at + patienceMs - clock.now();
    if (leftMs > 0) {
      if (!(await sleepOrAbort(clock, leftMs, link.signal))) return;
      continue;
    }
    onSilence();
    log.warn('watch fell silent, opening another', { resource: type.resource, patienceMs });
    return link.abort();
  }
};
