// Helpers for pods' volumes, shared by scheduler, kubelets and controllers. Pure.
import type { PodView } from './types.ts';
import type { VolumeView } from './types-volumes.ts';

const noClaims: readonly string[] = [];

/** Names of the claims that a pod's volumes use. Allocates nothing for a pod without claims. */
export const claimsOf = (pod: PodView): readonly string[] => {
  const { volumes } = pod.spec;
  if (volumes === undefined) return noClaims;
  const names: string[] = [];
  for (const volume of volumes) {
    if (volume.persistentVolumeClaim !== undefined) {
      names.push(volume.persistentVolumeClaim.claimName);
    } else if (volume.ephemeral !== undefined) {
      names.push(`${pod.metadata.name}-${volume.name}`);
    }
  }
  return names.length === 0 ? noClaims : names;
};

/** The node on which a claim's first pod will run: set by the scheduler for the provisioner. */
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';

/** Drivers whose volumes must be attached to a machine before a pod can use them. */
const attachedBy: ReadonlySet<string> = new Set(['ebs.csi.aws.com']);

export const attacherOf = (volume: VolumeView): string | undefined => {
  const driver = volume.spec.csi?.driver;
  return driver !== undefined && attachedBy.has(driver) ? driver : undefined;
};

/**
 * Named as the attach/detach controller does: csi- and 64 hex digits of volume, driver and node.
 */
export const attachmentName = (of: {
  readonly volume: string;
  readonly attacher: string;
  readonly node: string;
}): string => {
  const text = `${of.volume} ${of.attacher} ${of.node}`;
  let digits = '';
  for (let round = 0; round < 8; round++) {
    let hash = (0x811c9dc5 + round * 0x9e3779b1) >>> 0;
    for (let i = 0; i < text.length; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
    }
    digits += hash.toString(16).padStart(8, '0');
  }
  return `csi-${digits}`;
};
