// Drains of Drover's own strategy that exceeded the drain timeout: how the policy handles each, and
// when that ends the update. The number of tries is read from each NodeDisruption; no counter is
// kept. Pure.

import { formatTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { HealthIssue } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import type { UpdateStep } from '../../../api/plan.ts';
import { maxQuarantinedNodes } from '../../../api/update-policy.ts';
import { bounded, heldBy, isOfRequest, retriesSentence } from '../../nodegroup/index.ts';
import { explainUpdateWaiting } from '../explain-waiting.ts';
import type { StatusChange, UpdateDecision, UpdateObservation } from '../observation.ts';
import { enter, fail, notEvicted } from '../records/journal.ts';
import { type Counted, type GroupNodes, inFlightOf, updateCauseId } from '../records/nodes.ts';
import { stay } from './waiting.ts';

type FailedNodes = NonNullable<NodeGroupUpdateStatus['failedNodes']>;
type FailedNode = FailedNodes[number];

/** With Skip, a node is tried a second time after all others. */
const maxTries = 2;

const isFailed = ({ state }: Counted): boolean => state.kind === 'failed';

/** How many drains of the node this update has cancelled. */
export const triesOf = ({ instance }: Counted, updateName: string): number => {
  const id = updateCauseId(updateName);
  return (instance.disruption?.spec.causes ?? []).filter(
    (cause) => cause.cancelledAt !== undefined && isOfRequest(cause.id, id),
  ).length;
};

/** The node was tried as often as allowed and is not tried again. */
export const isGivenUp = ({ policies, update }: UpdateObservation, one: Counted): boolean =>
  policies?.onTimeout === 'Skip' &&
  one.state.kind === 'untouched' &&
  triesOf(one, update.metadata.name) >= maxTries;

/** The node stays cordoned after the update, because the status lists it as quarantined. */
export const isKept = (
  { failedNodes = [] }: Pick<NodeGroupUpdateStatus, 'failedNodes'>,
  { instance }: Counted,
): boolean =>
  failedNodes.some(
    ({ instanceId, outcome }) => outcome === 'Quarantined' && instanceId === instance.instanceId,
  );

const reportOf = ({ instance, state }: Counted, outcome: FailedNode['outcome']): FailedNode => {
  const { instanceId, nodeName, disruption } = instance;
  const why = state.kind === 'failed' ? state.message : '';
  const held = disruption === undefined ? '' : heldBy([disruption]);
  return {
    instanceId,
    ...defined({ node: nodeName }),
    message: held === '' ? why : held,
    ...defined({ outcome }),
  };
};

/** The failed nodes to report: earlier ones that are still old, then the current failures. */
const reports = (
  { status }: UpdateObservation,
  { old }: GroupNodes,
  outcome: FailedNode['outcome'],
): FailedNodes => {
  const now = old.filter(isFailed).map((one) => reportOf(one, outcome));
  const left = new Set(old.map(({ instance }) => instance.instanceId));
  const before = (status.failedNodes ?? []).filter(
    ({ instanceId }) =>
      left.has(instanceId) && !now.some((report) => report.instanceId === instanceId),
  );
  return [...before, ...now].slice(0, maxQuarantinedNodes);
};

/** The node stays as it is for the rest of this update. */
export const isSetAside = (observation: UpdateObservation, one: Counted): boolean =>
  observation.policies?.onTimeout === 'Quarantine' ? isFailed(one) : isGivenUp(observation, one);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? []) === JSON.stringify(b);

const nameOf = ({ node, instanceId }: FailedNode): string => node ?? instanceId;

const errorOf = ({ groupName }: UpdateObservation, nodes: FailedNodes) => ({
  code: 'PodEvictionFailure',
  message: `${retriesSentence(groupName)} ${nodes
    .map((one) => `${nameOf(one)}: ${one.message}`)
    .join('; ')}`,
  resourceIds: nodes.map(nameOf),
});

/**
 * Errors about nodes that were set aside, when the update ends for another reason. Every such node
 * is uncordoned.
 */
export const setAsideErrors = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): { readonly errors: readonly HealthIssue[]; readonly failedNodes: FailedNodes } => {
  const nodes = reports(observation, groupNodes, undefined);
  return {
    errors: nodes.length === 0 ? [] : [errorOf(observation, nodes)],
    failedNodes: nodes.map(({ outcome: _over, ...one }) => one),
  };
};

const withdraw = ({ instance }: Counted): UpdateStep => ({
  kind: 'Withdraw',
  instanceId: instance.instanceId,
});

/** How failed drains change the decision; the rest of the pass is decided separately. */
export interface Timeouts {
  /** The update ends with this decision. */
  readonly ends?: UpdateDecision;
  readonly change: StatusChange;
  readonly steps: readonly UpdateStep[];
  /** Number of quarantined nodes; each keeps one new node above the desired size. */
  readonly quarantined: number;
}

const failWith = (observation: UpdateObservation, nodes: readonly Counted[]): UpdateDecision =>
  stay(observation, { change: fail(observation, notEvicted(observation, nodes), nodes) });

const nothing: Timeouts = { change: {}, steps: [], quarantined: 0 };

