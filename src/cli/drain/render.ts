// Renders a drain's preview and result: tables as text, versioned documents for scripts.
// core/explain has the texts for blockers.
import type { WaitingOn } from '../../api/disruption.ts';
import type { Step } from '../../api/plan.ts';
import type { PodWarning, SkipReason } from '../../core/drain/index.ts';
import { explainWaiting } from '../../core/explain/index.ts';
import { renderTable } from '../table.ts';
import type { NodePreview, PodStep } from './preview.ts';
import type { DrainState } from './state.ts';

/** The version of every document below; a field that changes its meaning increases it. */
export const documentVersion = 'cli.drover.dev/v1';

const skipText: Readonly<Record<SkipReason, string>> = {
  mirror: 'static pod: the kubelet runs it, whatever the API says',
  finished: 'has finished',
  daemonSet: 'DaemonSet pod: it would come back at once',
  boomerang: 'was evicted once and put back here by its owner',
  unstoppable: 'was asked to stop, but its kubelet is unreachable: it ends with the instance',
};

const warningText: Readonly<Record<PodWarning, string>> = {
  unmanaged: 'no controller: nothing brings it back',
  emptyDir: 'its emptyDir is lost',
  orphanOfDaemonSet: 'its DaemonSet is gone: it will not come back',
};

const podKey = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
  `${namespace}/${name}`;

type PatchNode = Extract<Step, { kind: 'PatchNode' }>;

const budgetsOf = (waiting: WaitingOn): string =>
  'budgets' in waiting ? waiting.budgets.join(', ') : 'budget' in waiting ? waiting.budget : '-';

const podRows = (preview: NodePreview): readonly (readonly string[])[] => {
  const { plan, pods, stays } = preview;
  const byKey = new Map(pods.map((pod) => [podKey(pod.pod), pod]));
  const notes = (key: string): string =>
    (byKey.get(key)?.warnings ?? []).map((warning) => warningText[warning]).join('; ');
  const owner = (key: string): string => byKey.get(key)?.owner ?? '-';
  const leaving = plan.steps.filter(
    (step): step is PodStep => step.kind === 'Evict' || step.kind === 'DeletePod',
  );
  const evict = leaving.map((step, i) => {
    const key = podKey(step.pod);
    const budget = step.kind === 'Evict' ? (step.budget ?? '-') : '-';
    const verb = step.kind === 'DeletePod' ? 'delete' : step.signal ? 'request' : 'evict';
    const what = `${verb} ${i + 1}`;
    return [what, key, owner(key), budget, notes(key)];
  });
  const wait = plan.waitingOn.map((waiting) => {
    const key = 'pod' in waiting ? waiting.pod : '-';
    const why = [explainWaiting(waiting), notes(key)].filter((text) => text !== '').join('; ');
    return ['wait', key, owner(key), budgetsOf(waiting), why];
  });
  const stay = stays.map(({ pod, owner: name, reason }) => [
    'stay',
    podKey(pod),
    name ?? '-',
    '-',
    skipText[reason],
  ]);
  return [...evict, ...wait, ...stay];
};

/** The lines of one node's preview. */
export const previewLines = (preview: NodePreview): readonly string[] => {
  const patches = preview.plan.steps.filter((step): step is PatchNode => step.kind === 'PatchNode');
  const { others } = preview;
  const rows = podRows(preview);
  return [
    `${preview.node} (NodeDisruption ${preview.disruption})`,
    ...others.map(
      ({ kind, reason }) =>
        `taken out of service already: ${kind}${reason === undefined ? '' : ` (${reason})`}`,
    ),
    patches.length === 0
      ? 'labels, taints and cordon: already set'
      : 'labels, taints and cordon, all visible before the first eviction:',
    ...patches.map(({ patch, body }) => `  ${patch} patch ${JSON.stringify(body)}`),
    ...(rows.length === 0
      ? ['no pods on it']
      : renderTable(['STEP', 'POD', 'OWNER', 'BUDGET', 'NOTE'], rows)),
  ];
};

/** `drover drain --dry-run -o json`. */
export const previewDocument = (previews: readonly NodePreview[]) => ({
  apiVersion: documentVersion,
  kind: 'DrainPreview',
  items: previews.map((preview) => ({
    node: preview.node,
    disruption: preview.disruption,
    plan: preview.plan,
    evict: preview.pods.map(({ pod, owner, warnings }) => ({ ...pod, owner, warnings })),
    stay: preview.stays.map(({ pod, owner, reason }) => ({ ...pod, owner, reason })),
    blockers: preview.plan.waitingOn.map(explainWaiting),
    refusals: preview.refusals.map(explainWaiting),
  })),
});

export interface ResultRow {
  readonly node: string;
  readonly disruption: string;
  readonly state: DrainState;
}

const outcomeOf = (state: DrainState): string =>
  state.kind === 'ended' ? state.outcome : state.kind === 'working' ? state.phase : 'Recorded';

/** `drover drain -o json`: the state of each drain when the command ends. */
export const resultDocument = (rows: readonly ResultRow[]) => ({
  apiVersion: documentVersion,
  kind: 'DrainResult',
  items: rows.map(({ node, disruption, state }) => ({
    node,
    disruption,
    ended: state.kind === 'ended',
    outcome: outcomeOf(state),
    ...(state.kind === 'ended' && state.message !== '' ? { message: state.message } : {}),
  })),
});
