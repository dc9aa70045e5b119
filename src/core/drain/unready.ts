// Which of a budget's pods is not Ready and why, from the pod's own status and its newest warning:
// what a budget that allows no eviction waits for. Never looks anything up.

import { parseTime } from '../../api/brand.ts';
import { isReady } from '../../api/conditions.ts';
import { defined } from '../../api/defined.ts';
import type { UnreadyPod, WaitingOn } from '../../api/disruption.ts';
import type { KubeObject, Pod } from '../../api/kube.ts';
import { keyOfObject } from './budgets.ts';
import { isTerminating } from './pods.ts';

interface ContainerStatus {
  readonly ready?: boolean;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
  };
}

type Status = Pod['status'] & {
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
};

/** The parts of an Event that are read. */
export interface PodEvent extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** Whether the budget allows no eviction until some of its unready pods are Ready. */
export const waitsForReady = (waiting: WaitingOn): waiting is Extract<WaitingOn, { kind: 'pdb' }> =>
  waiting.kind === 'pdb' && !waiting.neverAllows && waiting.freedBy === undefined;

/** The pod counts for its budget and is not Ready. */
export const isAwaited = (pod: Pod): boolean =>
  !isTerminating(pod) &&
  !isReady(pod) &&
  pod.status.phase !== 'Succeeded' &&
  pod.status.phase !== 'Failed';

const conditionOf = ({ status }: Pod, wanted: string) =>
  status.conditions?.find(({ type }) => type === wanted);

const sinceOf = (pod: Pod): string =>
  conditionOf(pod, 'Ready')?.lastTransitionTime ?? pod.metadata.creationTimestamp;

/** The kubelet reports these reasons while it starts a pod, whatever fails. */
const saysNothing = new Set(['ContainerCreating', 'PodInitializing']);

type Why = Pick<UnreadyPod, 'reason' | 'message'>;

const waitingWhy = (pod: Pod): Why | undefined => {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status as Status;
  const waiting = [...initContainerStatuses, ...containerStatuses].flatMap(
    ({ state }) => state?.waiting ?? [],
  );
  const told = waiting.find(({ reason = '' }) => reason !== '' && !saysNothing.has(reason));
  const { reason = '', message = '' } = told ?? {};
  return told === undefined ? undefined : { reason, message };
};

const scheduledWhy = (pod: Pod): Why | undefined => {
  const { status, reason = 'Unschedulable', message = '' } = conditionOf(pod, 'PodScheduled') ?? {};
  return status === 'False' ? { reason, message } : undefined;
};

const timeOf = ({ lastTimestamp, eventTime, metadata }: PodEvent): number =>
  parseTime(lastTimestamp ?? eventTime ?? metadata.creationTimestamp) ?? 0;

const eventWhy = (events: readonly PodEvent[]): Why | undefined => {
  const [newest] = events
    .filter(({ type, reason = '' }) => type === 'Warning' && reason !== '')
    .toSorted((a, b) => timeOf(b) - timeOf(a));
  // The event recorder's own prefix before the message.
  const message = (newest?.message ?? '').replace(/^\(combined from similar events\): /, '');
  return newest && { reason: newest.reason ?? '', message };
};

const readyWhy = (pod: Pod): Why => {
  const { reason = 'NotReady', message = '' } = conditionOf(pod, 'Ready') ?? {};
  const { containerStatuses = [] } = pod.status as Status;
  const word = containerStatuses.flatMap(({ state }) => state?.waiting?.reason ?? [])[0];
  return { reason: word ?? reason, message };
};

const headLength = 100;
const tailLength = 140;

/** In a kubelet's message the cause is at the end, in a scheduler's message at the start. */
const shortened = (message: string): string =>
  message.length <= headLength + tailLength
    ? message
    : `${message.slice(0, headLength)}…${message.slice(-tailLength)}`;

interface UnreadyFacts {
  readonly pod: Pod;
  readonly events: readonly PodEvent[];
  /** The subnet of the node's instance. */
  readonly subnet: string | undefined;
  readonly others: number;
}

export const unreadyOf = ({ pod, events, subnet, others }: UnreadyFacts): UnreadyPod => {
  const { nodeName } = pod.spec;
  const why = waitingWhy(pod) ?? scheduledWhy(pod) ?? eventWhy(events) ?? readyWhy(pod);
  return {
    pod: keyOfObject(pod),
    ...defined({ node: nodeName, subnet }),
    reason: why.reason,
    message: shortened(why.message),
    since: sinceOf(pod),
    ...(others === 0 ? {} : { others }),
  };
};

/** `web/b, not Ready since T on node n (subnet-1): FailedCreatePodSandBox: ...`, no full stop. */
export const unreadyPodText = (unready: UnreadyPod): string => {
  const { pod, node, subnet, reason, message, since, others = 0 } = unready;
  const place = subnet === undefined ? node : `${node} (${subnet})`;
  const where = node === undefined ? '' : ` on node ${place}`;
  const more = others === 0 ? '' : `, as ${others} more ${others === 1 ? 'is' : 'are'}`;
  const said = message === '' ? reason : `${reason}: ${message}`;
  return `${pod}, not Ready since ${since}${where}${more}: ${said.replace(/\.$/, '')}`;
};
