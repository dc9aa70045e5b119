// The pod that a DaemonSet runs on a node, and whether it should run there. Pure; upstream:
// pkg/controller/daemon/util and AddOrUpdateDaemonPodTolerations (Kubernetes 1.32).
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type DaemonSetView,
  hasAll,
  type NodeView,
  nodeTermsMatch,
  type PodView,
  type TolerationView,
  untolerated,
} from '../actors/index.ts';

export const revisionHashLabel = 'controller-revision-hash';

const added = (key: string, effect: string): TolerationView => ({
  key,
  operator: 'Exists',
  effect,
});

/**
 * Tolerations that the real controller adds, so that daemons tolerate the node condition taints.
 */
const daemonTolerations = (hostNetwork: boolean): readonly TolerationView[] => [
  added('node.kubernetes.io/not-ready', 'NoExecute'),
  added('node.kubernetes.io/unreachable', 'NoExecute'),
  added('node.kubernetes.io/disk-pressure', 'NoSchedule'),
  added('node.kubernetes.io/memory-pressure', 'NoSchedule'),
  added('node.kubernetes.io/pid-pressure', 'NoSchedule'),
  added('node.kubernetes.io/unschedulable', 'NoSchedule'),
  ...(hostNetwork ? [added('node.kubernetes.io/network-unavailable', 'NoSchedule')] : []),
];

const nameField = (nodeName: string): JsonObject => ({
  key: 'metadata.name',
  operator: 'In',
  values: [nodeName],
});

/** Spec fields that differ from the template: the target node and the tolerations. */
export const daemonSpec = (set: DaemonSetView, nodeName: string): JsonObject => {
  const spec = set.spec.template.spec;
  const own = spec.tolerations ?? [];
  const more = daemonTolerations(spec.hostNetwork === true).filter(
    (one) =>
      !own.some(
        (has) => has.key === one.key && has.effect === one.effect && has.operator === one.operator,
      ),
  );
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const pinned: JsonObject[] =
    terms === undefined
      ? [{ matchFields: [nameField(nodeName)] }]
      : terms.map((term) => ({ ...term, matchFields: [nameField(nodeName)] }));
  return {
    tolerations: [...own, ...more],
    affinity: {
      ...spec.affinity,
      nodeAffinity: {
        ...spec.affinity?.nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: pinned },
      },
    },
  };
};

/** The node that a daemon pod is bound to or, while unbound, targets. */
export const nodeOfDaemonPod = (pod: PodView): string | undefined => {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
      ?.nodeSelectorTerms;
  return terms?.[0]?.matchFields?.find((field) => field.key === 'metadata.name')?.values?.[0];
};

/** run: a pod should run there; keep: an existing one may stay (NoSchedule taints do not evict). */
export const daemonWants = (
  set: DaemonSetView,
  node: NodeView,
): { readonly run: boolean; readonly keep: boolean } => {
  const spec = set.spec.template.spec;
  const labels = node.metadata.labels ?? {};
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const fits =
    hasAll(spec.nodeSelector, labels) &&
    (terms === undefined || nodeTermsMatch(terms, { name: node.metadata.name, labels }));
  if (!fits) return { run: false, keep: false };
  const taints = node.spec?.taints ?? [];
  const tolerations = [
    ...(spec.tolerations ?? []),
    ...daemonTolerations(spec.hostNetwork === true),
  ];
  return {
    run: untolerated(taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined,
    keep: untolerated(taints, tolerations, ['NoExecute']) === undefined,
  };
};
