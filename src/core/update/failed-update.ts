// The version update that a group's nodes still suffer from: its last one, when that failed. A later one that is
// Successful ends it, a stopped one does not. Pure.
import type { HealthIssue } from '../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../api/nodegroup-update.ts';

export interface FailedUpdate {
  readonly name: string;
  readonly issues: readonly HealthIssue[];
}

/** Codes of an update that are none of a group's health (EKS API reference, Issue). */
const notOfHealth = new Set(['OperationNotPermitted', 'ConfigurationConflict']);

const issueOf = (name: string, { code, message, resourceIds }: HealthIssue): HealthIssue => ({
  code: notOfHealth.has(code) ? 'Unknown' : code,
  message: `Update ${name} failed: ${message}`,
  resourceIds,
});

export const failedUpdateOf = (
  updates: readonly NodeGroupUpdate[],
  groupName: string,
): FailedUpdate | undefined => {
  const last = updates
    .filter(
      ({ spec, status }) =>
        spec.nodeGroup === groupName &&
        spec.type === 'VersionUpdate' &&
        (status?.status === 'Failed' || status?.status === 'Successful'),
    )
    .toSorted(
      (a, b) =>
        (a.status?.endedAt ?? '').localeCompare(b.status?.endedAt ?? '') ||
        a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp),
    )
    .at(-1);
  if (last?.status?.status !== 'Failed') return undefined;
  const { name } = last.metadata;
  const { errors = [], message = '' } = last.status;
  const known = errors.length > 0 ? errors : [{ code: 'Unknown', message, resourceIds: [] }];
  return { name, issues: known.map((error) => issueOf(name, error)) };
};
