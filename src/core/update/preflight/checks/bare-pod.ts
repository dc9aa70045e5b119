// A pod without a controller is lost when it is evicted: nothing recreates it.
import type { Check } from '../finding.ts';
import { kubectl, whenDrained } from './parts.ts';

export const barePod: Check = {
  name: 'bare-pod',
  title: 'A pod has no controller and is lost',
  needs: ['nodes', 'pods'],
  run: (view) =>
    view.moved
      .filter(({ owner }) => owner === undefined)
      .map((moved) => ({
        severity: view.snapshot.group.force ? ('warning' as const) : ('blocker' as const),
        object: { kind: 'Pod', name: moved.name },
        evidence: { controller: 'none', node: moved.node },
        consequence: whenDrained(view, [moved], 'the pod is evicted and nothing makes it again'),
        remedy:
          `${kubectl(moved.name)} delete pod ${moved.pod.metadata.name}   # or put it under a ` +
          'Deployment',
      })),
};
