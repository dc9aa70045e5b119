// A pod that cannot be scheduled after the old nodes are terminated. Its selector, required
// affinity or tolerations match neither the new nodes nor any other node of the cluster.
import type { Check } from '../finding.ts';
import { cordonToleration, refusals } from '../scheduling.ts';
import { isForced, placeOf } from '../view.ts';
import { byOwner, kubectl, ownerObject, whenDrained } from './parts.ts';

export const fitsNoNewNode: Check = {
  name: 'fits-no-new-node',
  title: 'A pod fits no node of the new revision',
  needs: ['nodes', 'pods'],
  run: (view) => {
    const places = [...view.newNodes, ...view.others.map(placeOf)];
    if (view.newNodes.length === 0) return [];
    const force = isForced(view.snapshot.group);
    const homeless = view.moved.filter(
      // A bare pod is not recreated anywhere. A pod that tolerates the cordon can return;
      // tolerates-everything reports it.
      ({ pod, owner }) =>
        owner !== undefined &&
        (force || cordonToleration(pod) === undefined) &&
        places.every((place) => refusals(pod, place).length > 0),
    );
    return byOwner(homeless).map((pods) => {
      const [first] = pods;
      const why = view.newNodes.flatMap((place) =>
        first === undefined ? [] : refusals(first.pod, place),
      );
      const object = ownerObject(pods);
      return {
        severity: 'blocker' as const,
        object,
        evidence: { refusedFor: [...new Set(why)].join('; '), pods: pods.length },
        consequence: whenDrained(view, pods, 'its replacement stays Pending'),
        remedy:
          `${kubectl(object.name)} edit ${object.kind.toLowerCase()} ` +
          `${first?.owner?.name ?? ''}   # or give ${view.snapshot.group.name} what it asks ` +
          'for',
      };
    });
  },
};
