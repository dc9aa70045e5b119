// The Kubernetes contract against a real control plane (etcd, kube-apiserver, controller manager,
// scheduler). It tests Drover's client and verifies the expectations for the embedded world.
import { after, before, describe, it } from 'node:test';
import { createKubeClient, loadKubeconfig } from '../../src/adapters/kube/index.ts';
import { type ContractTarget, kubeApiCases, kubeApiContract } from '../contract/kube-api.ts';
import { rawKube } from '../support/kube-raw.ts';
import { anyCluster } from '../support/real-cluster.ts';
import { skipWhen } from '../support/stories.ts';

const realApi = async (): Promise<ContractTarget> => {
  const cluster = await anyCluster({ controllerQps: 200, scheduler: true });
  if (!cluster.available) {
    skipWhen(`${kubeApiCases.length} cases of the contract on a real API server`, cluster.reason);
    return cluster;
  }
  const access = await loadKubeconfig({ path: cluster.kubeconfigPath, env: {} });
  const api = createKubeClient({ ...access, userAgent: 'drover/contract' });
  const smallPages = createKubeClient({ ...access, userAgent: 'drover/contract', pageSize: 3 });
  return {
    available: true,
    api,
    raw: rawKube(cluster.kubeconfigPath),
    smallPages,
    slow: true,
    stop: async () => {
      await api.close();
      await smallPages.close();
      await cluster.stop();
    },
  };
};

kubeApiContract(
  {
    describe: (name, body) => void describe(name, { concurrency: 4, timeout: 300_000 }, body),
    it: (name, body) => void it(name, (test) => body(test)),
    before,
    after,
  },
  'A real API server',
  realApi,
);
