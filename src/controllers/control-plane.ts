// The control plane of one process: every controller in its start order, each with its purpose.
// `drover up`, `drover controller` and the simulation share it.
import { defined } from '../api/defined.ts';
import {
  type Clock,
  type CloudApi,
  type Http,
  type Journal,
  type KubeApi,
  type Log,
  leaderGauges,
  type Metrics,
  type Random,
} from '../ports/index.ts';
import {
  describeError,
  fencedCloud,
  fencedHttp,
  fencedKube,
  measuredCloud,
  measuredKube,
  TaskRegistry,
} from '../runtime/index.ts';
import { createCertificateController } from './certificates/index.ts';
import { createConfirmationController } from './confirmation/index.ts';
import { ensureCrds } from './crds.ts';
import {
  createDisruptionController,
  disruptionCounters,
  sampleDrains,
} from './disruption/index.ts';
import {
  createDisruptionInformer,
  createNodeGroupInformer,
  createNodeGroupUpdateInformer,
  createNodeInformer,
  createRepairInformer,
  createUpdateSequenceInformer,
} from './informers.ts';
import { createIntakeController, noticeCounters } from './intake/index.ts';
import { countedJournal } from './journal-metrics.ts';
import { createLifecycleController } from './lifecycle/index.ts';
import { createNodeGroupController, updateCounters } from './nodegroup/index.ts';
import { createNotifyController, type NotifySettings, notifyCounters } from './notify/index.ts';
import { createRepairController, repairCounters } from './repair/index.ts';
import { createSequenceController } from './sequence/index.ts';
import { createZoneShiftController } from './zone-shift/index.ts';

export interface ControlPlaneDeps {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly clock: Clock;
  /** One random stream per purpose. */
  readonly random: (purpose: string) => Random;
  readonly log: Log;
  readonly journal: Journal;
  /** Absent = nothing is counted. */
  readonly metrics?: Metrics;
  /** For health probes of updates; absent = HTTP probes fail. */
  readonly http?: Http;
  /** Queue with lifecycle messages; absent = only the backstop finds terminations. */
  readonly queueUrl: string | undefined;
  readonly compat: 'eks' | 'native';
  /** Approve kubelets' certificate signing requests; on EKS the platform does. Default false. */
  readonly approveCertificates?: boolean;
  /** Scale up Deployments that ask for it before their pods go. Default false. */
  readonly surge?: boolean;
  /** Sends notifications; absent = none are sent. Needs `http`. */
  readonly notifications?: NotifySettings;
  /** The term of this leader; absent: no leader election. */
  readonly epoch?: number;
  /** The fence calls it right before each write. Absent if no other process exists. */
  readonly isLeader?: () => boolean;
}

/** Ports that refuse the calls of a former leader. */
const fencedPorts = ({
  kube,
  cloud,
  http,
  isLeader,
}: ControlPlaneDeps): Pick<ControlPlaneDeps, 'kube' | 'cloud' | 'http'> => {
  if (isLeader === undefined) return { kube, cloud, ...defined({ http }) };
  return {
    kube: fencedKube(kube, isLeader),
    cloud: fencedCloud(cloud, isLeader),
    ...defined({ http: http && fencedHttp(http, isLeader) }),
  };
};

/**
 * The same dependencies with counted calls. The fence is outside of this, so a refused call is not
 * counted as a request.
 */
const measured = (deps: ControlPlaneDeps): ControlPlaneDeps => {
  const { kube, cloud, clock, journal, metrics } = deps;
  if (metrics === undefined) return deps;
  return {
    ...deps,
    kube: measuredKube(kube, clock, metrics),
    cloud: measuredCloud(cloud, clock, metrics),
    journal: countedJournal(journal, metrics, [
      disruptionCounters,
      noticeCounters,
      updateCounters,
      repairCounters,
      notifyCounters,
    ]),
  };
};

type Shared = Pick<ControlPlaneDeps, 'kube' | 'clock' | 'log' | 'metrics'> & {
  readonly random: Random;
};

/** One watch per kind. */
const createInformers = (shared: (purpose: string) => Shared) => ({
  nodes: createNodeInformer(shared('nodes')),
  nodeGroups: createNodeGroupInformer(shared('nodegroups')),
  updates: createNodeGroupUpdateInformer(shared('updates')),
  sequences: createUpdateSequenceInformer(shared('sequences')),
  disruptions: createDisruptionInformer(shared('disruptions')),
  repairs: createRepairInformer(shared('repairs')),
});

