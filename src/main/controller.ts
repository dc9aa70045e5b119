// `drover controller`: the control plane against a real API server and cloud: wall clock, chance
// from the machine, one leader at a time. It keeps trying while the API server does not answer, and
// ends with one sentence when it may not do what it must.
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
// One constant each, not the world behind them.
import { nodeManagerAgent } from '../../world/identities.ts';
import { SeededRandom } from '../../world/kernel/random.ts';
import { durationMs } from '../api/brand.ts';
import { leaderIdentity } from '../api/controller-fence.ts';
import { leaderLease } from '../api/controller-rights.ts';
import { resourceTypes } from '../api/kube.ts';
import { CommandError, exitCodes } from '../cli/context.ts';
import { runControlPlane } from '../controllers/control-plane.ts';
import {
  type Clock,
  type CloudApi,
  type Http,
  type KubeApi,
  KubeError,
  type Log,
} from '../ports/index.ts';
import { describeError, LeaderElector, sleepOrAbort } from '../runtime/index.ts';
import { journalTo } from './journal.ts';

const crds = resourceTypes.customresourcedefinitions;
/** Between two starts of the controllers, when the API server went away during the first steps. */
const startAgainMs = durationMs(5_000);

export interface ControllerDeps {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly http: Http;
  /** The machine's own clock, for the lease. */
  readonly clock: Clock;
  /** The API server's time, for all that is written and compared. */
  readonly serverClock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Of the pod, where it is told (`POD_NAME`); else the host's name, which is a pod's own. */
  readonly podName?: string;
}

export interface ControllerSettings {
  readonly queueUrl: string | undefined;
  readonly compat: 'eks' | 'native';
  readonly approveCertificates?: boolean;
  readonly leaderElect: boolean;
}

/** With eks the articles' queries find what this controller does. */
export const userAgentOf = (compat: 'eks' | 'native', version: string): string =>
  compat === 'eks' ? nodeManagerAgent : `drover/${version}`;

/** Not to be predicted from outside, and one stream per purpose. */
const machineRandom = () => {
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

/** Runs the controllers, again and again while only the way to the API server is missing. */
const keepRunning = async (
  deps: ControllerDeps,
  run: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { clock, log, kube } = deps;
  while (!signal.aborted) {
    try {
      // Asked first, so that a server that does not answer is told of at once.
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

/** Until `signal` aborts. Throws CommandError, CrdError or KubeError when it cannot work at all. */
export const runController = async (
  settings: ControllerSettings,
  deps: ControllerDeps,
): Promise<void> => {
  const { kube, cloud, http, clock, serverClock, log, signal } = deps;
  const { queueUrl, compat, approveCertificates = false } = settings;
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
          journal: journalTo(log),
          ...leading,
        },
        inner,
      );
  if (!settings.leaderElect) {
    log.info('starting without leader election', { compat });
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
  await elector.run(
    ({ epoch }, inner) => keepRunning(deps, controlPlane({ isLeader, epoch }), inner),
    signal,
  );
};
