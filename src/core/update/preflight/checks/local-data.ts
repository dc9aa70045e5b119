// Data that stays on the node: emptyDir and hostPath data is lost with it. A local volume keeps its
// pod Pending forever, since no other node can attach it.
import type { Check, Found } from '../finding.ts';
import { selectorPicks } from '../scheduling.ts';
import { type MovedPod, placeOf, type View } from '../view.ts';
import { byOwner, kubectl, ownerObject, whenDrained } from './parts.ts';
import { volumesOf } from './volumes.ts';

const kindsOf = ({ pod }: MovedPod): readonly string[] =>
  (pod.spec.volumes ?? []).flatMap((volume) => [
    // Memory is lost on any restart, so it holds no data worth keeping.
    ...(volume.emptyDir !== undefined && volume.emptyDir.medium !== 'Memory' ? ['emptyDir'] : []),
    ...(volume.hostPath === undefined ? [] : ['hostPath']),
  ]);

const lost = (view: View): readonly Found[] =>
  byOwner(view.moved.filter((moved) => kindsOf(moved).length > 0)).map((pods) => ({
    severity: 'warning',
    object: ownerObject(pods),
    evidence: { volumes: [...new Set(pods.flatMap(kindsOf))].join(' '), pods: pods.length },
    consequence: whenDrained(view, pods, 'what is in these volumes is lost with the pod'),
    remedy:
      `${kubectl(pods[0]?.name ?? '')} get pod ${pods[0]?.pod.metadata.name ?? ''} -o yaml   ` +
      '# look what it keeps there',
  }));

/** Volumes whose node affinity matches this node and no other node of the cluster. */
const pinned = (view: View): readonly Found[] =>
  view.moved.flatMap((moved) =>
    volumesOf(view, moved).flatMap(({ claim, volume }) => {
      const required = volume.spec.nodeAffinity?.required;
      const isLocal = volume.spec.local !== undefined || volume.spec.hostPath !== undefined;
      if (!isLocal || required === undefined) return [];
      const elsewhere = view.others.some((node) => selectorPicks(required, placeOf(node)));
      if (elsewhere) return [];
      const { name } = volume.metadata;
      return [
        {
          severity: 'blocker' as const,
          object: { kind: 'PersistentVolume', name },
          evidence: { claim, type: 'local', node: moved.node },
          consequence: whenDrained(view, [moved], 'its replacement stays Pending forever'),
          remedy: `${kubectl(moved.name)} delete pvc ${claim}   # once its data was copied`,
        },
      ];
    }),
  );

export const localData: Check = {
  name: 'local-data',
  title: 'Data on the node is lost, or keeps its pod from moving',
  needs: ['nodes', 'pods', 'volumes'],
  run: (view) => [...pinned(view), ...lost(view)],
};
