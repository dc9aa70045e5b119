// The statuses that a kubelet writes for a pod: creating, running, ready, finished. Pure. Keeps
// only the conditions of other writers (DisruptionTarget).
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type Cond,
  type ContainerView,
  conditionOf,
  type PodView,
  withCondition,
} from '../actors/index.ts';
import { type DebugContainer, debugStatuses } from './debug-containers.ts';
import { fullImageName, imageId } from './pod-images.ts';

export interface PodFacts {
  readonly now: string;
  readonly hostIp: string;
  readonly podIp: string | undefined;
  readonly restarts: number;
  readonly startedAt?: string | undefined;
  readonly ready: boolean;
  /** Exit code of the containers, once they have ended. */
  readonly exitCode?: number | undefined;
  readonly failure?: { readonly reason: string; readonly message: string } | undefined;
  /** Container ids in order, once the containers have started. */
  readonly containerIds: readonly string[];
  readonly debug?: readonly DebugContainer[] | undefined;
}

const baseStatus = (container: ContainerView, facts: PodFacts): JsonObject => ({
  name: container.name,
  image: container.image,
  imageID: '',
  lastState: {},
  ready: false,
  restartCount: facts.restarts,
  started: false,
});

const creating = (container: ContainerView, facts: PodFacts): JsonObject => ({
  ...baseStatus(container, facts),
  state: { waiting: { reason: 'ContainerCreating' } },
});

const running = (container: ContainerView, facts: PodFacts, index: number): JsonObject => ({
  ...baseStatus(container, facts),
  image: fullImageName(container.image),
  imageID: imageId(container.image),
  containerID: `containerd://${facts.containerIds[index] ?? ''}`,
  ready: facts.ready,
  started: true,
  state: { running: { startedAt: facts.startedAt ?? facts.now } },
});

const terminated = (facts: PodFacts, index: number): JsonObject => ({
  terminated: {
    exitCode: facts.exitCode ?? 0,
    reason: (facts.exitCode ?? 0) === 0 ? 'Completed' : 'Error',
    startedAt: facts.startedAt ?? facts.now,
    finishedAt: facts.now,
    containerID: `containerd://${facts.containerIds[index] ?? ''}`,
  },
});

const finished = (container: ContainerView, facts: PodFacts, index: number): JsonObject => ({
  ...running(container, { ...facts, ready: false }, index),
  started: false,
  state: terminated(facts, index),
});

/** Ended, and due to restart after the back-off. */
const waiting = (container: ContainerView, facts: PodFacts, index: number): JsonObject => ({
  ...finished(container, facts, index),
  lastState: terminated(facts, index),
  state: { waiting: { reason: 'CrashLoopBackOff' } },
});

/** Stages between creation and deletion, as the API shows them. */
export type PodStage = 'creating' | 'running' | 'waiting' | 'finished';

const order = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
];

const conditionsOf = (pod: PodView, facts: PodFacts, stage: PodStage): readonly Cond[] => {
  const names = pod.spec.containers.map((container) => container.name).join(' ');
  const unready =
    stage === 'finished'
      ? { reason: (facts.exitCode ?? 0) === 0 ? 'PodCompleted' : 'PodFailed' }
      : { reason: 'ContainersNotReady', message: `containers with unready status: [${names}]` };
  const readiness = facts.ready ? {} : unready;
  const status = (yes: boolean): string => (yes ? 'True' : 'False');
  const own: Omit<Cond, 'lastTransitionTime'>[] = [
    {
      type: 'PodReadyToStartContainers',
      status: status(stage === 'running' || stage === 'waiting'),
    },
    { type: 'Initialized', status: 'True' },
    { type: 'Ready', status: status(facts.ready), ...readiness },
    { type: 'ContainersReady', status: status(facts.ready), ...readiness },
    { type: 'PodScheduled', status: 'True' },
  ];
  let conditions = pod.status?.conditions ?? [];
  for (const one of own) {
    conditions = withCondition(conditions, { ...one, lastProbeTime: null }, facts.now);
  }
  const mine = order.flatMap((type) => conditionOf(conditions, type) ?? []);
  return [...conditions.filter((one) => !order.includes(one.type)), ...mine];
};

/** The body of a merge patch of the pod's status. */
export const podStatus = (
  pod: PodView,
  row: Omit<PodFacts, 'now' | 'hostIp' | 'podIp'> & {
    readonly stage: PodStage | 'stopped';
    readonly address?: string;
  },
  { now, hostIp }: Pick<PodFacts, 'now' | 'hostIp'>,
): JsonObject => {
  const stage = row.stage === 'stopped' ? 'finished' : row.stage;
  const podIp = pod.spec.hostNetwork === true ? hostIp : row.address;
  const facts: PodFacts = { ...row, now, hostIp, podIp };
  const make = { creating, running, waiting, finished }[stage];
  const ended = (facts.exitCode ?? 0) === 0 ? 'Succeeded' : 'Failed';
  const phases = { creating: 'Pending', running: 'Running', waiting: 'Running', finished: ended };
  const phase = phases[stage];
  return {
    status: {
      phase,
      ...facts.failure,
      conditions: conditionsOf(pod, facts, stage),
      hostIP: facts.hostIp,
      hostIPs: [{ ip: facts.hostIp }],
      ...(facts.podIp === undefined ? {} : { podIP: facts.podIp, podIPs: [{ ip: facts.podIp }] }),
      startTime: pod.status?.startTime ?? facts.now,
      containerStatuses: pod.spec.containers.map((one, index) => make(one, facts, index)),
      ...debugStatuses(pod, facts.debug),
    },
  };
};

export const isReadyNow = (pod: PodView): boolean =>
  conditionOf(pod.status?.conditions, 'Ready')?.status === 'True';
