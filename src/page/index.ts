// Public entry of the page's server side. See docs/designs/page.md.
export { PageHub } from './hub.ts';
export { JournalRing } from './journal-ring.ts';
export { actRights, judge, type Operator, readRights } from './operators.ts';
