// A pod that no node will take once the old ones are gone: its selector, required affinity or
// taints do not go with what new nodes will be, nor with any other node of the cluster.
import type { Check } from '../finding.ts';
import { cordonToleration, refusals } from '../scheduling.ts';
import { isForced, placeOf } from '../view.ts';
import { byOwner, kubectl, ownerObject, whenDrained } from './parts.ts';

export const fitsNoNewNode: Check = {
  name: 'fits-no-new-node',
  title: 'A pod may run on no node of the new revision',
  needs: ['nodes', 'pods'],
  run: (view) => {
    const places = [...view.newNodes, ...view.others.map(placeOf)];
    if (view.newNodes.length === 0) return [];
    const force = isForced(view.snapshot.group);
    const homeless = view.moved.filter(
      // A bare pod does not come back wherever it could run; one that tolerates the cordon does,
      // and is told there.
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
