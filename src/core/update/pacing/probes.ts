// The results of an update's health probes as holds or failures. The controller runs the probes.
// Pure.
import type { HealthIssue } from '../../../api/nodegroup.ts';
import type { Hold, Probe, ProbeResult } from '../../../api/update-pacing.ts';

export const defaultFailureThreshold = 3;
export const defaultIntervalSeconds = 30;

const thresholdOf = ({ failureThreshold = defaultFailureThreshold }: Probe): number =>
  failureThreshold;

/** No further node begins until the last result of every probe is a pass. */
export const probeHolds = (
  probes: readonly Probe[],
  results: readonly ProbeResult[],
): readonly Omit<Hold, 'since'>[] =>
  probes.flatMap((probe): readonly Omit<Hold, 'since'>[] => {
    const { name } = probe;
    const result = results.find((one) => one.name === name);
    if (result?.isPassing === true) return [];
    if (result === undefined) {
      return [{ kind: 'Probe', reason: `probe ${name} has not been looked at yet` }];
    }
    const most = thresholdOf(probe);
    const times = `${Math.min(result.failures, most)} of ${most} failures in a row`;
    return [{ kind: 'Probe', reason: `probe ${name} fails: ${result.message} (${times})` }];
  });

/** The probe failures that end the update. */
export const probeFailures = (
  groupName: string,
  probes: readonly Probe[],
  results: readonly ProbeResult[],
): readonly HealthIssue[] =>
  probes.flatMap((probe) => {
    const { name, onFailure = 'Hold' } = probe;
    const result = results.find((one) => one.name === name);
    const isOut =
      result !== undefined && !result.isPassing && result.failures >= thresholdOf(probe);
    if (onFailure === 'Hold' || !isOut) return [];
    const message =
      `Health probe ${name} of node group ${groupName} failed ${result.failures} times in a ` +
      `row: ${result.message}`;
    return [{ code: 'HealthProbeFailed', message, resourceIds: [groupName] }];
  });
