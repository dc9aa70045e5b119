// Public entry of the notices: parses one message body to a Notice.
export { maxNoticeBytes, parseNotice } from './parse.ts';
