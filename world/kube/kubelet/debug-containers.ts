// Ephemeral containers as a kubelet runs them: started in a running pod, never restarted. Pure:
// which ones to start, and their statuses in the pod's status.
import type { JsonObject } from '../../../src/api/json.ts';
import type { ContainerView, PodView } from '../actors/index.ts';
import { fullImageName, imageId } from './pod-images.ts';

export interface DebugContainer extends JsonObject {
  readonly name: string;
  readonly id: string;
  readonly startedAt: string;
  /** When its sandbox ended. */
  readonly endedAt?: string;
}

export const unstarted = (
  pod: PodView,
  started: readonly DebugContainer[] = [],
): readonly ContainerView[] =>
  (pod.spec.ephemeralContainers ?? []).filter(({ name }) =>
    started.every((one) => one.name !== name),
  );

/** All containers of the sandbox end with it. */
export const ended = (started: readonly DebugContainer[], now: string): readonly DebugContainer[] =>
  started.map((one) => (one.endedAt === undefined ? { ...one, endedAt: now } : one));

const stateOf = (one: DebugContainer | undefined): JsonObject => {
  if (one === undefined) return { waiting: { reason: 'ContainerCreating' } };
  const { startedAt, endedAt: finishedAt, id } = one;
  if (finishedAt === undefined) return { running: { startedAt } };
  const containerID = `containerd://${id}`;
  return { terminated: { exitCode: 137, reason: 'Error', startedAt, finishedAt, containerID } };
};

/** Empty for a pod that never had an ephemeral container. */
export const debugStatuses = (
  pod: PodView,
  started: readonly DebugContainer[] = [],
): JsonObject => {
  const containers = pod.spec.ephemeralContainers ?? [];
  if (containers.length === 0) return {};
  return {
    ephemeralContainerStatuses: containers.map(({ name, image }) => {
      const one = started.find((each) => each.name === name);
      const runs = { containerID: `containerd://${one?.id ?? ''}`, imageID: imageId(image) };
      return {
        name,
        image: one === undefined ? image : fullImageName(image),
        imageID: '',
        lastState: {},
        ready: false,
        restartCount: 0,
        ...(one === undefined ? {} : runs),
        state: stateOf(one),
      };
    }),
  };
};
