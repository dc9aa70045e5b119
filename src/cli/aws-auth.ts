// Lets a role of nodes into the cluster, and out of it, through kube-system/aws-auth: compare and
// swap on the ConfigMap's resourceVersion, so that nobody's entry is lost to a race.
import type { KubeObject } from '../api/kube.ts';
import { resourceTypes } from '../api/kube.ts';
import {
  type AwsAuthChange,
  type AwsAuthData,
  addNodeRole,
  removeNodeRole,
} from '../formats/index.ts';
import { type KubeApi, KubeError } from '../ports/index.ts';
import { CommandError, exitCodes } from './context.ts';

interface ConfigMap extends KubeObject {
  readonly data?: AwsAuthData;
}

const name = { namespace: 'kube-system', name: 'aws-auth' } as const;
/** Others write it too, but rarely. */
const attempts = 8;

const leftAlone = (why: string): CommandError =>
  new CommandError(
    exitCodes.refused,
    `ConfigMap kube-system/aws-auth cannot be changed: ${why}; mend it with ` +
      '`kubectl edit -n kube-system configmap aws-auth`',
  );

const swap = async (
  kube: KubeApi,
  change: (data: AwsAuthData) => AwsAuthChange,
): Promise<boolean> => {
  for (let attempt = 1; ; attempt += 1) {
    const found = await kube.get<ConfigMap>(resourceTypes.configmaps, name);
    const result = change(found.kind === 'found' ? (found.object.data ?? {}) : {});
    if (result.kind === 'unchanged') return false;
    if (result.kind === 'refused') {
      throw leftAlone(result.why);
    }
    try {
      if (found.kind === 'gone') {
        await kube.create(
          resourceTypes.configmaps,
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...name }, data: { ...result.data } },
          { namespace: name.namespace },
        );
      } else {
        const { resourceVersion } = found.object.metadata;
        await kube.patch(resourceTypes.configmaps, name, {
          type: 'merge',
          body: { metadata: { resourceVersion }, data: { ...result.data } },
        });
      }
      return true;
    } catch (error) {
      const raced =
        error instanceof KubeError && (error.code === 'Conflict' || error.code === 'AlreadyExists');
      if (!raced || attempt >= attempts) throw error;
    }
  }
};

/** False when the role was let in already. */
export const addIdentity = (
  kube: KubeApi,
  roleArn: string,
  system: 'linux' | 'windows',
): Promise<boolean> => swap(kube, (data) => addNodeRole(data, roleArn, system));

/** False when the role was not there. */
export const removeIdentity = (kube: KubeApi, roleArn: string): Promise<boolean> =>
  swap(kube, (data) => removeNodeRole(data, roleArn));

/** Throws CommandError when the map could not take a new role: asked before anything is made. */
export const checkIdentities = async (kube: KubeApi): Promise<void> => {
  const found = await kube.get<ConfigMap>(resourceTypes.configmaps, name);
  const data = found.kind === 'found' ? (found.object.data ?? {}) : {};
  const change = addNodeRole(data, 'arn:aws:iam::000000000000:role/probe');
  if (change.kind === 'refused') throw leftAlone(change.why);
};

/** Whether the map lets this role in as a node's. */
export const hasIdentity = async (kube: KubeApi, roleArn: string): Promise<boolean> => {
  const found = await kube.get<ConfigMap>(resourceTypes.configmaps, name);
  const data = found.kind === 'found' ? (found.object.data ?? {}) : {};
  return addNodeRole(data, roleArn).kind === 'unchanged';
};
