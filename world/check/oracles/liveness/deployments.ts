// Once settled, every Deployment has its pods Ready, unless the cluster has no room for them.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import { isHealthy, type PodState } from '../../state/pods.ts';
import { microsPerMinute, numberOf, selectorMatch, textOf } from '../../state/read.ts';

/** A pod that was bound this recently may still be starting. */
const startMicros = 2 * microsPerMinute;

/** EKS includes this many host-network pods in maxPods; the other pods need an IP address. */
const hostNetworkPods = 2;

/**
 * Whether the node has more pods than IP addresses, which can happen because maxPods allows for
 * DaemonSet pods on the host network.
 */
const lacksAddress = ({ book }: Context, pod: PodState): boolean => {
  const { maxPods } = book.nodes.byName.get(pod.nodeName) ?? {};
  if (maxPods === undefined) return false;
  const holders = [...book.pods.on(pod.nodeName)].filter(
    (one) => one.goneAt === undefined && !one.isOnHostNetwork,
  );
  return holders.length > maxPods - hostNetworkPods;
};

/** Excusable reasons why a pod is not Ready: no room, no node, no address, or still starting. */
const isExcused = (context: Context, pod: PodState): boolean =>
  pod.nodeName === '' ||
  context.book.nodes.byName.get(pod.nodeName)?.ready !== true ||
  context.book.now - pod.boundAt < startMicros ||
  lacksAddress(context, pod);

export const checkDeployment = (context: Context, deployment: JsonObject): void => {
  const { book, saw, report } = context;
  const { namespace, name } = objectOr(deployment.metadata);
  const spec = objectOr(deployment.spec);
  const wanted = numberOf(spec.replicas) ?? 1;
  const matches = selectorMatch(spec.selector);
  saw();
  let healthy = 0;
  for (const pod of book.pods.byKey.values()) {
    if (pod.namespace !== namespace || pod.goneAt !== undefined || !matches(pod.labels)) continue;
    if (isHealthy(pod)) healthy++;
    else if (pod.terminatingAt === undefined && isExcused(context, pod)) return;
  }
  if (healthy >= wanted) return;
  report({
    subject: `${textOf(namespace)}/${textOf(name)}`,
    message: `${healthy} of ${wanted} pods are Ready, and there is room for the others`,
  });
};
