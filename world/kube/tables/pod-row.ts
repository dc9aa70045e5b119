// The READY, STATUS and RESTARTS columns of a pod, and which container state determines them.
// Follows the order of the API server's printer (init containers first, last wins).
import type { JsonObject } from '../../../src/api/json.ts';
import { ageOf } from './human.ts';
import { at, mapAt, numberAt, objectsAt, textAt } from './read.ts';

interface Summary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
}

const exitText = (terminated: JsonObject): string => {
  const reason = textAt(terminated, 'reason');
  if (reason !== '') return reason;
  const signal = numberAt(terminated, 'signal');
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${numberAt(terminated, 'exitCode')}`;
};

const initReason = (pod: JsonObject): string | undefined => {
  const statuses = objectsAt(pod, 'status', 'initContainerStatuses');
  const total = objectsAt(pod, 'spec', 'initContainers').length;
  for (const [index, status] of statuses.entries()) {
    const terminated = mapAt(status, 'state', 'terminated');
    if (Object.keys(terminated).length > 0) {
      if (numberAt(terminated, 'exitCode') === 0) continue;
      return `Init:${exitText(terminated)}`;
    }
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    if (waiting !== '' && waiting !== 'PodInitializing') return `Init:${waiting}`;
    return `Init:${index}/${total}`;
  }
  return undefined;
};

const containerReason = (pod: JsonObject, phase: string): string => {
  let reason = phase;
  let running = false;
  const statuses = objectsAt(pod, 'status', 'containerStatuses');
  for (const status of statuses.toReversed()) {
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    const terminated = mapAt(status, 'state', 'terminated');
    if (waiting !== '') reason = waiting;
    else if (Object.keys(terminated).length > 0) reason = exitText(terminated);
    else if (status.ready === true && at(status, 'state', 'running') !== undefined) running = true;
  }
  if (reason === 'Completed' && running) return 'Running';
  return reason;
};

/** The cells of a pod's row at `nowMs`. */
export const summarizePod = (pod: JsonObject, nowMs: number): Summary => {
  const statuses = objectsAt(pod, 'status', 'containerStatuses');
  const total = objectsAt(pod, 'spec', 'containers').length;
  const ready = statuses.filter((status) => status.ready === true).length;
  const restarts = statuses.reduce((sum, status) => sum + numberAt(status, 'restartCount'), 0);
  const lastRestart = statuses
    .map((status) => textAt(status, 'lastState', 'terminated', 'finishedAt'))
    .filter((time) => time !== '')
    .sort()
    .at(-1);
  const gated = objectsAt(pod, 'status', 'conditions').some(
    (one) => one.type === 'PodScheduled' && one.reason === 'SchedulingGated',
  );
  const phase =
    textAt(pod, 'status', 'reason') || (gated ? 'SchedulingGated' : textAt(pod, 'status', 'phase'));
  let status = initReason(pod) ?? containerReason(pod, phase);
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== '') {
    status = textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  }
  const ago = lastRestart === undefined ? '' : ` (${ageOf(lastRestart, nowMs)} ago)`;
  return {
    ready: `${ready}/${total}`,
    status,
    restarts: restarts === 0 ? '0' : `${restarts}${ago}`,
  };
};
