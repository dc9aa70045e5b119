// The cluster autoscaler's scale-down, as a node group sees it: it terminates one node without
// workload pods and decrements the size, never below the minimum. It skips nodes with the
// scale-down-disabled annotation.

import type { World } from '../../../world/index.ts';
import { instanceIdOfProviderId } from '../../api/brand.ts';
import { isObject, type JsonObject, objectOr } from '../../api/json.ts';

const nodes = { group: '', resource: 'nodes' } as const;
const pods = { group: '', resource: 'pods' } as const;
export const autoscalerAnnotation = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';

const isOfDaemonSet = ({ metadata }: JsonObject): boolean => {
  const { ownerReferences } = objectOr(metadata);
  return Array.isArray(ownerReferences) && ownerReferences.some((one) => one.kind === 'DaemonSet');
};

const busyNodes = ({ kube }: World): ReadonlySet<unknown> =>
  new Set(
    [...kube.readAll(pods)]
      .filter((pod) => !isOfDaemonSet(pod as unknown as JsonObject))
      .map(({ spec }) => objectOr(spec).nodeName),
  );

export interface EmptyNode {
  readonly name: string;
  readonly instanceId: string;
  /** The cluster autoscaler accepts only the value `true`. */
  readonly isDisabled: boolean;
}

/** Ready nodes without workload pods whose instances are InService in a group above its minimum. */
export const emptyNodes = (world: World): readonly EmptyNode[] => {
  const busy = busyNodes(world);
  const answer = objectOr(world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {}));
  const all = Array.isArray(answer.AutoScalingGroups) ? answer.AutoScalingGroups : [];
  const open = new Set(
    all
      .filter(isObject)
      .filter(({ DesiredCapacity, MinSize }) => Number(DesiredCapacity) > Number(MinSize))
      .flatMap(({ Instances }) => (Array.isArray(Instances) ? Instances.filter(isObject) : []))
      .filter(({ LifecycleState }) => LifecycleState === 'InService')
      .map(({ InstanceId }) => InstanceId),
  );
  return [...world.kube.readAll(nodes)].flatMap(({ metadata, spec }): readonly EmptyNode[] => {
    const { providerID } = objectOr(spec);
    const instanceId = instanceIdOfProviderId(String(providerID ?? ''));
    if (instanceId === undefined || !open.has(instanceId) || busy.has(metadata.name)) return [];
    const isDisabled = metadata.annotations?.[autoscalerAnnotation] === 'true';
    return [{ name: metadata.name, instanceId, isDisabled }];
  });
};

/** The call that terminates the node and decrements the size; undefined if no node qualifies. */
export const scaleDownCall = (
  world: World,
  isOfInterest: (node: EmptyNode) => boolean = ({ isDisabled }) => !isDisabled,
): { readonly operation: string; readonly input: JsonObject } | undefined => {
  const found = emptyNodes(world).find(isOfInterest);
  if (found === undefined) return undefined;
  const { instanceId: InstanceId } = found;
  const input = { InstanceId, ShouldDecrementDesiredCapacity: true };
  return { operation: 'TerminateInstanceInAutoScalingGroup', input };
};
