// Public entry of the runtime, the base of all controllers. See docs/designs/runtime.md.
export { DeadlineError, linkedAbort, onAbort, sleepOrAbort, withDeadline } from './abort.ts';
export { Backoff, retry } from './backoff.ts';
export { describeError } from './errors.ts';
export { fencedCloud, fencedHttp, fencedKube, NotLeader } from './fence.ts';
export { allSynced, Informer } from './informer.ts';
export { InitialEvents } from './initial-events.ts';
export { LeaderElector } from './leader.ts';
export { measuredCloud, measuredKube } from './measured.ts';
export { mergePatchBetween } from './merge-diff.ts';
export type { Change } from './object-cache.ts';
export { ServerClock } from './server-clock.ts';
export { TaskRegistry } from './tasks.ts';
export { type PassResult, WorkQueue } from './work-queue.ts';
