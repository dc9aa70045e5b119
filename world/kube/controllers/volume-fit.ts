// Which volume fits a claim, and the volume that is created for one. Pure; upstream:
// pkg/controller/volume/persistentvolume (Kubernetes 1.32) and the EBS CSI driver.
import type { JsonObject } from '../../../src/api/json.ts';
import { selectorMatches } from '../../../src/api/selectors.ts';
import {
  amount,
  type ClaimView,
  isTerminating,
  type StorageClassView,
  type VolumeView,
} from '../actors/index.ts';

const ebsDriver = 'ebs.csi.aws.com';
/** An EBS volume exists in one zone. */
export const zoneKey = 'topology.kubernetes.io/zone';

/** The volume is bound to the claim or reserved for it. */
export const isFor = (volume: VolumeView, claim: ClaimView): boolean => {
  const { claimRef } = volume.spec;
  const named =
    claimRef?.name === claim.metadata.name && claimRef.namespace === claim.metadata.namespace;
  return named && (claimRef.uid === undefined || claimRef.uid === claim.metadata.uid);
};

/** An available volume that could satisfy the claim. */
export const fits = (volume: VolumeView, claim: ClaimView): boolean =>
  !isTerminating(volume) &&
  volume.status?.phase === 'Available' &&
  (volume.spec.storageClassName ?? '') === (claim.spec.storageClassName ?? '') &&
  (claim.spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode)) &&
  amount(volume.spec.capacity?.storage) >= amount(claim.spec.resources?.requests?.storage) &&
  (claim.spec.selector === undefined ||
    selectorMatches(claim.spec.selector, volume.metadata.labels));

/** The volume that the EBS driver's provisioner creates. */
export const newVolume = (
  claim: ClaimView,
  facts: {
    readonly name: string;
    readonly handle: string;
    readonly zone: string;
    readonly storageClass: StorageClassView;
  },
): JsonObject => {
  const { name, namespace = '', uid, resourceVersion } = claim.metadata;
  const { storageClass } = facts;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: facts.name,
      annotations: { 'pv.kubernetes.io/provisioned-by': ebsDriver },
      finalizers: ['kubernetes.io/pv-protection'],
    },
    spec: {
      accessModes: claim.spec.accessModes ?? ['ReadWriteOnce'],
      capacity: { storage: claim.spec.resources?.requests?.storage ?? '1Gi' },
      claimRef: {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
        ...{ name, namespace, uid, resourceVersion },
      },
      csi: {
        driver: ebsDriver,
        fsType: storageClass.parameters?.fsType ?? 'ext4',
        volumeHandle: facts.handle,
      },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: zoneKey, operator: 'In', values: [facts.zone] }] },
          ],
        },
      },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: claim.spec.storageClassName ?? '',
      volumeMode: claim.spec.volumeMode ?? 'Filesystem',
    },
  };
};
