// A volume bound to a zone that has no other node and gets no new one: its pod stays Pending after
// its eviction.
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
    // Zones short of addresses count: old nodes free theirs, and subnet-addresses reports the
    // shortage.
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
