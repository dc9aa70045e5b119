// Public entry of the Kubernetes adapter: finds the cluster and connects to it.

export { fixedAuthenticator } from './auth.ts';
export { createKubeClient, type KubeClient } from './client.ts';
export { loadKubeconfig } from './kubeconfig.ts';
