// Ends the swaps that an earlier process with `--surge` left open, in a process that starts none.
// Runs once, when a leader starts. Starts no swap and watches nothing.
import { epochMs } from '../../api/brand.ts';
import { keyOfObject } from '../../core/drain/index.ts';
import { KubeError } from '../../ports/index.ts';
import { type PassResult, WorkQueue } from '../../runtime/index.ts';
import type { DisruptionDeps } from './deps.ts';
import { endSurges } from './open-surges.ts';
import { writeStep } from './surge-writes.ts';

const lookAgainMs = 1_000;
const everySwap = 'left';

const endAll = async (
  deps: DisruptionDeps,
  signal: AbortSignal,
): Promise<PassResult | undefined> => {
  const { kube, clock, log } = deps;
  const isDone = await endSurges(kube, clock.now(), {
    signal,
    write: (deployment, step) => writeStep(deps, deployment, step, signal),
    leaves: (deployment, error) => {
      if (!(error instanceof KubeError) || error.code !== 'Forbidden') return false;
      const message =
        'a surge is left open: apply deploy/surge.yaml until the next start of the controller';
      log.warn(message, { deployment: keyOfObject(deployment) });
      return true;
    },
  });
  return isDone ? undefined : { nextAt: epochMs(clock.now() + lookAgainMs) };
};

/** Does nothing unless `surge` is false; runs until aborted; failed attempts are repeated. */
export const endSurgesLeft = async (deps: DisruptionDeps, signal: AbortSignal): Promise<void> => {
  if (deps.surge !== false) return;
  const queue = new WorkQueue<string>({ ...deps, name: 'surge', concurrency: 1 });
  queue.add(everySwap);
  await queue.run((_key, inner) => endAll(deps, inner), signal);
};
