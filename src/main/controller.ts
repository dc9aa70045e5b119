// `drover controller`: the control plane against a real API server and cloud, with the wall clock,
// the machine's random source and one leader at a time. Retries while the API server does not
// answer; ends with one sentence when it lacks required permissions.
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
// Imports single constants, not the world behind them.
import { nodeManagerAgent } from '../../world/identities.ts';
import { SeededRandom } from '../../world/kernel/random.ts';
import { durationMs } from '../api/brand.ts';
import { leaderIdentity } from '../api/controller-fence.ts';
import { leaderLease } from '../api/controller-rights.ts';
import { defined } from '../api/defined.ts';
import { resourceTypes } from '../api/kube.ts';
import { CommandError, exitCodes } from '../cli/context.ts';
import { type ControlPlaneDeps, runControlPlane } from '../controllers/control-plane.ts';
import type { JournalRing } from '../page/index.ts';
import {
  type Clock,
  type CloudApi,
  type Http,
  type KubeApi,
  KubeError,
  type Log,
  type Metrics,
} from '../ports/index.ts';
import { describeError, LeaderElector, sleepOrAbort } from '../runtime/index.ts';
import { journalTo } from './journal.ts';

const crds = resourceTypes.customresourcedefinitions;
/**
 * Delay before the controllers restart, when the API server became unreachable during their start.
 */
const startAgainMs = durationMs(5_000);

export interface ControllerDeps {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly http: Http;
  /** The machine's own clock, for the lease. */
  readonly clock: Clock;
  /** The API server's time, for everything written and compared. */
  readonly serverClock: Clock;
  readonly log: Log;
  /** Absent = nothing is counted. */
  readonly metrics?: Metrics;
  readonly signal: AbortSignal;
  /** The pod's name, if given (`POD_NAME`); else the hostname, which in a pod is the same. */
  readonly podName?: string;
  /** What the page shows of the journal. */
  readonly journal?: JournalRing;
}

export interface ControllerSettings {
  readonly queueUrl: string | undefined;
  readonly compat: 'eks' | 'native';
  readonly approveCertificates?: boolean;
  readonly surge?: boolean;
  readonly leaderElect: boolean;
  /** Absent: no notifications are sent. */
  readonly notifications?: ControlPlaneDeps['notifications'] | undefined;
}

/** With eks the articles' audit queries match this controller's requests. */
export const userAgentOf = (compat: 'eks' | 'native', version: string): string =>
  compat === 'eks' ? nodeManagerAgent : `drover/${version}`;

/** Random streams that outsiders cannot predict, one per purpose. */
export const machineRandom = () => {
  const seed = randomBytes(4).readUInt32LE();
  return (purpose: string) => SeededRandom.split(seed, purpose);
};

const mayNot = (error: KubeError): CommandError =>
  new CommandError(
    exitCodes.failed,
    `${error.message}. The controller needs to read and write customresourcedefinitions, nodes, ` +
      'pods, pods/eviction, poddisruptionbudgets, leases and drover.dev objects: grant its ' +
      'identity the rights of deploy/rbac.yaml (an administrator may install deploy/crds ' +
      'beforehand)',
    { cause: error },
  );

/** Runs the controllers; restarts them only while the API server is unreachable. */
const keepRunning = async (
  deps: ControllerDeps,
  run: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { clock, log, kube } = deps;
  while (!signal.aborted) {
    try {
      // A first request, so that an unreachable server is reported at once.
      await kube.get(crds, { name: 'nodedisruptions.drover.dev' }, { signal });
      return await run(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 'Forbidden' || error.code === 'Unauthorized') throw mayNot(error);
      if (error.retry === 'never') throw error;
      log.warn('the controllers cannot start, trying again', {
        error: describeError(error),
        againInSeconds: startAgainMs / 1000,
      });
      await sleepOrAbort(clock, startAgainMs, signal);
    }
  }
};

/** Runs until `signal` aborts. Throws CommandError, CrdError or KubeError when it cannot work. */
export const runController = async (
  settings: ControllerSettings,
  deps: ControllerDeps,
): Promise<void> => {
  const { kube, cloud, http, clock, serverClock, log, metrics, signal } = deps;
  const { queueUrl, compat, approveCertificates = false, surge, notifications } = settings;
  const random = machineRandom();
  const controlPlane =
    (leading: { isLeader?: () => boolean; epoch?: number }) => (inner: AbortSignal) =>
      runControlPlane(
        {
          kube,
          cloud,
          http,
          clock: serverClock,
          random,
          log,
          queueUrl,
          compat,
          approveCertificates,
          journal: deps.journal?.tee(journalTo(log), serverClock) ?? journalTo(log),
          ...defined({ metrics, notifications, surge }),
          ...leading,
        },
        inner,
      );
  if (!settings.leaderElect) {
    log.info('starting without leader election', { compat });
    metrics?.set('drover_leader', {}, 1);
    return keepRunning(deps, controlPlane({}), signal);
  }
  const identity = leaderIdentity(deps.podName ?? hostname(), randomUUID());
  const elector = new LeaderElector({
    kube,
    clock,
    log,
    identity,
    random: random('leader'),
    ...leaderLease,
  });
  log.info('starting', { identity, compat, lease: `${leaderLease.namespace}/${leaderLease.name}` });
  const isLeader = (): boolean => elector.isLeader();
  metrics?.onRead(() => metrics.set('drover_leader', {}, isLeader() ? 1 : 0));
  await elector.run(
    ({ epoch }, inner) => keepRunning(deps, controlPlane({ isLeader, epoch }), inner),
    signal,
  );
};
