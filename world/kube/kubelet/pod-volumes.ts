// Whether a pod's volumes can be mounted on its node. Reads only; upstream: the kubelet's volume
// manager (Kubernetes 1.32).
import type { WorldKube } from '../../contracts.ts';
import {
  asAttachment,
  asClaim,
  asVolume,
  attacherOf,
  attachmentName,
  claimsOf,
  type PodView,
  resources,
} from '../actors/index.ts';

/** Names of claims that do not exist, are not bound or are not attached to the pod's node. */
export const missingVolumes = (kube: WorldKube, pod: PodView): readonly string[] =>
  claimsOf(pod).filter((claim) => !isMountable(kube, pod, claim));

const isMountable = (kube: WorldKube, pod: PodView, name: string): boolean => {
  const namespace = pod.metadata.namespace ?? '';
  const claim = kube.read(resources.persistentvolumeclaims, { namespace, name });
  const volumeName = claim && asClaim(claim).spec.volumeName;
  const bound = claim !== undefined && asClaim(claim).status?.phase === 'Bound';
  if (!volumeName || !bound) return false;
  const volume = kube.read(resources.persistentvolumes, { name: volumeName });
  if (volume === undefined) return false;
  const attacher = attacherOf(asVolume(volume));
  if (attacher === undefined) return true;
  const node = pod.spec.nodeName ?? '';
  const attachment = kube.read(resources.volumeattachments, {
    name: attachmentName({ volume: volumeName, attacher, node }),
  });
  return (
    attachment !== undefined &&
    attachment.metadata.deletionTimestamp === undefined &&
    asAttachment(attachment).status?.attached === true
  );
};
