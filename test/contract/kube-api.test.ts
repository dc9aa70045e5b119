// The embedded world, served over HTTPS by `drover up`, meets the contract of a Kubernetes API.
// test/e2e/real-api.e2e.ts runs the same cases against a real API server.
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createKubeClient, loadKubeconfig } from '../../src/adapters/kube/index.ts';
import { ServedWorld } from '../support/demo-world.ts';
import { rawKube } from '../support/kube-raw.ts';
import { type ContractTarget, kubeApiContract } from './kube-api.ts';

const servedWorld = async (): Promise<ContractTarget> => {
  const world = await ServedWorld.start({ args: ['--no-controller', '--port', '0'] });
  const access = await loadKubeconfig({ env: world.env });
  const api = createKubeClient({ ...access, userAgent: 'drover/contract' });
  const smallPages = createKubeClient({ ...access, userAgent: 'drover/contract', pageSize: 3 });
  return {
    available: true,
    api,
    raw: rawKube(String(world.env.KUBECONFIG)),
    smallPages,
    stop: async () => {
      await api.close();
      await smallPages.close();
      await world.stop();
    },
  };
};

kubeApiContract(
  {
    describe: (name, body) => void describe.concurrent(name, body),
    it: (name, body) => void it(name, (test) => body({ skip: (note) => test.skip(note) })),
    before: (body) => void beforeAll(body),
    after: (body) => void afterAll(body),
  },
  'The embedded world',
  servedWorld,
);
