// Public entry of the formats: texts of others, parsed to our types and printed back.

export { parseTemplateText } from './cloudformation-template.ts';
export { parseNotice } from './notices/index.ts';
