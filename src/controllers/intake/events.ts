// What intake tells about messages: one journal entry each, and a count per outcome. Never the body
// of a message, which is not ours to repeat.
import type { Journal } from '../../ports/index.ts';
import type { MessageDecision } from './decide.ts';

export const journalDecision = (
  journal: Journal,
  messageId: string,
  decision: MessageDecision,
): void => {
  if (decision.kind === 'record') {
    const { cause, subject } = decision;
    const facts = { cause: cause.id, kind: cause.kind, message: messageId };
    journal.record({ type: 'notice:recorded', subject: subject.name, facts });
    return;
  }
  if (decision.kind === 'withdraw') {
    const facts = { cause: decision.causeId, message: messageId };
    journal.record({ type: 'notice:withdrawn', subject: decision.subject.name, facts });
    return;
  }
  const facts = { why: decision.why, detail: decision.detail };
  journal.record({
    type: decision.kind === 'drop' ? 'notice:dropped' : 'notice:kept',
    subject: messageId,
    facts,
  });
};

/** The name under which a decision is counted: `recorded`, `dropped:test`, `kept:malformed`, ... */
export const outcomeOf = (decision: MessageDecision): string => {
  if (decision.kind === 'record') return 'recorded';
  if (decision.kind === 'withdraw') return 'withdrawn';
  return `${decision.kind === 'drop' ? 'dropped' : 'kept'}:${decision.why}`;
};
