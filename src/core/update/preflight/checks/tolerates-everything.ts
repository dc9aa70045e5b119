// A pod that tolerates every taint, the one of a cordon included, and whose owner is no DaemonSet: what
// replaces it may land on the very node that is being drained. An update without force ends at that.
import type { Taint, Toleration } from '../../../../api/kube.ts';
import type { Check } from '../finding.ts';
import { tolerates } from '../scheduling.ts';
import { byOwner, kubectl, ownerObject, stuckDrain } from './parts.ts';

const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const describe = ({ key = '', effect = '' }: Toleration): string =>
  `${key === '' ? 'every key' : key}:${effect === '' ? 'every effect' : effect}`;

export const toleratesEverything: Check = {
  name: 'tolerates-everything',
  title: 'A pod tolerates the cordon and comes back',
  needs: ['nodes', 'pods'],
  run: (view) => {
    // Without force an update waits for such a node to be empty, whatever its strategy.
    const severity = view.snapshot.group.force ? 'warning' : 'blocker';
    const tolerant = view.moved.flatMap((moved) => {
      const toleration = moved.pod.spec.tolerations?.find((one) => tolerates(one, cordon));
      return toleration === undefined || moved.owner === undefined ? [] : [{ moved, toleration }];
    });
    return byOwner(tolerant.map(({ moved }) => moved)).map((pods) => {
      const object = ownerObject(pods);
      const toleration = tolerant.find(({ moved }) => moved === pods[0])?.toleration ?? {};
      const [first] = pods;
      return {
        severity,
        object,
        evidence: { tolerates: describe(toleration), pods: pods.length },
        consequence: stuckDrain(
          view,
          pods,
          'its replacement may be placed on the cordoned node again and again',
        ),
        remedy: `${kubectl(object.name)} edit ${object.kind.toLowerCase()} ${first?.owner?.name ?? ''}   # tolerate only the taints that it needs`,
      };
    });
  },
};
