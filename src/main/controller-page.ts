// Wires the page of `drover controller`: on loopback beside the controllers, signed in to with the
// caller's own token. What it shows and what it writes needs the caller's own rights.
import type { Server } from 'node:http';
import { type JournalRing, judge, type Operator, PageHub, readRights } from '../page/index.ts';
import type { Clock, KubeApi, Log } from '../ports/index.ts';
import { createPageListener, listenOnLoopback, PageRoutes, tokenAccess } from '../serve/index.ts';
import { machineRandom } from './controller.ts';
import { actWith, builtPage, detailsOf } from './page-parts.ts';
import { version } from './version.ts';
import { wallClock } from './wall-clock.ts';

export interface ControllerPage {
  readonly port: number;
  /** `--page-actions`. */
  readonly actions: boolean;
  readonly kube: KubeApi;
  readonly serverClock: Clock;
  readonly log: Log;
  readonly journal: JournalRing;
  /** A client with this token and the process's own server. */
  readonly withToken: (token: string) => Promise<KubeApi & { close(): Promise<void> }>;
  readonly signal: AbortSignal;
}

/** Serves the page beside the controllers, on loopback; returns a function that closes it. */
export const startControllerPage = async (
  options: ControllerPage,
): Promise<() => Promise<void>> => {
  const { kube, serverClock, log, journal, actions, withToken, signal } = options;
  const hub = new PageHub({
    kube,
    clock: serverClock,
    wall: wallClock,
    random: machineRandom()('page'),
    log: log.child({ part: 'page' }),
    journal,
    speed: () => 1,
    server: { version, world: null, hasJournal: true, actions },
    signal,
  });
  const as = async (_: Operator, token: string): Promise<Pick<KubeApi, 'patch'>> => {
    const own = await withToken(token);
    return {
      patch: async (...call) => {
        try {
          return await own.patch(...call);
        } finally {
          await own.close();
        }
      },
    };
  };
  const routes = new PageRoutes({
    source: hub,
    access: tokenAccess((token) => judge(kube, token, readRights)),
    files: builtPage(),
    reads: detailsOf(hub),
    writes: actions ? { act: actWith({ hub, kube, as }) } : {},
  });
  let bound = options.port;
  const onError = (error: unknown): void => log.error('the page failed', { error: String(error) });
  const server: Server = createPageListener(routes, { port: () => bound, onError });
  bound = await listenOnLoopback(server, options.port);
  log.info('serving the page', { url: `http://127.0.0.1:${bound}/` });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
};
