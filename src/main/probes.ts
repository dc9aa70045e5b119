// The listener for Prometheus and the kubelet: /metrics, /healthz, /readyz. Starts only if a port
// is given; decides nothing about health.
import { resourceTypes } from '../api/kube.ts';
import type { ProbeAddress } from '../cli/context.ts';
import { type Clock, type KubeApi, KubeError, type Log } from '../ports/index.ts';
import {
  createProbeListener,
  listenForProbes,
  type ProbeAnswer,
  type ProbeRoutes,
} from '../serve/index.ts';

/** What a scrape reads. */
interface Readable {
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

interface ReadyDeps {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly log: Log;
}

export const metricsRoute =
  (metrics: Readable): ProbeRoutes[string] =>
  async () => {
    const { contentType, text } = await metrics.read();
    return { status: 200, contentType, body: text };
  };

/** The kubelet's default timeout of a probe is 1 s; the chart allows 5 s. */
const readinessTimeoutMs = 3_000;
/**
 * Answers are reused for this long, so that frequent probes cause few requests to the API server.
 */
const answerHoldsMs = 2_000;

const ready: ProbeAnswer = { status: 200, body: 'ok\n' };
/**
 * Anyone who can reach the port may read the answer, so it omits the reason, which may name hosts.
 */
const notReady: ProbeAnswer = { status: 503, body: 'no answer of the API server; see the log\n' };

/**
 * Ready: the API server answers and accepts the credentials. A standby is ready too. So a rollout
 * ends the old leader only when a new replica can take over.
 */
export const readyRoute = ({ kube, clock, log }: ReadyDeps): ProbeRoutes[string] => {
  let wasReady = true;
  const ask = async (): Promise<ProbeAnswer> => {
    try {
      const signal = AbortSignal.timeout(readinessTimeoutMs);
      await kube.get(resourceTypes.nodegroups, { name: 'drover-readiness' }, { signal });
      wasReady = true;
      return ready;
    } catch (error) {
      const reason = error instanceof KubeError ? error.message : 'no answer in time';
      if (wasReady) log.warn('not ready: the API server does not answer', { reason });
      wasReady = false;
      return notReady;
    }
  };
  let last: { readonly until: number; readonly answer: Promise<ProbeAnswer> } | undefined;
  return () => {
    const now = clock.now();
    if (last === undefined || now >= last.until) {
      // Longer than a request may take, so that there is never more than one at a time.
      const open = { until: now + readinessTimeoutMs + answerHoldsMs, answer: ask() };
      last = open;
      void open.answer.then(() => {
        last = { ...open, until: clock.now() + answerHoldsMs };
      });
    }
    return last.answer;
  };
};

/** Returns a function that closes the listener. Throws ListenError. */
export const startProbes = async (
  { host, port }: ProbeAddress,
  {
    metrics,
    log,
    routes,
  }: {
    readonly metrics: Readable;
    readonly log: Log;
    readonly routes: ProbeRoutes;
  },
): Promise<() => Promise<void>> => {
  if (port === undefined) return async () => undefined;
  const all = { '/metrics': metricsRoute(metrics), ...routes };
  const server = createProbeListener(all, (error) =>
    log.error('a probe failed', { error: String(error) }),
  );
  const bound = await listenForProbes(server, { host, port });
  log.info('serving metrics and probes', { host, port: bound });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
};
