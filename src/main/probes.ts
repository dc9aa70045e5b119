// The listener for Prometheus and the kubelet in a process of Drover: /metrics, /healthz, /readyz.
// Starts only where a port is given; decides nothing about health.
import type { ReadableMetrics } from '../adapters/metrics/index.ts';
import type { Log } from '../ports/index.ts';
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
