// Renders the health of a node and its repair as plain lines: what is wrong, since when, when it is
// repaired and what delays that. `drover explain` and `drover get nodes` share it. Decides nothing.
import { epochMs, formatTime } from '../../api/brand.ts';
import type { FollowUp } from '../../api/disruption.ts';
import type { NodeRepair, RepairAttempt, RepairBlocker } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { NodeHealth } from '../health/index.ts';
import { type RepairStep, repairModeOf, repairRuleOf } from '../repair/index.ts';

const since = (at: number | undefined): string =>
  at === undefined ? '' : ` since ${formatTime(epochMs(at))}`;

export const explainHealth = ({ state, since: at, findings }: NodeHealth): readonly string[] => [
  `health: ${state}${since(at)}`,
  ...findings.map(({ condition, reason, since: from, message }) => {
    const said = message === undefined ? '' : `: ${message}`;
    return `finding: ${condition} ${reason}${since(from)}${said}`;
  }),
];

const bundleText = ({ bundle }: RepairAttempt): readonly string[] => {
  if (bundle === undefined) return [];
  const { requestedAt, outcome, message = '' } = bundle;
  if (outcome === undefined) return [`logs: asked for at ${requestedAt}, for 60 s at most`];
  return [outcome === 'Collected' ? `logs: collected: ${message}` : `logs: none: ${message}`];
};

const attemptText = ({ action, startedAt, endedAt, outcome, message }: RepairAttempt): string => {
  const how = outcome === undefined ? '' : `: ${outcome}`;
  const why = message === undefined ? '' : ` (${message})`;
  const end = endedAt === undefined ? '' : `, drained and acted on ${endedAt}`;
  return `attempt: ${action} decided ${startedAt}${end}${how}${why}`;
};

export const explainRepairBlocker = ({ kind, message, until }: RepairBlocker): string =>
  `held up by ${kind}: ${message}${until === undefined ? '' : `, until ${until}`}`;

const replaces = 'terminate the instance without decrement; Auto Scaling starts a new one';
const actText: Readonly<Record<FollowUp, string>> = {
  Release: 'keep the instance',
  Reboot: 'reboot the instance',
  Detach: 'detach the instance for inspection; Auto Scaling starts a new one',
  Replace: replaces,
  Terminate: 'terminate the detached instance',
};

const causeText = ({ instanceId, cause }: Extract<RepairStep, { kind: 'RecordCause' }>): string => {
  const { deadline, followUp } = cause;
  const within =
    deadline === undefined ? 'for as long as its group allows' : `until ${deadline} at the latest`;
  return (
    `record cause Repair on NodeDisruption ${instanceId}: drain the node ${within}, then ` +
    `${actText[followUp]}`
  );
};

/** One step of a repair plan. */
export const explainRepairStep = (step: RepairStep): string => {
  switch (step.kind) {
    case 'OpenRepair':
      return `record NodeRepair ${step.name}: ${step.spec.condition} ${step.spec.reason}`;
    case 'WriteRepair':
      return `NodeRepair ${step.name} becomes ${step.status.phase}: ${step.status.message ?? ''}`;
    case 'RecordCause':
      return causeText(step);
    case 'AskForBundle':
      return step.request === null
        ? `remove the request for logs from node ${step.nodeName}`
        : `ask the agent of node ${step.nodeName} for its logs, for 60 s at most`;
    case 'WithdrawCause':
      return `withdraw cause ${step.causeId} of NodeDisruption ${step.disruption}`;
    case 'DeleteRepair':
      return `delete NodeRepair ${step.name}`;
  }
};

const recorded = ({ metadata: { name }, status }: NodeRepair): readonly string[] => {
  if (status === undefined) return [`repair: recorded as ${name}, not looked at yet`];
  const { phase, action = 'Replace', eligibleAt = '?', blockedBy = [], message = '' } = status;
  const attempts = (status.attempts ?? []).flatMap((one) => [attemptText(one), ...bundleText(one)]);
  switch (phase) {
    case 'Waiting':
      return [`repair: ${action} at ${eligibleAt} unless it recovers (${name}: ${message})`];
    case 'Blocked':
      return [
        `repair: ${action} was due at ${eligibleAt} and is held up (${name})`,
        ...blockedBy.map(explainRepairBlocker),
        ...attempts,
      ];
    case 'WouldRepair':
      return [`repair: audit mode; ${action} would have started at ${eligibleAt} (${name})`];
    default:
      return [`repair: ${phase}${message === '' ? '' : `: ${message}`} (${name})`, ...attempts];
  }
};

/** What the group's rules will do, where no NodeRepair exists yet. */
const expected = (health: NodeHealth, group: NodeGroup | undefined): string => {
  if (group === undefined) return 'repair: none; the node belongs to no NodeGroup';
  const dues = health.findings.flatMap((finding) => {
    const { waitMs, actions } = repairRuleOf(group, finding);
    const [action] = actions;
    return action === undefined ? [] : [{ action, at: finding.since + waitMs }];
  });
  const [first] = dues.toSorted((a, b) => a.at - b.at);
  if (first === undefined) return 'repair: none; no rule repairs this';
  const what = `${first.action} at ${formatTime(epochMs(first.at))}`;
  const { name } = group.metadata;
  return repairModeOf(group) === 'Off'
    ? `repair: none; node repair of node group ${name} is off, with it: ${what}`
    : `repair: ${what} by the rules of node group ${name}; no controller has recorded it yet`;
};

/**
 * `repair`: the open NodeRepair of the instance, if any. Returns no lines for a healthy node
 * without one.
 */
export const explainRepair = (
  health: NodeHealth,
  { repair, group }: { readonly repair?: NodeRepair; readonly group?: NodeGroup },
): readonly string[] => {
  if (repair !== undefined) return recorded(repair);
  return health.state === 'Unhealthy' ? [expected(health, group)] : [];
};
