// Which requests count as writes of the controller's reconciliation. Judges nothing.
import type { Request } from '../../state/book.ts';

/** Ignored: written periodically by design, or for operators. */
export const unrelated: ReadonlySet<string> = new Set(['leases', 'events', 'nodegroups']);

const reads = new Set(['get', 'list', 'watch']);

/** A write that succeeded and was not a dry run. */
export const isWrite = ({ verb, dryRun, code }: Request): boolean =>
  !reads.has(verb) && !dryRun && code >= 200 && code < 300;
