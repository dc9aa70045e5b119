// Journal entries of the node group controller: sizes written back, state changes, requested
// drains, terminations. Decides nothing.

import { defined } from '../../api/defined.ts';
import type { NodeGroup, NodeGroupScaling, NodeGroupStatus } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate, NodeGroupUpdateStatus } from '../../api/nodegroup-update.ts';
import type { UpdateStep } from '../../api/plan.ts';
import type { Journal } from '../../ports/index.ts';

export const journalWriteBack = (
  journal: Journal,
  group: NodeGroup,
  scaling: NodeGroupScaling,
): void => {
  const facts = { from: { ...group.spec.scaling }, to: { ...scaling } };
  journal.record({ type: 'nodegroup:desired:followed', subject: group.metadata.name, facts });
};

export const journalStatus = (
  journal: Journal,
  group: NodeGroup,
  status: NodeGroupStatus,
): void => {
  const before = group.status;
  const subject = group.metadata.name;
  if (before?.state !== status.state) {
    const facts = { from: before?.state, to: status.state };
    journal.record({ type: 'nodegroup:state', subject, facts });
  }
  if (before?.desired !== status.desired || before.ready !== status.ready) {
    const facts = { desired: status.desired, ready: status.ready, instances: status.instances };
    journal.record({ type: 'nodegroup:size', subject, facts });
  }
};

export const journalDrain = (journal: Journal, group: NodeGroup, instanceId: string): void =>
  journal.record({
    type: 'nodegroup:scale-in:drain',
    subject: group.metadata.name,
    facts: { instanceId },
  });

export const journalTerminate = (journal: Journal, group: NodeGroup, instanceId: string): void =>
  journal.record({
    type: 'nodegroup:scale-in:terminate',
    subject: group.metadata.name,
    facts: { instanceId },
  });

export const journalRemoved = (journal: Journal, group: NodeGroup): void =>
  journal.record({ type: 'nodegroup:removed', subject: group.metadata.name, facts: {} });

export const journalReleased = (journal: Journal, group: NodeGroup): void =>
  journal.record({ type: 'nodegroup:released', subject: group.metadata.name, facts: {} });

/** Changes of aws-auth: the role that authorizes the group's nodes. */
export const journalRole = (journal: Journal, group: NodeGroup, what: 'added' | 'removed'): void =>
  journal.record({
    type: `nodegroup:role:${what}`,
    subject: group.metadata.name,
    facts: { role: group.spec.nodeRole },
  });

export const journalUpdate = (
  journal: Journal,
  { metadata, spec }: NodeGroupUpdate,
  { status, strategy, startedAt, endedAt, phase }: NodeGroupUpdateStatus,
): void => {
  const seconds =
    startedAt === undefined || endedAt === undefined
      ? undefined
      : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  const more = defined({ strategy, phase, seconds });
  const facts = { id: metadata.name, status, ...more };
  journal.record({ type: 'nodegroup:update', subject: spec.nodeGroup, facts });
};

export const journalStep = (journal: Journal, update: NodeGroupUpdate, step: UpdateStep): void => {
  const { kind, ...facts } =
    step.kind === 'RunHook'
      ? { kind: step.kind, hook: step.call.kind, instanceId: step.call.instanceId }
      : step;
  journal.record({
    type: `nodegroup:update:${kind}`,
    subject: update.spec.nodeGroup,
    facts: { id: update.metadata.name, ...facts },
  });
};
