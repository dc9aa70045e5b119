// Renders a disruption and a plan as plain lines, for the command line, events and the page: the
// current state and the next steps. Decides nothing and reads no clock.
import { parseTime } from '../../api/brand.ts';
import { isConfirmed, isRefuted } from '../../api/confirmation.ts';
import type {
  DisruptionCause,
  HookStatus,
  NodeDisruption,
  NodeDisruptionStatus,
} from '../../api/disruption.ts';
import type { Plan, Step } from '../../api/plan.ts';
import { explainWaiting } from './waiting.ts';

const phaseText: Readonly<Record<NodeDisruptionStatus['phase'], string>> = {
  Pending: 'recorded, not begun',
  Marking: 'being excluded from load balancers and cordoned',
  Draining: 'being drained',
  Completing: 'done with; telling whoever waits for it',
  Undoing: 'being uncordoned',
  Ended: 'over',
};

/** The node was marked before the cloud refuted this cause, and no other cause required that. */
const wasActedOn = (
  { confirmation }: DisruptionCause,
  { spec, status }: NodeDisruption,
): boolean => {
  const [markedAt, refutedAt] = [parseTime(status?.markedAt), parseTime(confirmation?.at)];
  return (
    spec.causes.length === 1 &&
    markedAt !== undefined &&
    refutedAt !== undefined &&
    markedAt < refutedAt
  );
};

/** The remark about a cause that is not in force; empty for one that is. */
const doubt = (cause: DisruptionCause, disruption: NodeDisruption): string => {
  if (cause.cancelledAt !== undefined || isConfirmed(cause)) return '';
  const why = cause.confirmation?.reason ?? 'the cloud has not been asked yet';
  if (isRefuted(cause) && wasActedOn(cause, disruption)) return `; it no longer holds: ${why}`;
  return isRefuted(cause)
    ? `; not acted on, the cloud does not confirm it: ${why}`
    : `; not acted on before the cloud confirms it: ${why}`;
};

const explainCause = (cause: DisruptionCause, disruption: NodeDisruption): string => {
  const { kind, requestedBy, reason, receivedAt, cancelledAt } = cause;
  const by = requestedBy === undefined ? '' : ` by ${requestedBy}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  const withdrawn = cancelledAt === undefined ? '' : `, withdrawn ${cancelledAt}`;
  const doubted = doubt(cause, disruption);
  return `because of ${kind}${by}${why}, received ${receivedAt}${withdrawn}${doubted}`;
};

const byTime = (a: DisruptionCause, b: DisruptionCause): number =>
  (parseTime(a.receivedAt) ?? 0) - (parseTime(b.receivedAt) ?? 0);

const deadlineText: Readonly<Record<'force' | 'fail', string>> = {
  force: 'what is left then is deleted, budgets or not',
  fail: 'the drain gives up then and forces nothing',
};

const hookText: Readonly<Record<HookStatus['state'], (hook: HookStatus) => string>> = {
  Open: ({ endsAt }) => `open, kept open until ${endsAt} at the latest`,
  Completed: () => 'completed',
  Expired: () => 'ended by Auto Scaling: it timed out, and its default result applies',
  Gone: () => 'ended: Auto Scaling no longer waits in it (another caller may have completed it)',
};

/** One line about a hook: whether it waits, or how it ended. */
export const explainHook = (hook: HookStatus): string =>
  `hook ${hook.name} of ${hook.autoScalingGroupName}: ${hookText[hook.state](hook)}`;

const podsText = ({ podsRemaining, podsTotal }: NodeDisruptionStatus): readonly string[] => {
  if (podsRemaining === undefined) return [];
  const of = podsTotal === undefined ? '' : ` of ${podsTotal}`;
  return [`pods left: ${podsRemaining}${of}`];
};

const list = (
  waitingOn: NodeDisruptionStatus['waitingOn'],
  total: number | undefined,
): readonly string[] => {
  const lines = (waitingOn ?? []).map((waiting) => `waits: ${explainWaiting(waiting)}`);
  const more = (total ?? 0) - lines.length;
  return more > 0 ? [...lines, `waits: and ${more} more`] : lines;
};

export interface ExplainOptions {
  /** The current plan; its blockers are newer than those in the status. */
  readonly plan?: Plan;
}

/** All lines about one disruption, most important first. */
export const explainDisruption = (
  disruption: NodeDisruption,
  { plan }: ExplainOptions = {},
): readonly string[] => {
  const { status, spec } = disruption;
  const name = status?.node?.name ?? spec.nodeName ?? spec.instanceId ?? disruption.metadata.name;
  const phase = status?.phase ?? 'Pending';
  const outcome = status?.outcome === undefined ? '' : `: ${status.outcome}`;
  const message = status?.message === undefined ? '' : ` (${status.message})`;
  const held = status?.waitingOn?.some(({ kind }) => kind === 'hold') ?? false;
  const doing = held && phase === 'Draining' ? 'marked, with all its pods' : phaseText[phase];
  const head = `node ${name}: ${doing}${outcome}${message}`;
  const deadline =
    status?.deadline === undefined || phase === 'Ended'
      ? []
      : [`deadline ${status.deadline}: ${deadlineText[status.onDeadline ?? 'fail']}`];
  return [
    head,
    ...spec.causes.toSorted(byTime).map((cause) => explainCause(cause, disruption)),
    ...deadline,
    ...(status === undefined ? [] : podsText(status)),
    ...(plan === undefined
      ? list(status?.waitingOn, status?.waitingOnTotal)
      : list(plan.waitingOn, plan.waitingOn.length)),
    ...(status?.hooks ?? []).map(explainHook),
  ];
};

const confirmText: Readonly<Record<Extract<Step, { kind: 'Confirm' }>['what'], string>> = {
  nodeEmpty: 'ask the server whether the node is empty:',
  noNode: 'ask the server whether there is really no node of',
  instance: 'ask the cloud whether there still is instance',
  leaving: 'ask the cloud whether it is taking instance',
  replacement: 'ask the cloud whether the group replaces instance',
};

export const explainStep = (step: Step): string => {
  switch (step.kind) {
    case 'PatchNode':
      return `patch node ${step.node}: ${step.why}`;
    case 'HeartbeatHook':
      return `keep hook ${step.hookName} of ${step.autoScalingGroupName} waiting`;
    case 'CompleteHook': {
      const { hookName, autoScalingGroupName, result = 'CONTINUE' } = step;
      return `complete hook ${hookName} of ${autoScalingGroupName}: ${result}`;
    }
    case 'TerminateInstance': {
      if (step.isDetached === true) return `terminate detached instance ${step.instanceId}`;
      const size = step.decrementDesired ? 'and let its group shrink' : 'and let it be replaced';
      return `terminate instance ${step.instanceId} ${size}`;
    }
    case 'DetachInstance':
      return `detach instance ${step.instanceId} from ${step.autoScalingGroupName}`;
    case 'RebootInstance':
      return `reboot instance ${step.instanceId}`;
    case 'WriteStatus':
      return `record in ${step.disruption}: ${phaseText[step.status.phase]}`;
    case 'Confirm':
      return `${confirmText[step.what]} ${step.subject}`;
    case 'WithdrawCause':
      return `withdraw cause ${step.causeId}`;
    case 'DeleteDisruption':
      return `forget ${step.disruption}`;
  }
};

/** A plan as lines: first its steps, then what it waits for. */
export const explainPlan = (plan: Plan): readonly string[] => [
  ...plan.steps.map(explainStep),
  ...plan.waitingOn.map((waiting) => `waits: ${explainWaiting(waiting)}`),
];
