// The listener for Prometheus and the kubelet in a process of Drover: /metrics, /healthz, /readyz.
// Starts only where a port is given; decides nothing about health.
import type { ReadableMetrics } from '../adapters/metrics/index.ts';
import { resourceTypes } from '../api/kube.ts';
import { type KubeApi, KubeError, type Log } from '../ports/index.ts';
import { createProbeListener, listenForProbes, type ProbeRoutes } from '../serve/index.ts';

export interface ProbeSettings {
  readonly host: string;
  /** 0 = any free port; undefined = no listener. */
  readonly port: number | undefined;
}

export const metricsRoute =
  (metrics: ReadableMetrics): ProbeRoutes[string] =>
  async () => {
    const { contentType, text } = await metrics.read();
    return { status: 200, contentType, body: text };
  };

/** The kubelet's default timeout of a probe is 1 s; the chart allows 5 s. */
const readinessTimeoutMs = 3_000;

/**
 * Ready: the API server answers, and accepts the credentials. A standby is ready too, so that a
 * rollout ends the old leader only after a new replica can take over.
 */
export const readyRoute =
  (kube: KubeApi): ProbeRoutes[string] =>
  async () => {
    try {
      const signal = AbortSignal.timeout(readinessTimeoutMs);
      await kube.get(resourceTypes.nodegroups, { name: 'drover-readiness' }, { signal });
      return { status: 200, body: 'ok\n' };
    } catch (error) {
      const reason = error instanceof KubeError ? error.message : 'no answer in time';
      return { status: 503, body: `the API server: ${reason}\n` };
    }
  };

/** Returns a function that closes the listener. Throws ListenError. */
export const startProbes = async (
  { host, port }: ProbeSettings,
  {
    metrics,
    log,
    routes,
  }: {
    readonly metrics: ReadableMetrics;
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
