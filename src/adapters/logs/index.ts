// Public entry of the log file adapter.
export { openLogFile } from './file.ts';
