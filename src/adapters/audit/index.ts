// Public entry of the audit log adapter.
export { AuditFile } from './file.ts';
