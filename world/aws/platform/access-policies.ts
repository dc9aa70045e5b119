// EKS' access policies, as far as the world acts on them: each is the ClusterRole of Kubernetes
// that comes closest. Of EKS' list those for people and for Auto Mode's nodes; its services' own
// are left out.
export const policyPrefix = 'arn:aws:eks::aws:cluster-access-policy/';

const roles: Readonly<Record<string, string>> = {
  AmazonEKSClusterAdminPolicy: 'cluster-admin',
  AmazonEKSAdminPolicy: 'admin',
  AmazonEKSAdminViewPolicy: 'view',
  AmazonEKSAutoNodePolicy: 'system:node-proxier',
  AmazonEKSEditPolicy: 'edit',
  AmazonEKSViewPolicy: 'view',
};

export const accessPolicies = Object.entries(roles).map(([name, clusterRole]) => ({
  name,
  arn: `${policyPrefix}${name}`,
  clusterRole,
}));
