// What the node group controller tells: sizes written back and changes of state. Decides nothing.
import type { NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import type { Journal } from '../../ports/index.ts';

export const journalWriteBack = (journal: Journal, group: NodeGroup, desired: number): void => {
  const facts = { from: group.spec.scaling.desired, to: desired };
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
