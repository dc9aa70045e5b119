// Reports a pass: writes the status if it changed, and its events.

import type { ScalingGroup } from '../../api/cloud.ts';
import { isReady } from '../../api/conditions.ts';
import { defined } from '../../api/defined.ts';
import type { Node } from '../../api/kube.ts';
import {
  autoScalingGroupNameOf,
  type HealthIssue,
  type NodeGroup,
  type NodeGroupStatus,
} from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';
import type { GroupRecord } from '../../api/plan.ts';
import { explainGroupWaiting } from '../../core/explain/index.ts';
import {
  type Ownership,
  type StatusFacts,
  statusOf,
  unhealthyText,
} from '../../core/nodegroup/index.ts';
import { ineffectiveIssue } from '../../core/repair/index.ts';
import { failedRequestOf, failedUpdateOf, waitingChangeText } from '../../core/update/index.ts';
import { isInService, nodeOfInstance } from '../informers.ts';
import type { NodeGroupDeps } from './deps.ts';
import { journalStatus } from './events.ts';
import { reportStatus } from './kube-events.ts';
import { hookIssues } from './lifecycle/hooks.ts';
import type { Marking } from './nodes/marking.ts';
import { ownIssues } from './own-issues.ts';
import type { HooksMemory, PassInput } from './pass-input.ts';
import { openUpdate } from './update/records.ts';
import { requestedRevision } from './update/requests.ts';
import { windowsLacks } from './update/windows.ts';
import { writeStatus } from './write.ts';

export interface ReportFacts {
  readonly target: number;
  readonly scaleIn?: NodeGroupStatus['scaleIn'];
  readonly failure?: NodeGroupStatus['failure'];
  readonly issues?: readonly HealthIssue[];
  /** Recorded calls that set the size; default: unchanged. */
  readonly sizeCalls?: NodeGroupStatus['sizeCalls'];
  /** The update's part of the size; default: as in the status. */
  readonly surge?: NonNullable<NodeGroupStatus['surge']>;
  /** The version update in progress; omitted: unchanged. */
  readonly updating?: NodeGroupStatus['updating'];
  /** Set while the group is released: what that waits for. */
  readonly releasing?: GroupRecord['releasing'];
}

interface PassFacts extends ReportFacts {
  readonly group: NodeGroup;
  readonly scaling: ScalingGroup | undefined;
  /** The cloud's group of this name, even if it must not be touched. */
  readonly found: { readonly ownership: Ownership } | undefined;
  readonly isMissing: boolean;
  readonly marking: Marking;
  readonly surge: NonNullable<NodeGroupStatus['surge']>;
  readonly templateGeneration: number | undefined;
}

const failedFields = (
  failedUpdate: StatusFacts['failedUpdate'],
): Pick<StatusFacts, 'failedUpdate'> => (failedUpdate === undefined ? {} : { failedUpdate });

/** Failed updates do not matter for a group that is being deleted. */
const failedOf = (
  updates: readonly NodeGroupUpdate[],
  group: NodeGroup,
): StatusFacts['failedUpdate'] =>
  group.metadata.deletionTimestamp === undefined
    ? (failedRequestOf(updates, group) ?? failedUpdateOf(updates, group.metadata.name))
    : undefined;

const updatingOf = (facts: PassFacts): Pick<NodeGroupStatus, 'updating'> => {
  const { updating } = 'updating' in facts ? facts : (facts.group.status ?? {});
  return updating === undefined ? {} : { updating };
};

const hookFacts = ({ hooks }: HooksMemory): Pick<StatusFacts, 'hookLack'> =>
  hooks?.lack === undefined ? {} : { hookLack: hooks.lack };

const repairIssues = ({ repairs, clock }: NodeGroupDeps, group: NodeGroup) => {
  const { name } = group.metadata;
  const own = repairs.list().filter(({ spec }) => spec.nodeGroup === name);
  const issue = ineffectiveIssue(own, group, clock.now());
  return issue === undefined ? [] : [issue];
};

/** An update that may not begin yet has not touched the group. */
const isUnderWay = (update: NodeGroupUpdate | undefined): boolean =>
  update !== undefined && update.status?.phase !== 'Pending';

/** The group after the write; undefined if it is gone. */
export const report = async (
  deps: NodeGroupDeps,
  { memory, signal }: PassInput,
  facts: PassFacts,
): Promise<NodeGroup | undefined> => {
  const { nodes, clock, journal } = deps;
  const { group, scaling, marking, surge, templateGeneration } = facts;
  const updates = deps.updates.list();
  const windows = await windowsLacks(deps, group, memory, signal);
  // The revision of an adopted group is unknown until AWS has been read.
  const isUnread = group.stated !== undefined && memory.adopted === undefined;
  const asked = isUnread ? group.status?.requestedRevision : requestedRevision(deps, group);
  const waitingChange = waitingChangeText(updates, group, asked);
  const is = (instanceId: string, what: (node: Node) => boolean): boolean => {
    const node = nodeOfInstance(nodes, instanceId);
    return node !== undefined && what(node);
  };
  const serving = (scaling?.instances ?? [])
    .filter(({ lifecycleState }) => lifecycleState === 'InService')
    .flatMap(({ instanceId }) => nodeOfInstance(nodes, instanceId) ?? []);
  const status = statusOf({
    ...defined({ unhealthy: unhealthyText(serving, clock.now()) }),
    ...defined({ waitingChange, windows }),
    group,
    scaling,
    isMissing: facts.isMissing,
    isReady: (instanceId) => is(instanceId, isReady),
    isInService: (instanceId) => is(instanceId, isInService),
    ...defined({ adopted: memory.adopted?.facts }),
    ...hookFacts(memory),
    ...defined({
      releasing: facts.releasing?.map((one) => `${explainGroupWaiting(one)}.`).join(' '),
    }),
    issues: [
      ...ownIssues(memory.trouble.values(), group, facts.found),
      ...hookIssues(memory, autoScalingGroupNameOf(group)),
      ...repairIssues(deps, group),
      ...(facts.issues ?? []),
    ],
    requested: group.spec.scaling,
    requestedRevision: asked,
    surge,
    sizeCalls: facts.sizeCalls ?? group.status?.sizeCalls ?? [],
    ...updatingOf(facts),
    target: facts.target,
    scaleIn: facts.scaleIn,
    failure: facts.failure,
    ...failedFields(failedOf(updates, group)),
    isUpdating: isUnderWay(openUpdate(deps, group)),
    ...defined({ made: memory.made }),
    marked: marking.status(group, scaling),
    templateGeneration,
    now: clock.now(),
  });
  const written = await writeStatus(deps, group, status, signal);
  if (written !== undefined && written !== group) {
    journalStatus(journal, group, status);
    await reportStatus(deps, group, status, signal);
  }
  return written;
};
