// Why instances of a group are late to join, with the findings of `drover explain nodegroup`, for
// the group's health. Reads aws-auth, launch template, kubelet certificate requests, cluster and
// network, but only once an instance is late. Decides nothing.

import type { CloudInstance, ScalingGroup } from '../../../api/cloud.ts';
import { resourceTypes } from '../../../api/kube.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import {
  type GroupUserDataInForce,
  type JoinCause,
  joinCauses,
  type SigningRequest,
  unansweredRequests,
} from '../../../core/explain/index.ts';
import type { Unjoined } from '../../../core/nodegroup/index.ts';
import { familyCalled } from '../../../formats/index.ts';
import { lookAtJoinNetwork, orUnknown, readNodeRoles, readUserData } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';

const userDataOf = async (
  { cloud }: NodeGroupDeps,
  { spec }: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<GroupUserDataInForce | undefined> => {
  const read = await readUserData(cloud, scaling, { signal });
  return (
    read && {
      ...read,
      family: familyCalled(spec.amiType),
      hasOwnImage: spec.amiType === 'CUSTOM',
      kubernetesVersion: spec.version,
      instanceType: spec.instanceTypes[0],
    }
  );
};

export type LateInstance = Unjoined & Pick<CloudInstance, 'privateDnsName' | 'network'>;

/** Most certain cause first; `late` have no Ready node. */
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
  const roles = await orUnknown(readNodeRoles(kube, describing, { signal }));
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
