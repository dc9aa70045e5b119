// The fields of nodeadm's NodeConfig (node.eks.aws/v1alpha1) and how two values of each merge.
// Names from awslabs/amazon-eks-ami, nodeadm/internal/api/types.go; the merge rules were measured
// with it.

/**
 * text, bytes, number, truth, list: an empty later value does not override; a list replaces.
 * append: later items follow. keyed: merged by key, whatever the value. document: merged deeply,
 * whatever the value. toml: text that is merged as a document.
 */
export type FieldKind =
  | 'text'
  | 'bytes'
  | 'truth'
  | 'list'
  | 'append'
  | 'keyed-truths'
  | 'keyed-texts'
  | 'document'
  | 'toml';

export interface FieldGroup {
  readonly [name: string]: FieldKind | FieldGroup;
}

export const specFields: FieldGroup = {
  cluster: {
    name: 'text',
    apiServerEndpoint: 'text',
    certificateAuthority: 'bytes',
    cidr: 'text',
    enableOutpost: 'truth',
    id: 'text',
  },
  kubelet: { config: 'document', flags: 'append', maxPodsExpression: 'text' },
  containerd: { config: 'toml', baseRuntimeSpec: 'document' },
  instance: {
    localStorage: { strategy: 'text', mountPath: 'text', disabledMounts: 'list' },
    environment: 'keyed-texts',
    network: { nameservers: 'list', domains: 'list' },
  },
  featureGates: 'keyed-truths',
};

export const nodeFeatureGates: readonly string[] = ['InstanceIdNodeName', 'FastImagePull'];
export const storageStrategies: readonly string[] = ['RAID0', 'RAID10', 'Mount'];
export const disabledMounts: readonly string[] = ['Containerd', 'PodLogs', 'SOCI'];
export const nodeConfigApiVersion = 'node.eks.aws/v1alpha1';