interface Parts {
  readonly deps: ControlPlaneDeps;
  readonly informers: ReturnType<typeof createInformers>;
  readonly ports: ReturnType<typeof fencedPorts>;
  readonly shared: (purpose: string) => Shared;
}

interface Controller {
  run(signal: AbortSignal): Promise<void>;
}

/** Every controller by its name, in their start order. */
const createControllers = ({
  deps,
  informers,
  ports,
  shared,
}: Parts): Readonly<Record<string, Controller>> => {
  const { journal, queueUrl, compat, notifications } = deps;
  const { cloud, http } = ports;
  const { updates, sequences, repairs, ...basic } = informers;
  const base = (purpose: string) => ({ ...shared(purpose), cloud, journal, ...basic });
  const epoch = defined({ epoch: deps.epoch });
  return {
    // Messages report a termination within a second.
    ...(queueUrl !== undefined && {
      intake: createIntakeController({ ...base('intake'), queueUrl }),
    }),
    // Takes nodes out of service, for every kind of cause.
    disruption: createDisruptionController({
      ...base('disruption'),
      compat,
      ...epoch,
      ...defined({ surge: deps.surge }),
    }),
    // A message takes effect only while the cloud confirms it.
    confirmation: createConfirmationController(base('confirmation')),
    // Polling finds what no message reported, and completes launch hooks.
    lifecycle: createLifecycleController(base('lifecycle')),
    // Marks the nodes of zones that a drain policy shifts, without evicting pods.
    'zone-shift': createZoneShiftController(base('zone-shift')),
    // Node groups: creates, scales, labels and deletes them; reports their health.
    nodegroup: createNodeGroupController({
      ...base('nodegroup'),
      updates,
      repairs,
      compat,
      ...epoch,
      ...defined({ http }),
    }),
    // Unhealthy nodes: decides when each is repaired, and reports what delays it.
    repair: createRepairController({ ...base('repair'), repairs }),
    // Updates several groups one after another, so that pods do not move to nodes that are drained
    // next.
    sequence: createSequenceController({ ...base('sequence'), updates, sequences }),
    // Outside EKS nothing else approves kubelets' serving certificates.
    ...(deps.approveCertificates === true && {
      certificates: createCertificateController(base('certificates')),
    }),
    // Sends notifications; starts last, so that it delays no other controller.
    ...(notifications !== undefined &&
      http !== undefined && {
        notify: createNotifyController({
          ...base('notify'),
          ...notifications,
          http,
          updates,
          repairs,
        }),
      }),
  };
};

/** How long running passes may take to end once `signal` has aborted. */
const shutdownWithinMs = 5_000;

/** Runs until `signal` aborts. Rejects when the definitions cannot be installed. */
export const runControlPlane = async (
  given: ControlPlaneDeps,
  signal: AbortSignal,
): Promise<void> => {
  const deps = measured(given);
  const { clock, log, metrics } = deps;
  const tasks = new TaskRegistry({
    clock,
    report: ({ task, error }) =>
      log.error('a task ended with an error', { task, error: describeError(error) }),
  });
  // Our kinds must be served before anything is read or written.
  await ensureCrds({ kube: deps.kube, clock, random: deps.random('crds'), log }, signal);
  const ports = fencedPorts(deps);
  const { kube } = ports;
  const shared = (purpose: string): Shared => {
    return { kube, clock, log, random: deps.random(purpose), ...defined({ metrics }) };
  };
  const informers = createInformers(shared);
  for (const [name, informer] of Object.entries(informers)) {
    tasks.start(`informer ${name}`, (stop) => informer.run(stop));
  }
  const controllers = createControllers({ deps, informers, ports, shared });
  for (const [name, controller] of Object.entries(controllers)) {
    tasks.start(name, (stop) => controller.run(stop));
  }
  const stopSampling = metrics?.onRead(() =>
    sampleDrains(metrics, informers.disruptions.list(), clock.now()),
  );
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  stopSampling?.();
  const late = await tasks.shutdown({ withinMs: shutdownWithinMs });
  if (late.length > 0) log.warn('some tasks did not end in time', { tasks: late });
  for (const name of leaderGauges) metrics?.reset(name);
};
