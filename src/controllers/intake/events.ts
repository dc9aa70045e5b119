// Reports of intake about messages: one journal entry each, and a count per outcome. Never contains
// the body of a message, which may be private.
import { isConfirmed, isRefuted } from '../../api/confirmation.ts';
import type { MessageDecision } from '../../core/termination/index.ts';
import type { Journal } from '../../ports/index.ts';

export const journalDecision = (
  journal: Journal,
  received: { readonly messageId: string; readonly lagSeconds?: number },
  decision: MessageDecision,
): void => {
  const { messageId, lagSeconds } = received;
  const lag = lagSeconds === undefined ? {} : { lagSeconds };
  if (decision.kind === 'record') {
    const { cause, subject } = decision;
    const facts = { cause: cause.id, kind: cause.kind, message: messageId, ...lag };
    if (isConfirmed(cause)) {
      journal.record({ type: 'notice:recorded', subject: subject.name, facts });
      return;
    }
    const why = cause.confirmation?.reason ?? '';
    const type = isRefuted(cause) ? 'notice:refuted' : 'notice:unconfirmed';
    journal.record({ type, subject: subject.name, facts: { ...facts, why } });
    return;
  }
  if (decision.kind === 'withdraw') {
    const { id, kind } = decision.cause;
    const facts = { cause: id, kind, message: messageId, ...lag };
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

/** The counter of a decision: `recorded`, `unconfirmed`, `refuted`, `dropped:test`, ... */
export const outcomeOf = (decision: MessageDecision): string => {
  if (decision.kind === 'record') {
    if (isConfirmed(decision.cause)) return 'recorded';
    return isRefuted(decision.cause) ? 'refuted' : 'unconfirmed';
  }
  if (decision.kind === 'withdraw') return 'withdrawn';
  return `${decision.kind === 'drop' ? 'dropped' : 'kept'}:${decision.why}`;
};
