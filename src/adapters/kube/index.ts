// Public entry of the Kubernetes adapter: find the cluster, talk to it.

export { createKubeClient, type KubeClient } from './client.ts';
export { loadKubeconfig } from './kubeconfig.ts';
