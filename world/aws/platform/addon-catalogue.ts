// The EKS add-ons of the world, with versions in EKS' form. A small set for listing and for create
// addon; only eks-node-monitoring-agent changes the cluster.

export interface AddonKind {
  readonly name: string;
  readonly type: string;
  /** Newest first. `%` stands for the cluster's minor version. */
  readonly versions: readonly string[];
  /**
   * The service account whose role needs these AWS policies; absent: the add-on calls no AWS API.
   */
  readonly identity?: { readonly serviceAccount: string; readonly policies: readonly string[] };
}

export const addonCatalogue: readonly AddonKind[] = [
  {
    name: 'vpc-cni',
    type: 'networking',
    versions: ['v1.20.4-eksbuild.2', 'v1.19.6-eksbuild.7'],
    identity: { serviceAccount: 'aws-node', policies: ['AmazonEKS_CNI_Policy'] },
  },
  {
    name: 'kube-proxy',
    type: 'networking',
    versions: ['v%.9-eksbuild.2', 'v%.6-eksbuild.12', 'v%.0-eksbuild.2'],
  },
  { name: 'coredns', type: 'networking', versions: ['v1.11.4-eksbuild.28', 'v1.11.4-eksbuild.2'] },
  {
    name: 'eks-node-monitoring-agent',
    type: 'observability',
    versions: ['v1.4.1-eksbuild.1', 'v1.3.0-eksbuild.2', 'v1.0.0-eksbuild.1'],
  },
  { name: 'eks-pod-identity-agent', type: 'security', versions: ['v1.3.9-eksbuild.3'] },
  { name: 'metrics-server', type: 'observability', versions: ['v0.8.0-eksbuild.2'] },
  {
    name: 'aws-ebs-csi-driver',
    type: 'storage',
    versions: ['v1.50.1-eksbuild.1'],
    identity: {
      serviceAccount: 'ebs-csi-controller-sa',
      policies: ['service-role/AmazonEBSCSIDriverPolicy'],
    },
  },
];

export const addonVersionsOf = (addon: AddonKind, clusterVersion: string): readonly string[] =>
  addon.versions.map((version) => version.replace('%', clusterVersion));
