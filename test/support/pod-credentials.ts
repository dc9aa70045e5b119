// Credentials of a pod of the controller: a token of its account that is bound to the pod, in a
// kubeconfig beside the world's state. The API server then knows which pod writes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServedWorld } from './demo-world.ts';
import type { Steps } from './steps.ts';

const system = '-n kube-system';

interface Config {
  readonly clusters: readonly object[];
  readonly users: readonly { readonly name: string; readonly user: object }[];
}

/** Path of the kubeconfig. */
export const kubeconfigOfPod = async (
  world: ServedWorld,
  kubectl: Steps,
  name: string,
): Promise<string> => {
  const uid = (await kubectl.ok(`get pod ${name} ${system} -o jsonpath={.metadata.uid}`)).trim();
  const bound = `--bound-object-kind Pod --bound-object-name ${name} --bound-object-uid ${uid}`;
  const token = (await kubectl.ok(`create token drover-controller ${system} ${bound}`)).trim();
  const view = await kubectl.ok('config view --minify --flatten --raw -o json');
  const config = JSON.parse(view) as Config;
  const users = config.users.map((one) => ({ ...one, user: { token } }));
  const path = join(world.dataDir, `${name}.kubeconfig`);
  writeFileSync(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
  return path;
};
