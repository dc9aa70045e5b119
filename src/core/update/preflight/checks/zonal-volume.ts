// A volume that is bound to a zone in which no new node comes up, and no other node is: its pod
// stays Pending after its eviction.
import type { Check } from '../finding.ts';
import { selectorPicks } from '../scheduling.ts';
import { placeOf } from '../view.ts';
import { kubectl, whenDrained } from './parts.ts';
import { volumesOf } from './volumes.ts';

export const zonalVolume: Check = {
  name: 'zonal-volume',
  title: 'A volume is in a zone that gets no new node',
  needs: ['nodes', 'pods', 'volumes'],
  run: (view) => {
    const { group } = view.snapshot;
    // Where addresses are short an old node gives back its own: told by subnet-addresses.
    const places = [...view.newNodes, ...view.others.map(placeOf)];
    return view.moved.flatMap((moved) =>
      volumesOf(view, moved).flatMap(({ claim, volume }) => {
        const required = volume.spec.nodeAffinity?.required;
        const isLocal = volume.spec.local !== undefined || volume.spec.hostPath !== undefined;
        if (isLocal || required === undefined) return [];
        if (places.some((place) => selectorPicks(required, place))) return [];
        return [
          {
            severity: 'blocker' as const,
            object: { kind: 'PersistentVolume', name: volume.metadata.name },
            evidence: {
              claim,
              zone: moved.zone,
              newNodesIn: view.newNodes.map(({ zone }) => zone).join(' ') || 'no zone',
            },
            consequence: whenDrained(view, [moved], 'its replacement stays Pending'),
            remedy:
              `give ${group.name} a subnet in ${moved.zone}; ${kubectl(moved.name)} describe ` +
              `pvc ${claim}`,
          },
        ];
      }),
    );
  },
};
