// Types of volumes, claims, classes and attachments as the world's actors read them; see types.ts.
import type { KubeObject } from '../../../src/api/kube.ts';
import type { Labels, Meta, NodeTerm, Selector } from './types.ts';

export type ClaimView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: Labels };
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly volumeMode?: string;
    readonly selector?: Selector;
  };
  readonly status?: {
    readonly phase?: string;
    readonly capacity?: Labels;
    readonly accessModes?: readonly string[];
  };
};

export type VolumeView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly capacity?: Labels;
    readonly storageClassName?: string;
    readonly persistentVolumeReclaimPolicy?: string;
    readonly volumeMode?: string;
    readonly csi?: { readonly driver: string; readonly volumeHandle: string };
    readonly claimRef?: {
      readonly name: string;
      readonly namespace: string;
      readonly uid?: string;
    };
    readonly nodeAffinity?: {
      readonly required?: { readonly nodeSelectorTerms: readonly NodeTerm[] };
    };
  };
  readonly status?: { readonly phase?: string };
};

export type StorageClassView = KubeObject & {
  readonly provisioner: string;
  readonly reclaimPolicy?: string;
  readonly volumeBindingMode?: string;
  readonly parameters?: Labels;
};

export type AttachmentView = KubeObject & {
  readonly spec: {
    readonly attacher: string;
    readonly nodeName: string;
    readonly source: { readonly persistentVolumeName?: string };
  };
  readonly status?: { readonly attached?: boolean };
};

export const asClaim = (object: KubeObject): ClaimView => object as ClaimView;
export const asVolume = (object: KubeObject): VolumeView => object as VolumeView;
export const asStorageClass = (object: KubeObject): StorageClassView => object as StorageClassView;
export const asAttachment = (object: KubeObject): AttachmentView => object as AttachmentView;
