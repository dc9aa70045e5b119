// Public entry of the formats: texts of others, parsed to our types and printed back.
export { parseNotice } from './notices/index.ts';
