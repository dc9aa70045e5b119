// Health probes that would stop the update: their object does not exist, or they do not pass at
// present. Part of target-configuration. Pure.
import { defined } from '../../../../api/defined.ts';
import { defaultFailureThreshold, defaultIntervalSeconds } from '../../pacing/index.ts';
import type { Found } from '../finding.ts';
import type { ProbeFact } from '../snapshot.ts';
import type { View } from '../view.ts';

/** Probes run from the first drained node on. */
const whenLooked = (view: View): { readonly node?: string; readonly minute?: number } => {
  const first = view.forecast.firstDrained(view.oldNodes.map(({ node }) => node.metadata.name));
  return first === undefined ? {} : { node: first.node, minute: first.minute };
};

const foundOf = (view: View, { name, object, state, message, remedy }: ProbeFact): Found => {
  const { group } = view.snapshot;
  const probe = group.updateConfig?.probes?.find((one) => one.name === name);
  const { onFailure = 'Hold', failureThreshold = defaultFailureThreshold } = probe ?? {};
  const edit = `kubectl edit ng ${group.name}   # spec.updateConfig.probes`;
  const evidence = { probe: name, onFailure };
  if (state === 'unknown') {
    const text = `not checked: ${message}`;
    return {
      severity: 'notChecked',
      object,
      evidence,
      consequence: { text },
      remedy: remedy ?? edit,
    };
  }
  const { node, minute = 0 } = whenLooked(view);
  const { intervalSeconds = defaultIntervalSeconds } = probe ?? {};
  const seconds = onFailure === 'Fail' ? (failureThreshold - 1) * intervalSeconds : 0;
  const end =
    onFailure === 'Fail'
      ? `the update ends there as HealthProbeFailed, after ${failureThreshold} failures in a row`
      : 'no node is begun before it passes';
  const cannot = state === 'gone' ? 'cannot pass' : 'does not pass now';
  return {
    severity: state === 'gone' ? 'blocker' : 'warning',
    object,
    evidence,
    consequence: {
      text: `probe ${name} ${cannot}: ${message}; ${end}`,
      ...defined({ node }),
      minute: Math.round(minute + seconds / 60),
    },
    remedy: state === 'gone' ? `create it first, or ${edit}` : `correct it first, or ${edit}`,
  };
};

export const probesFound = (view: View): readonly Found[] => {
  const { probes = [], unread, group } = view.snapshot;
  const why = unread.probes;
  const found = view.oldNodes.length === 0 ? [] : probes.map((one) => foundOf(view, one));
  if (why === undefined) return found;
  return [
    ...found,
    {
      severity: 'notChecked',
      object: { kind: 'NodeGroup', name: group.name },
      evidence: { unread: 'what health probes look at' },
      consequence: { text: `not checked: ${why}` },
      remedy: 'let the reader of the plan get what the probes look at, then plan again',
    },
  ];
};
