// Wires the page of an embedded world: its data from ports in the same process, world control for
// its bar of time and faults. The key of its link opens it.
import type { World } from '../../world/index.ts';
import type { JsonObject } from '../api/json.ts';
import { type JournalRing, type Operator, PageHub } from '../page/index.ts';
import type { Log } from '../ports/index.ts';
import {
  type ControlAnswer,
  type ControlRoutes,
  keyAccess,
  type Pacer,
  PageRoutes,
  pageKey,
} from '../serve/index.ts';
import { createInProcessPorts } from '../sim/index.ts';
import { actWith, builtPage, detailsOf } from './page-parts.ts';
import { tourWith } from './tour.ts';
import { version } from './version.ts';
import { wallClock } from './wall-clock.ts';

/**
 * The link that opens the page. Its fragment is sent to the server only once, in exchange for a
 * cookie.
 */
export const pageLink = (port: number, token: string): string =>
  `http://127.0.0.1:${port}/#key=${pageKey(token)}`;

/** World control: the same link, for `drover page`. */
export const pageLinkRoute =
  (port: () => number, token: string): ControlRoutes[string] =>
  async () => ({ kind: 'ok', body: { link: pageLink(port(), token) } });

const worldWrites = ['advance', 'speed', 'inject', 'clear'] as const;

const fromControl =
  (control: ControlRoutes, route: string) =>
  (input: JsonObject): Promise<ControlAnswer> => {
    const call = control[route];
    if (call === undefined) throw new Error(`world control has no ${route}`);
    return call(input, new URLSearchParams());
  };

export const createWorldPage = (options: {
  readonly world: World;
  readonly pacer: Pacer;
  readonly log: Log;
  readonly control: ControlRoutes;
  readonly token: string;
  readonly journal: JournalRing;
  /** False: no controllers run in this process. */
  readonly hasJournal: boolean;
  /** `--page-actions`. */
  readonly actions: boolean;
  readonly signal: AbortSignal;
}): PageRoutes => {
  const { world, pacer, log, control, token, journal, hasJournal, actions, signal } = options;
  const portsOf = (user: Operator) =>
    createInProcessPorts(world, {
      component: 'page',
      identity: { user, userAgent: `drover-page/${version}` },
    });
  const groups = ['system:masters', 'system:authenticated'];
  const ports = portsOf({ username: 'drover:page', groups });
  const hub = new PageHub({
    kube: ports.kube,
    clock: ports.clock,
    wall: wallClock,
    random: ports.random('page'),
    log: log.child({ part: 'page' }),
    journal,
    speed: () => pacer.speed,
    server: { version, world: { seed: world.kernel.seed }, hasJournal, actions },
    signal,
    enter: (call) => pacer.enter(call),
  });
  const inject = fromControl(control, 'POST /drover/v1/inject');
  const as = async (operator: Operator) => portsOf(operator).kube;
  const act = { act: actWith({ hub, kube: ports.kube, as }) };
  return new PageRoutes({
    source: hub,
    access: keyAccess(token),
    files: builtPage(),
    reads: {
      ...detailsOf(hub),
      world: () => fromControl(control, 'GET /drover/v1/status')({}),
      faults: () => fromControl(control, 'GET /drover/v1/faults')({}),
    },
    writes: {
      ...(actions ? act : {}),
      tour: tourWith({ kube: ports.kube, cloud: ports.cloud, inject }),
      ...Object.fromEntries(
        worldWrites.map((name) => [name, fromControl(control, `POST /drover/v1/${name}`)]),
      ),
    },
  });
};
