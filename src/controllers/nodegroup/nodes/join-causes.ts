// Why instances of a group are late to join: what `drover explain nodegroup` says too, for the
// group's health. Reads aws-auth, the launch template, kubelets' certificate requests, the cluster
// and its network once somebody is late; decides nothing.

import type { CloudInstance, ClusterAccess, ScalingGroup } from '../../../api/cloud.ts';
import { type KubeObject, resourceTypes } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  type GroupUserDataInForce,
  type JoinCause,
  joinCauses,
  type RoleMap,
  type SigningRequest,
  unansweredRequests,
} from '../../../core/explain/index.ts';
import type { Unjoined } from '../../../core/nodegroup/index.ts';
import { type AwsAuthData, familyCalled } from '../../../formats/index.ts';
import { lookAtJoinNetwork, orUnknown } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

interface ConfigMap extends KubeObject {
  readonly data?: AwsAuthData;
}

const awsAuth = { namespace: 'kube-system', name: 'aws-auth' } as const;

const rolesOf = async (
  { kube }: NodeGroupDeps,
  describing: Promise<ClusterAccess | undefined>,
  signal: AbortSignal,
): Promise<RoleMap> => {
  const access = await describing;
  if (access?.authenticationMode === 'API') return { kind: 'unused' };
  const found = await kube.get<ConfigMap>(resourceTypes.configmaps, awsAuth, { signal });
  if (found.kind === 'found') return { kind: 'map', data: found.object.data ?? {} };
  // kubeadm's and kOps' nodes join by other means.
  return access === undefined ? { kind: 'unused' } : { kind: 'absent' };
};

const userDataOf = async (
  { cloud }: NodeGroupDeps,
  { spec }: NodeGroup,
  { launchTemplate }: ScalingGroup,
  signal: AbortSignal,
): Promise<GroupUserDataInForce | undefined> => {
  if (launchTemplate === undefined) return undefined;
  const { id, version } = launchTemplate;
  const { data } = (await cloud.findLaunchTemplate({ id, version }, { signal })) ?? {};
  if (typeof data?.UserData !== 'string') return undefined;
  return {
    base64: data.UserData,
    template: `${id} version ${version}`,
    family: familyCalled(spec.amiType),
    hasOwnImage: spec.amiType === 'CUSTOM',
    kubernetesVersion: spec.version,
    instanceType: spec.instanceTypes[0],
  };
};

export type LateInstance = Unjoined & Pick<CloudInstance, 'privateDnsName' | 'network'>;

/** The surest first; `late` have no Ready node. */
export const joinCausesOf = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { scaling, late }: { readonly scaling: ScalingGroup; readonly late: readonly LateInstance[] },
  signal: AbortSignal,
): Promise<readonly JoinCause[]> => {
  const { spec } = group;
  const { cloud, kube, clock } = deps;
  const waiting = late.filter(({ hasNode }) => !hasNode);
  const describing = cloud.describeCluster(spec.clusterName, { signal });
  const roles = await orUnknown(rolesOf(deps, describing, signal));
  const cluster = await orUnknown(describing);
  const listed = kube.list<SigningRequest>(resourceTypes.certificatesigningrequests, { signal });
  const requests = unansweredRequests((await orUnknown(listed))?.items ?? []);
  const places = {
    cluster,
    subnets: scaling.subnets ?? [],
    instances: waiting.map((one) => one.network),
  };
  const { network } = await lookAtJoinNetwork(cloud, places, { signal });
  return joinCauses({
    now: clock.now(),
    network,
    cluster: spec.clusterName,
    roleArn: spec.nodeRole === '' ? undefined : spec.nodeRole,
    isWindows: spec.amiType.startsWith('WINDOWS'),
    roles: roles ?? { kind: 'unknown', why: 'kube-system/aws-auth was not read' },
    userData: await orUnknown(userDataOf(deps, group, scaling, signal)),
    failedLaunches: [],
    instances: waiting.map(
      ({ instanceId, state, launchTime, console, privateDnsName, network }) => ({
        instanceId,
        state,
        launchTime,
        console,
        network,
        requests: [privateDnsName, instanceId].flatMap((name) => requests.get(name) ?? []),
        node: undefined,
      }),
    ),
  });
};
