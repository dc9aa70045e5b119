// Writes journal entries to the log, one line each. Keeps nothing.
import type { Journal, Log } from '../ports/index.ts';

export const journalTo = (log: Log): Journal => ({
  record: ({ type, subject, facts }) => log.info(type, { subject, ...facts }),
});
