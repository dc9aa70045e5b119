// Required anti-affinity and DoNotSchedule spread while nodes are replaced. A replacement must fit
// beside the pods that still run, so it needs a new node before an old one is terminated.

import { selectorMatches } from '../../../../api/selectors.ts';
import type { PodAffinityTerm, TopologySpread } from '../../../../api/workloads.ts';
import type { Check, Found } from '../finding.ts';
import type { MovedPod, View } from '../view.ts';
import { byOwner, kubectl, ownerObject, plural, whenDrained } from './parts.ts';

const hostKey = 'kubernetes.io/hostname';

const isSelf = (
  { pod }: MovedPod,
  { labelSelector }: Pick<PodAffinityTerm | TopologySpread, 'labelSelector'>,
): boolean => selectorMatches(labelSelector, pod.metadata.labels);

/** The topology keys of this owner's anti-affinity against its own pods. */
const apartBy = (moved: MovedPod): readonly string[] => {
  const terms =
    moved.pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.filter((term) => isSelf(moved, term)).map(({ topologyKey }) => topologyKey);
};

const found = (
  pods: readonly MovedPod[],
  view: View,
  more: Pick<Found, 'severity' | 'evidence'> & { readonly text: string; readonly remedy: string },
): Found => ({
  severity: more.severity,
  object: ownerObject(pods),
  evidence: more.evidence,
  consequence: whenDrained(view, pods, more.text),
  remedy: more.remedy,
});

const domainsOf = (view: View, key: string): { readonly final: number; readonly extra: number } => {
  const { sizes } = view.snapshot.group;
  if (key === hostKey) {
    const others = view.others.length;
    return { final: sizes.desired + others, extra: view.surge + others };
  }
  const others = view.others.flatMap(({ node }) => node.metadata.labels?.[key] ?? []);
  const fresh = view.newNodes.flatMap(({ labels }) => labels[key] ?? []);
  // A zone has room for the next pod only once a new node is in it.
  return { final: new Set([...others, ...fresh]).size, extra: view.surge + others.length };
};

const antiAffinity = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const [first] = pods;
  if (first === undefined) return [];
  return apartBy(first).flatMap((key) => {
    const { final, extra } = domainsOf(view, key);
    const evidence = { rule: `anti-affinity by ${key}`, pods: pods.length, places: final };
    const edit =
      `${kubectl(first.name)} edit ${first.owner?.kind.toLowerCase() ?? 'pod'} ` +
      `${first.owner?.name ?? ''}`;
    if (pods.length > final) {
      const text =
        `${pods.length} pods must be apart and there ${final === 1 ? 'is' : 'are'} ` +
        `${plural(final, 'place')} for them`;
      return [found(pods, view, { severity: 'blocker', evidence, text, remedy: edit })];
    }
    if (extra > 0) return [];
    return [
      found(pods, view, {
        severity: 'warning',
        evidence: { ...evidence, surge: view.surge },
        text: 'its replacement is Pending until a new node exists',
        remedy:
          `drover plan update ${view.snapshot.group.name} --strategy SURGE   # a new node ` +
          'first',
      }),
    ];
  });
};

const spread = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const [first] = pods;
  const constraints = (first?.pod.spec.topologySpreadConstraints ?? []).filter(
    (one) =>
      one.whenUnsatisfiable === 'DoNotSchedule' &&
      one.topologyKey === 'topology.kubernetes.io/zone',
  );
  return constraints.flatMap((one) => {
    if (first === undefined || !isSelf(first, one)) return [];
    const zones = new Set(pods.map(({ zone }) => zone));
    const covered = new Set([
      ...view.newNodes.map(({ zone }) => zone),
      ...view.others.map(({ zone }) => zone),
    ]);
    const lost = [...zones].filter((zone) => !covered.has(zone));
    if (lost.length === 0) return [];
    // maxSkew counts an emptied zone only while it still has old nodes; once the zone is gone, the
    // other zones are compared among themselves.
    return [
      found(pods, view, {
        severity: 'blocker',
        evidence: {
          rule: `spread by ${one.topologyKey}, maxSkew ${one.maxSkew}`,
          zonesWithoutNewNodes: lost.join(' '),
          pods: pods.length,
        },
        text: 'replacements wait for a zone that gets no new node',
        remedy: `give ${view.snapshot.group.name} a subnet in ${lost.join(', ')}`,
      }),
    ];
  });
};

export const spreadUnsatisfiable: Check = {
  name: 'spread-unsatisfiable',
  title: 'Pods that must be apart find no place while nodes are replaced',
  needs: ['nodes', 'pods'],
  run: (view) =>
    byOwner(view.moved).flatMap((pods) => [...antiAffinity(view, pods), ...spread(view, pods)]),
};
