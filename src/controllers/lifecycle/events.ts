// What the backstop tells: found terminations and completed launches. Decides nothing.
import type { Journal } from '../../ports/index.ts';
import type { LifecycleAction } from './decide.ts';

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
