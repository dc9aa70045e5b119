// The persistent volumes of a pod, by its claims. Pure.
import type { PersistentVolume } from '../../../../api/workloads.ts';
import type { MovedPod, View } from '../view.ts';

export const volumesOf = (
  { snapshot }: View,
  { pod }: MovedPod,
): readonly { readonly claim: string; readonly volume: PersistentVolume }[] =>
  (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
    if (persistentVolumeClaim === undefined) return [];
    const { claimName } = persistentVolumeClaim;
    const { namespace } = pod.metadata;
    const claim = snapshot.claims.find(
      ({ metadata }) => metadata.name === claimName && metadata.namespace === namespace,
    );
    const volume = snapshot.volumes.find(
      ({ metadata }) => metadata.name === claim?.spec.volumeName,
    );
    return volume === undefined ? [] : [{ claim: claimName, volume }];
  });
