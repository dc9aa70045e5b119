// Identities of the world's own clients: user names, groups and user agents in the form of real
// components, so that audit logs read as on a real cluster. Never authorizes anything.
import type { UserInfo, WorldClient, WorldKube } from '../../contracts.ts';

export interface Identity {
  readonly user: UserInfo;
  readonly userAgent: string;
}

/** `v1.32.9` of `v1.32.9-eks-113cf36`: the version that control-plane binaries report. */
const plainVersion = (version: string): string => version.split('-')[0] ?? version;

const commit = (version: string): string => version.split('-eks-')[1] ?? '0000000';

const agent = (binary: string, version: string, part: string): string =>
  `${binary}/${plainVersion(version)} (linux/amd64) kubernetes/${commit(version)}${part}`;

/** One of kube-controller-manager's controllers, which run as service accounts in kube-system. */
export const controllerIdentity = (account: string, version: string): Identity => ({
  user: {
    username: `system:serviceaccount:kube-system:${account}`,
    groups: [
      'system:serviceaccounts',
      'system:serviceaccounts:kube-system',
      'system:authenticated',
    ],
  },
  userAgent: agent(
    'kube-controller-manager',
    version,
    `/system:serviceaccount:kube-system:${account}`,
  ),
});

export const schedulerIdentity = (version: string): Identity => ({
  user: { username: 'system:kube-scheduler', groups: ['system:authenticated'] },
  userAgent: agent('kube-scheduler', version, '/scheduler'),
});

export const cloudControllerIdentity = (version: string): Identity => ({
  user: { username: 'eks:cloud-controller-manager', groups: ['system:authenticated'] },
  userAgent: agent('aws-cloud-controller-manager', version, '/cloud-node-lifecycle-controller'),
});

export const kubeletIdentity = (nodeName: string, version: string): Identity => ({
  user: {
    username: `system:node:${nodeName}`,
    groups: ['system:bootstrappers', 'system:nodes', 'system:authenticated'],
  },
  userAgent: `kubelet/${version} (linux/amd64) kubernetes/${commit(version)}`,
});

/** The identity that sets up a new cluster, as EKS does itself. */
export const clusterIdentity: Identity = {
  user: { username: 'eks:addon-manager', groups: ['system:masters', 'system:authenticated'] },
  userAgent: 'Go-http-client/2.0',
};

export const clientFor = (kube: WorldKube, identity: Identity): WorldClient => kube.as(identity);
