// Drover's controllers inside `drover up`: in process, in the world's time, with the user and agent
// that the articles' audit queries select.

import { nodegroupService } from '../../world/aws/index.ts';
import { nodeManagerAgent, nodeManagerUser, type World, worldAccount } from '../../world/index.ts';
import { microsPerMs } from '../../world/kernel/index.ts';
import { createHttp } from '../adapters/http/index.ts';
import { defined } from '../api/defined.ts';
import { runControlPlane } from '../controllers/control-plane.ts';
import type { JournalRing } from '../page/index.ts';
import type { Log, Metrics } from '../ports/index.ts';
import { createInProcessPorts } from '../sim/index.ts';
import { noticesQueueUrl } from './demo.ts';
import { journalTo } from './journal.ts';

/** Latency per direction: a node manager near the API server. */
const legMicros = 2 * microsPerMs;

/** Runs until `signal` aborts. */
export const startEmbeddedControllers = (options: {
  readonly world: World;
  readonly log: Log;
  /** Absent = nothing is counted. */
  readonly metrics?: Metrics;
  /** What the page shows of the journal. */
  readonly journal?: JournalRing;
  readonly signal: AbortSignal;
  readonly allowLoopbackWebhooks?: boolean;
}): Promise<void> => {
  const { world, log, metrics, signal, allowLoopbackWebhooks: allowLoopback = false } = options;
  const ports = createInProcessPorts(world, {
    component: 'drover',
    identity: { user: nodeManagerUser, userAgent: nodeManagerAgent },
    awsCaller: nodegroupService(worldAccount),
    legMicros,
  });
  return runControlPlane(
    {
      ...ports,
      http: createHttp({ allowLoopback }),
      log,
      journal: options.journal?.tee(journalTo(log), ports.clock) ?? journalTo(log),
      ...defined({ metrics }),
      queueUrl: noticesQueueUrl(world),
      compat: 'eks',
    },
    signal,
  );
};
