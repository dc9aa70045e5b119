// What the command line and the controller read to explain why nodes do not join: aws-auth, and the
// user data of the launch template. Throws the ports' errors.
import type { ClusterAccess, ScalingGroup } from '../api/cloud.ts';
import { type KubeObject, resourceTypes } from '../api/kube.ts';
import type { CloudApi } from './cloud.ts';
import type { KubeApi } from './kube.ts';

interface Options {
  readonly signal?: AbortSignal;
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const awsAuth = { namespace: 'kube-system', name: 'aws-auth' } as const;

type RolesRead =
  /** The cluster authenticates nodes by other means. */
  | { readonly kind: 'unused' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'map'; readonly data: Readonly<Record<string, string>> };

export const readNodeRoles = async (
  kube: Pick<KubeApi, 'get'>,
  describing: Promise<ClusterAccess | undefined>,
  options: Options = {},
): Promise<RolesRead> => {
  const access = await describing;
  if (access?.authenticationMode === 'API') return { kind: 'unused' };
  const found = await kube.get<ConfigMap>(resourceTypes.configmaps, awsAuth, options);
  if (found.kind === 'found') return { kind: 'map', data: found.object.data ?? {} };
  // Nodes of kubeadm and kOps join by other means.
  return access === undefined ? { kind: 'unused' } : { kind: 'absent' };
};

interface UserDataRead {
  readonly base64: string;
  /** For display: id and version. */
  readonly template: string;
  /** The instance type that the template itself specifies. */
  readonly instanceType: string | undefined;
}

/** Undefined where the group has no launch template, or the template no user data. */
export const readUserData = async (
  cloud: Pick<CloudApi, 'findLaunchTemplate'>,
  { launchTemplate }: Pick<ScalingGroup, 'launchTemplate'>,
  options: Options = {},
): Promise<UserDataRead | undefined> => {
  if (launchTemplate === undefined) return undefined;
  const { id, version } = launchTemplate;
  const { data } = (await cloud.findLaunchTemplate({ id, version }, options)) ?? {};
  if (typeof data?.UserData !== 'string') return undefined;
  const { UserData: base64, InstanceType: type } = data;
  const instanceType = typeof type === 'string' ? type : undefined;
  return { base64, template: `${id} version ${version}`, instanceType };
};
