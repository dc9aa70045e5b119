// EKS' access policies that the world supports: each maps to the closest ClusterRole of Kubernetes.
// Includes the policies for users and for Auto Mode's nodes, not those of AWS services.
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
