// Public entry of the log adapter.
export { createLog, logLevels } from './log.ts';
