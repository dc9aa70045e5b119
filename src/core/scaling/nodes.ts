// Labels and taints of a node group on the nodes that it has already: what to change on one node so
// that it is as a new one would be. Touches nothing that is not the group's. Pure.
import type { JsonObject } from '../../api/json.ts';
import type { Node, Taint } from '../../api/kube.ts';
import type { NodeGroupSpec, NodeGroupStatus } from '../../api/nodegroup.ts';

type Marked = Pick<NodeGroupStatus, 'nodeLabels' | 'nodeTaints'>;
type Wanted = Pick<NodeGroupSpec, 'labels' | 'taints'>;

const sameKey = (
  a: { readonly key: string; readonly effect: string },
  b: { readonly key: string; readonly effect: string },
): boolean => a.key === b.key && a.effect === b.effect;

const labelChanges = (node: Node, wanted: Wanted, before: Marked): JsonObject => {
  const labels = wanted.labels ?? {};
  const has = node.metadata.labels ?? {};
  const set = Object.entries(labels).filter(([key, value]) => has[key] !== value);
  const gone = (before.nodeLabels ?? []).filter(
    (key) => labels[key] === undefined && has[key] !== undefined,
  );
  return { ...Object.fromEntries(set), ...Object.fromEntries(gone.map((key) => [key, null])) };
};

/** The node's whole list of taints as it should be; undefined when it is so. */
const taintsOf = (node: Node, wanted: Wanted, before: Marked): readonly Taint[] | undefined => {
  const taints = wanted.taints ?? [];
  const has = node.spec.taints ?? [];
  const missing = taints.filter(
    (taint) => !has.some((one) => sameKey(one, taint) && (one.value ?? '') === (taint.value ?? '')),
  );
  const isGone = (one: Taint): boolean =>
    (before.nodeTaints ?? []).some((taint) => sameKey(one, taint)) &&
    !taints.some((taint) => sameKey(one, taint));
  if (missing.length === 0 && !has.some(isGone)) return undefined;
  const kept = has.filter((one) => !isGone(one) && !missing.some((taint) => sameKey(one, taint)));
  return [...kept, ...missing];
};

/** A JSON merge patch; undefined when the node is as it should be. */
export const nodePatch = (node: Node, wanted: Wanted, before: Marked): JsonObject | undefined => {
  const labels = labelChanges(node, wanted, before);
  const taints = taintsOf(node, wanted, before);
  const hasLabels = Object.keys(labels).length > 0;
  if (!hasLabels && taints === undefined) return undefined;
  const { uid, resourceVersion } = node.metadata;
  return {
    // A whole list is written only over the list that was read.
    metadata: {
      ...(taints === undefined ? {} : { uid, resourceVersion }),
      ...(hasLabels ? { labels } : {}),
    },
    ...(taints === undefined ? {} : { spec: { taints: taints.map((taint) => ({ ...taint })) } }),
  };
};

/** What is remembered of a spec, so that what leaves it leaves the nodes. */
export const markedBy = ({ labels = {}, taints = [] }: Wanted): Marked => ({
  nodeLabels: Object.keys(labels).toSorted(),
  nodeTaints: taints.map(({ key, effect }) => ({ key, effect })),
});
