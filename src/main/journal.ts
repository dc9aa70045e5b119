// The journal's way into the log: one line an entry. Keeps nothing.
import type { Journal, Log } from '../ports/index.ts';

export const journalTo = (log: Log): Journal => ({
  record: ({ type, subject, facts }) => log.info(type, { subject, ...facts }),
});
