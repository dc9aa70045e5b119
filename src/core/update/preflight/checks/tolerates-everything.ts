// A pod that tolerates every taint, including the cordon, and whose owner is not a DaemonSet. Its
// replacement may be scheduled to the node that is being drained. If it fits on no other node, it
// returns there, and an update without force fails. Otherwise the scheduler chooses among several
// nodes.
import type { Toleration } from '../../../../api/kube.ts';
import type { Check } from '../finding.ts';
import { cordonToleration, refusals } from '../scheduling.ts';
import { isForced, type MovedPod, placeOf, type View } from '../view.ts';
import { byOwner, kubectl, ownerObject, stuckDrain, whenDrained } from './parts.ts';

const describe = ({ key = '', effect = '' }: Toleration): string =>
  `${key === '' ? 'every key' : key}:${effect === '' ? 'every effect' : effect}`;

/**
 * Only the cordoned node accepts the pod. Without a surge, a single old node has no new node beside
 * it.
 */
const isPinned = (view: View, { pod }: MovedPod): boolean => {
  const fresh = view.surge > 0 || view.oldNodes.length > 1 ? view.newNodes : [];
  const places = [...fresh, ...view.others.map(placeOf)];
  return places.every((place) => refusals(pod, place).length > 0);
};

export const toleratesEverything: Check = {
  name: 'tolerates-everything',
  title: 'A pod tolerates the cordon and may return to its node',
  needs: ['nodes', 'pods'],
  run: (view) => {
    const tolerant = view.moved.flatMap((moved) => {
      const toleration = cordonToleration(moved.pod);
      return toleration === undefined || moved.owner === undefined ? [] : [{ moved, toleration }];
    });
    return byOwner(tolerant.map(({ moved }) => moved)).map((pods) => {
      const object = ownerObject(pods);
      const toleration = tolerant.find(({ moved }) => moved === pods[0])?.toleration ?? {};
      const [first] = pods;
      const pinned = pods.filter((moved) => isPinned(view, moved));
      const isStuck = pinned.length > 0;
      const back = 'its replacement fits only on the cordoned node and comes back';
      const maybe = 'its replacement may be placed on the cordoned node once more';
      return {
        // Without force, every strategy waits for such a node to be empty.
        severity: isStuck && !isForced(view.snapshot.group) ? 'blocker' : 'warning',
        object,
        evidence: { tolerates: describe(toleration), pods: pods.length },
        consequence: isStuck ? stuckDrain(view, pinned, back) : whenDrained(view, pods, maybe),
        remedy:
          `${kubectl(object.name)} edit ${object.kind.toLowerCase()} ` +
          `${first?.owner?.name ?? ''}   # tolerate only the taints that it needs`,
      };
    });
  },
};
