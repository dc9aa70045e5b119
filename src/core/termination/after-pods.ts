// What a drain waits for between the end of the last pod and the completion of its hook, or the
// termination of its instance: volumes that are attached still, and load balancers. Each wait is
// bounded, and none outlasts the drain's deadline or a hook. Its start is recorded, so a restart
// does not extend it.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { NodeDisruptionStatus, WaitingOn } from '../../api/disruption.ts';
import { defaultVolumeWaitSeconds } from '../../api/drain-policy.ts';
import type { Pod } from '../../api/kube.ts';
import { classifyPods } from '../drain/index.ts';
import { type Demand, isDue } from './causes.ts';
import { type Decision, decision } from './decision.ts';
import { beforeTheEnd, deregistrationWaits } from './deregistration.ts';
import type { Observation } from './observation.ts';
import { classifyOptions, leavesPods, takesInstance } from './pods-left.ts';
import { waitingFields, writeStatus } from './status.ts';

const maxVolumes = 20;

/**
 * Claims of pods that stay, such as a DaemonSet's: as many attachments stay too. An upper bound,
 * since not every claim needs an attachment.
 */
const claimsThatStay = (pods: readonly Pod[]): number => {
  const claims = pods.flatMap(({ metadata, spec: { volumes = [] } }) =>
    volumes.flatMap(({ name, ephemeral, persistentVolumeClaim }) => {
      const claim = persistentVolumeClaim?.claimName;
      if (claim !== undefined) return `${metadata.namespace}/${claim}`;
      return ephemeral === undefined ? [] : `${metadata.namespace}/${metadata.name}-${name}`;
    }),
  );
  return new Set(claims).size;
};

interface Emptied {
  readonly status: NodeDisruptionStatus;
  /** All pods of the node, from a quorum list. */
  readonly pods: readonly Pod[];
}

const volumesLeft = (
  observation: Observation,
  { status, pods }: Emptied,
  until: EpochMs,
): readonly WaitingOn[] => {
  const { attached, now } = observation;
  const node = status.node?.name ?? '';
  if (attached === undefined || now >= until) return [];
  if (attached === 'unknown') {
    const message = 'not listed yet';
    return [{ kind: 'api', what: `volume attachments of ${node}`, message }];
  }
  const { skip } = classifyPods(pods, classifyOptions(observation, status));
  const stay = skip.filter(({ reason }) => reason !== 'finished').map(({ pod }) => pod);
  if (attached.length <= claimsThatStay(stay)) return [];
  const volumes = attached.toSorted().slice(0, maxVolumes);
  return [{ kind: 'volumes', node, volumes, until: formatTime(until) }];
};

const kindsOf = (waitingOn: readonly WaitingOn[] = []): string =>
  waitingOn.map(({ kind }) => kind).join();

/** Undefined: nothing to wait for. */
export const afterPods = (
  observation: Observation,
  demand: Demand,
  emptied: Emptied,
): Decision | undefined => {
  const { disruption, group, now } = observation;
  // A silent kubelet detaches nothing, and an instance that is not terminated needs no wait.
  if (isDue(demand, now) || !takesInstance(disruption) || leavesPods(observation)) return undefined;
  const { status } = emptied;
  const emptyAt = parseTime(status.emptyAt) ?? now;
  const { volumes } = group?.spec.drain ?? {};
  const seconds = volumes?.waitSeconds ?? defaultVolumeWaitSeconds;
  const volumesUntil = epochMs(emptyAt + seconds * 1000);
  const { afterSeconds } = deregistrationWaits(group, observation.options.compat);
  const until = epochMs(emptyAt + afterSeconds * 1000);
  const node = status.node?.name ?? '';
  const balancers = beforeTheEnd(node, observation.targets, { from: emptyAt, until, now });
  const waitingOn = [
    ...volumesLeft(observation, emptied, volumesUntil),
    ...(balancers === undefined ? [] : [balancers.waiting]),
  ];
  if (waitingOn.length === 0) return undefined;
  const wakeAt = [volumesUntil, balancers?.until];
  const isRecorded =
    status.emptyAt !== undefined && kindsOf(status.waitingOn) === kindsOf(waitingOn);
  if (isRecorded) return decision({ waitingOn, wakeAt });
  const change = {
    emptyAt: formatTime(emptyAt),
    podsRemaining: 0,
    ...waitingFields(waitingOn),
  };
  const steps = [writeStatus({ disruption, demand, change, now })];
  return decision({ steps, waitingOn, wakeAt });
};
