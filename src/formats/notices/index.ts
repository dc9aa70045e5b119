// Public entry of the notices: one message body in, one Notice out.
export { maxNoticeBytes, parseNotice } from './parse.ts';
