// The pods and claims of a StatefulSet: names, ordinals, ownership. Pure; upstream:
// pkg/controller/statefulset/stateful_set_utils.go (Kubernetes 1.32).
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import {
  isReady,
  isTerminating,
  type PodTemplate,
  type PodView,
  type StatefulSetView,
} from '../actors/index.ts';
import { podFromTemplate } from './pod-template.ts';

export const statefulRevisionLabel = 'controller-revision-hash';
const podNameLabel = 'statefulset.kubernetes.io/pod-name';
const podIndexLabel = 'apps.kubernetes.io/pod-index';

export const statefulPodName = (set: StatefulSetView, ordinal: number): string =>
  `${set.metadata.name}-${ordinal}`;

/** The number at the end of the pod's name, or -1 when the name is not one of this set's. */
export const ordinalOf = (set: StatefulSetView, pod: PodView): number => {
  const prefix = `${set.metadata.name}-`;
  const { name } = pod.metadata;
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^\d+$/.test(rest) ? Number(rest) : -1;
};

export const startOrdinal = (set: StatefulSetView): number => set.spec.ordinals?.start ?? 0;

/** The desired ordinals, ascending. */
export const wantedOrdinals = (set: StatefulSetView): readonly number[] =>
  Array.from({ length: set.spec.replicas ?? 1 }, (_, i) => startOrdinal(set) + i);

export const partitionOf = (set: StatefulSetView): number =>
  set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;

export const isOrdered = (set: StatefulSetView): boolean =>
  set.spec.podManagementPolicy !== 'Parallel';

export const isOnDelete = (set: StatefulSetView): boolean =>
  set.spec.updateStrategy?.type === 'OnDelete';

export const podRevision = (pod: PodView): string | undefined =>
  pod.metadata.labels?.[statefulRevisionLabel];

export const runsReady = (pod: PodView): boolean => pod.status?.phase === 'Running' && isReady(pod);

export const isHealthy = (pod: PodView): boolean => runsReady(pod) && !isTerminating(pod);

export const claimName = (set: StatefulSetView, template: string, ordinal: number): string =>
  `${template}-${statefulPodName(set, ordinal)}`;

/** The pod of one ordinal at one revision of the template. */
export const statefulPod = (
  set: StatefulSetView,
  ordinal: number,
  version: { readonly template: PodTemplate; readonly revision: string },
): JsonObject => {
  const name = statefulPodName(set, ordinal);
  const claims = set.spec.volumeClaimTemplates ?? [];
  const own = new Set(claims.map((one) => one.metadata.name));
  const volumes = [
    ...claims.map(({ metadata }) => ({
      name: metadata.name,
      persistentVolumeClaim: { claimName: claimName(set, metadata.name, ordinal) },
    })),
    ...(version.template.spec.volumes ?? []).filter((volume) => !own.has(volume.name)),
  ] as unknown as readonly JsonObject[];
  const pod = podFromTemplate(set, version.template, {
    labels: {
      [statefulRevisionLabel]: version.revision,
      [podNameLabel]: name,
      [podIndexLabel]: String(ordinal),
    },
    spec: {
      hostname: name,
      ...defined({ subdomain: set.spec.serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  });
  const { generateName: _generated, ...metadata } = pod.metadata as JsonObject;
  // StatefulSets set full names instead of a generateName prefix.
  return { ...pod, metadata: { ...metadata, name, generateName: `${set.metadata.name}-` } };
};

/** The claims of one ordinal, created before its pod. */
export const statefulClaims = (set: StatefulSetView, ordinal: number): readonly JsonObject[] =>
  (set.spec.volumeClaimTemplates ?? []).map(({ metadata, spec }) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(set, metadata.name, ordinal),
      namespace: set.metadata.namespace ?? '',
      labels: { ...metadata.labels, ...set.spec.selector.matchLabels },
      ...defined({ annotations: metadata.annotations }),
    },
    spec,
  }));
