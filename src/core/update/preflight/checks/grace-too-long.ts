// A pod that may take longer to stop than its drain may last. preStop runs within the grace period,
// so it is reported but not added (Kubernetes: pod lifecycle, termination).
import type { Check } from '../finding.ts';
import { byOwner, kubectl, ownerObject, stuckDrain } from './parts.ts';

export const graceTooLong: Check = {
  name: 'grace-too-long',
  title: 'A grace period is longer than the drain may last',
  needs: ['nodes', 'pods'],
  run: (view) => {
    const { drainTimeoutSeconds } = view.snapshot.group;
    const long = view.moved.filter(
      ({ pod }) => (pod.spec.terminationGracePeriodSeconds ?? 30) > drainTimeoutSeconds,
    );
    return byOwner(long).map((pods) => {
      const grace = pods.reduce(
        (most, { pod }) => Math.max(most, pod.spec.terminationGracePeriodSeconds ?? 30),
        0,
      );
      const sleeps = pods.flatMap(({ pod }) =>
        (pod.spec.containers ?? []).flatMap((one) => one.lifecycle?.preStop?.sleep?.seconds ?? []),
      );
      const object = ownerObject(pods);
      return {
        severity: 'blocker' as const,
        object,
        evidence: {
          terminationGracePeriodSeconds: grace,
          ...(sleeps.length === 0 ? {} : { preStopSleepSeconds: Math.max(...sleeps) }),
          drainTimeoutSeconds,
          pods: pods.length,
        },
        consequence: stuckDrain(view, pods, `the pod may take ${grace} s to stop`),
        remedy:
          object.kind === 'Pod'
            ? `${kubectl(object.name)} delete pod ${pods[0]?.pod.metadata.name ?? ''}   # by ` +
              'hand, before the update'
            : `${kubectl(object.name)} patch ${object.kind.toLowerCase()} ` +
              `${pods[0]?.owner?.name ?? ''} --type merge -p ` +
              `'{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":${drainTimeoutSeconds}}}}}'`,
      };
    });
  },
};
