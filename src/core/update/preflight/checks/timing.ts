// Reasons not to update at present. Windows and freezes delay the update (a blocker if they never
// allow it), or a window is too short. Jobs would start again, StatefulSets move one pod after
// another, or the group is not healthy.

import { parseTime } from '../../../../api/brand.ts';
import { isSilent } from '../../../../api/conditions.ts';
import type { Check, Found } from '../finding.ts';
import type { PlannedNode } from '../snapshot.ts';
import { isNodeReady, type MovedPod, type View } from '../view.ts';
import { byOwner, kubectl, ownerObject, plural, whenDrained } from './parts.ts';

const longJobSeconds = 3600;
const slowReplacementSeconds = 300;

const windowFound = (view: View): readonly Found[] => {
  const { outlook, group } = view.snapshot;
  const { windowSeconds } = outlook ?? {};
  const p90 = Math.ceil(view.forecast.p90Minutes);
  if (windowSeconds === undefined || p90 * 60 <= windowSeconds) return [];
  return [
    {
      severity: 'warning',
      object: { kind: 'NodeGroup', name: group.name },
      evidence: { p90Minutes: p90, windowMinutes: Math.floor(windowSeconds / 60) },
      consequence: {
        text:
          'the update is not done when the window closes: it holds at the next node until ' +
          'another opens',
      },
      remedy: 'begin at the start of the window, lengthen it, or raise maxUnavailable',
    },
  ];
};

/** Windows and freezes that prevent or delay the start of the update. */
const holdFound = (view: View): readonly Found[] => {
  const { outlook, group, now } = view.snapshot;
  return (outlook?.holds ?? []).flatMap(({ kind, reason, until }): readonly Found[] => {
    if (kind !== 'Window' && kind !== 'Freeze') return [];
    const opens = parseTime(until);
    const object = { kind: 'NodeGroup', name: group.name };
    // A freeze always ends, so only a window can never open.
    const field = `spec.updateConfig.${kind === 'Freeze' && opens !== undefined ? 'freezes' : 'windows'}`;
    const remedy = `kubectl edit ng ${group.name}   # ${field}`;
    if (opens === undefined) {
      return [
        {
          severity: 'blocker',
          object,
          evidence: { heldBy: kind },
          consequence: { text: `it never begins: ${reason}`, minute: 0 },
          remedy,
        },
      ];
    }
    return [
      {
        severity: 'warning',
        object,
        evidence: { heldBy: kind, hours: Math.ceil((opens - now) / 3_600_000) },
        consequence: { text: `nothing is begun before ${until ?? ''}: ${reason}`, minute: 0 },
        remedy: `ask for it all the same, it begins then; or ${remedy}`,
      },
    ];
  });
};

/** Also reported if another window opens, since an operator relies on this one. */
const faultFound = ({ snapshot: { outlook, group } }: View): readonly Found[] => {
  const { holds = [], faults = [] } = outlook ?? {};
  const isTold = holds.some(
    ({ kind, until }) => (kind === 'Window' || kind === 'Freeze') && until === undefined,
  );
  return isTold
    ? []
    : faults.map((fault) => ({
        severity: 'warning',
        object: { kind: 'NodeGroup', name: group.name },
        evidence: { window: fault },
        consequence: { text: `one of its maintenance windows never opens: ${fault}` },
        remedy: `kubectl edit ng ${group.name}   # spec.updateConfig.windows`,
      }));
};

const jobFound = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const [first] = pods;
  if (first?.owner?.kind !== 'Job') return [];
  const { workload } = first.owner;
  const started = parseTime(workload?.status?.startTime ?? first.pod.status.startTime);
  const seconds = started === undefined ? 0 : (view.snapshot.now - started) / 1000;
  const isOnce = workload?.spec.backoffLimit === 0;
  if (!isOnce && seconds <= longJobSeconds) return [];
  return [
    {
      severity: 'warning',
      object: ownerObject(pods),
      evidence: {
        runsForMinutes: Math.round(seconds / 60),
        backoffLimit: workload?.spec.backoffLimit ?? 6,
      },
      consequence: whenDrained(
        view,
        pods,
        isOnce ? 'the job fails: it may not try again' : 'the job begins again from its start',
        first.waitSeconds / 60,
      ),
      remedy:
        `${kubectl(first.name)} wait --for=condition=complete job/${first.owner.name} ` +
        '--timeout=24h',
    },
  ];
};

const statefulFound = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const owner = pods[0]?.owner;
  if (owner?.kind !== 'StatefulSet' || pods.length < 2) return [];
  const seconds = view.forecast.replacementSeconds(owner.key);
  const policy = owner.workload?.spec.podManagementPolicy ?? 'OrderedReady';
  if (policy !== 'OrderedReady' || seconds < slowReplacementSeconds) return [];
  const minutes = Math.round((seconds * pods.length) / 60);
  return [
    {
      severity: 'warning',
      object: ownerObject(pods),
      evidence: {
        podManagementPolicy: policy,
        replacementSeconds: Math.round(seconds),
        pods: pods.length,
      },
      consequence: whenDrained(
        view,
        pods,
        `its pods move one by one: ${plural(minutes, 'minute')} in all`,
      ),
      remedy: 'plan for that time; a budget of more than one pod does not shorten it',
    },
  ];
};

const illnessOf = (node: PlannedNode['node']): string =>
  isSilent(node)
    ? 'its kubelet is unreachable: it goes first, and each of its pods counts as gone 30 s ' +
      'after it was told to stop'
    : 'a node is not Ready to begin with';

const unwell = (view: View): readonly Found[] => {
  const notReady = view.oldNodes.filter((one) => !isNodeReady(one));
  const pending = view.snapshot.pods.filter(
    ({ status, spec }) => status.phase === 'Pending' && (spec.nodeName ?? '') === '',
  );
  return [
    ...notReady.map(
      ({ node }): Found => ({
        severity: 'warning',
        object: { kind: 'Node', name: node.metadata.name },
        evidence: { Ready: 'not True' },
        consequence: { text: illnessOf(node), node: node.metadata.name },
        remedy: `kubectl describe node ${node.metadata.name}`,
      }),
    ),
    ...(pending.length === 0
      ? []
      : [
          {
            severity: 'warning' as const,
            object: { kind: 'Pod', name: pendingName(pending) },
            evidence: { pending: pending.length },
            consequence: { text: 'pods find no place before anything was moved' },
            remedy: 'kubectl get pods -A --field-selector=status.phase=Pending',
          },
        ]),
  ];
};

const pendingName = (pending: View['snapshot']['pods']): string =>
  `${pending[0]?.metadata.namespace ?? ''}/${pending[0]?.metadata.name ?? ''}`;

export const timing: Check = {
  name: 'timing',
  title: 'The update would start at a bad time',
  needs: ['nodes', 'pods', 'workloads'],
  run: (view) => [
    ...holdFound(view),
    ...faultFound(view),
    ...windowFound(view),
    ...byOwner(view.moved).flatMap((pods) => [
      ...jobFound(view, pods),
      ...statefulFound(view, pods),
    ]),
    ...unwell(view),
  ],
};