const skip = (observation: UpdateObservation, groupNodes: GroupNodes): Timeouts => {
  const failed = groupNodes.old.filter(isFailed);
  const nodes = reports(observation, groupNodes, 'Skipped');
  const change = same(observation.status.failedNodes, nodes) ? {} : { failedNodes: nodes };
  if (failed.length > 0) return { ...nothing, change, steps: failed.map(withdraw) };
  const { leavingOld } = groupNodes;
  // Blue/green has drained the other old nodes and keeps them.
  const old = groupNodes.old.filter(({ state }) => state.kind !== 'kept');
  const isEnd = old.length > 0 && leavingOld.length === 0 && inFlightOf(groupNodes).length === 0;
  if (!isEnd || !old.every((one) => isGivenUp(observation, one))) return { ...nothing, change };
  const given = nodes.filter(({ outcome }) => outcome === 'Skipped');
  const ending = fail(observation, [errorOf(observation, given)]);
  const failedNodes = given.map(({ outcome: _skipped, ...one }) => one);
  return { ...nothing, ends: stay(observation, { change: { ...ending, failedNodes } }) };
};

const ending = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
  nodes: FailedNodes,
  count: number,
): StatusChange => {
  const { total = count } = observation.status.progress ?? {};
  const errors = bounded([errorOf(observation, nodes)]);
  const names = nodes.map(nameOf).join(', ');
  const done = Math.max(0, total - groupNodes.old.length);
  const message =
    `${done} of ${total} nodes were replaced. Quarantined, each with its new node beside it: ` +
    `${names}. Fix what blocks their pods, then request the update again.`;
  return {
    ...enter(observation, 'Restoring'),
    ending: 'Failed',
    errors,
    message,
    failedNodes: nodes,
    leftover: count,
  };
};

const quarantine = (observation: UpdateObservation, groupNodes: GroupNodes): Timeouts => {
  const { policies, status } = observation;
  const { old, leavingOld, fresh } = groupNodes;
  const failed = old.filter(isFailed);
  if (failed.length > (policies?.maxQuarantined ?? 1)) {
    return { ...nothing, ends: failWith(observation, failed) };
  }
  const nodes = reports(observation, groupNodes, 'Quarantined');
  const change = same(status.failedNodes, nodes) ? {} : { failedNodes: nodes };
  const steps = failed.flatMap(({ instance }): readonly UpdateStep[] =>
    instance.nodeName === undefined || instance.isQuarantined === true
      ? []
      : [{ kind: 'Quarantine', nodeName: instance.nodeName }],
  );
  const quarantined = failed.length;
  const isThrough = quarantined > 0 && quarantined === old.length && leavingOld.length === 0;
  const { actualDesired, desired } = observation;
  const wanted = Math.max(actualDesired, desired + quarantined);
  const isStarted = old.length + fresh.length >= wanted;
  const isHealthyNew = fresh.every(({ instance }) => instance.isReady && instance.isLabelled);
  if (!isThrough || !isStarted || !isHealthyNew) return { change, steps, quarantined };
  const end = { change: ending(observation, groupNodes, nodes, quarantined), steps };
  const surge = { desired: quarantined, maxSize: quarantined };
  return { ...nothing, ends: stay(observation, { ...end, surge }) };
};

/**
 * Pauses the update and uncordons the node. After an operator resumes it, the node is tried again
 * after all others.
 */
const pause = (observation: UpdateObservation, groupNodes: GroupNodes): Timeouts => {
  const { status, update, now } = observation;
  const failed = groupNodes.old.filter(isFailed);
  const nodes = reports(observation, groupNodes, 'Paused');
  const told = same(status.failedNodes, nodes) ? {} : { failedNodes: nodes };
  const isPaused = update.spec.paused === true;
  if (failed.length === 0) {
    if (isPaused || status.pausedSince === undefined) return { ...nothing, change: told };
    return { ...nothing, change: { ...told, pausedSince: undefined, message: undefined } };
  }
  const [first] = nodes.filter(({ instanceId }) =>
    failed.some(({ instance }) => instance.instanceId === instanceId),
  );
  const message = explainUpdateWaiting({
    kind: 'resume',
    update: update.metadata.name,
    ...defined({ node: first && nameOf(first), message: first?.message }),
    more: failed.length - 1,
  });
  const since = status.pausedSince ?? formatTime(now);
  const pauses: readonly UpdateStep[] = isPaused ? [] : [{ kind: 'Pause' }];
  return {
    ...nothing,
    change: { ...told, pausedSince: since, message: message.slice(0, 2_000) },
    steps: [...pauses, ...failed.map(withdraw)],
  };
};

/** How drains that timed out, and those reported earlier, affect the update. */
export const decideTimeouts = (
  observation: UpdateObservation,
  groupNodes: GroupNodes,
): Timeouts => {
  switch (observation.policies?.onTimeout) {
    case 'Skip':
      return skip(observation, groupNodes);
    case 'Quarantine':
      return quarantine(observation, groupNodes);
    case 'Pause':
      return pause(observation, groupNodes);
    default: {
      const failed = groupNodes.old.filter(isFailed);
      return failed.length === 0 ? nothing : { ...nothing, ends: failWith(observation, failed) };
    }
  }
};
