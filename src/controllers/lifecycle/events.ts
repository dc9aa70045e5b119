// Reports of the backstop: found terminations and maintenance, completed launches. Decides nothing.

import type { LifecycleAction, ScheduledAction } from '../../core/termination/index.ts';
import type { Journal } from '../../ports/index.ts';

export const journalAction = (journal: Journal, action: LifecycleAction): void => {
  if (action.kind === 'record') {
    const { subject, cause } = action;
    const facts = { cause: cause.id };
    journal.record({ type: 'lifecycle:termination:found', subject: subject.name, facts });
    return;
  }
  const { instanceId, autoScalingGroupName, hookName } = action.call;
  const facts = { group: autoScalingGroupName, hook: hookName };
  journal.record({ type: 'lifecycle:launch:completed', subject: instanceId, facts });
};

export const journalScheduled = (journal: Journal, action: ScheduledAction): void => {
  const subject = action.subject.name;
  const facts = { cause: action.kind === 'record' ? action.cause.id : action.causeId };
  const type = `lifecycle:maintenance:${action.kind === 'record' ? 'found' : 'over'}`;
  journal.record({ type, subject, facts });
};
