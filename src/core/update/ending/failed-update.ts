// The version update that a group's health reports: its last one, if that failed. A later
// Successful update clears it; a cancelled one does not, nor does a rollback while the spec
// requests the same revision again. Pure.
import type { HealthIssue, NodeGroup } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import { sameRevisionAsked, withRevision } from '../records/revision.ts';
import { inTurn, rollbackNameOf } from '../records/succession.ts';

export interface FailedUpdate {
  readonly name: string;
  readonly issues: readonly HealthIssue[];
}

const issueOf = (name: string, { code, message, resourceIds }: HealthIssue): HealthIssue => ({
  code,
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
    .toSorted(inTurn)
    .at(-1);
  if (last?.status?.status !== 'Failed') return undefined;
  const { name } = last.metadata;
  const { errors = [], message = '' } = last.status;
  const known = errors.length > 0 ? errors : [{ code: 'Unknown', message, resourceIds: [] }];
  return { name, issues: known.map((error) => issueOf(name, error)) };
};

/** Cancelled while it waited to start: it changed nothing. */
const isNothing = ({ status }: NodeGroupUpdate): boolean =>
  status?.status === 'Cancelled' && status.target === undefined;

/**
 * The update that failed and was rolled back, if the spec requests its revision again, as tools
 * that reapply manifests do. It is not retried for that reason alone. Undefined: the spec requests
 * another revision, or an update was requested since.
 */
export const failedRequestOf = (
  updates: readonly NodeGroupUpdate[],
  { metadata, spec }: Pick<NodeGroup, 'metadata' | 'spec'>,
): FailedUpdate | undefined => {
  const last = updates
    .filter(
      (one) =>
        one.spec.nodeGroup === metadata.name &&
        one.spec.type === 'VersionUpdate' &&
        one.status?.startedAt !== undefined &&
        !isNothing(one),
    )
    .toSorted(inTurn)
    .at(-1);
  const failed = updates.find(
    (one) => one.status?.goesBack !== undefined && rollbackNameOf(one) === last?.metadata.name,
  );
  if (failed === undefined) return undefined;
  if (!sameRevisionAsked(withRevision(spec, failed.spec.change), spec)) return undefined;
  const { name } = failed.metadata;
  const why = failed.status?.errors?.[0];
  const { code = 'Unknown', resourceIds = [] } = why ?? {};
  const message =
    `${why?.message ?? ''} It was taken back, and the spec asks for the same again: \`drover ` +
    `update nodegroup ${metadata.name}\` tries it again, or change the spec.`;
  return { name, issues: [issueOf(name, { code, message, resourceIds })] };
};
