// What is wrong with a node group by itself: a refused effect that no retry mends, marks that no
// node can have, a group that is another's or not there. Tells nobody.
import { autoScalingGroupNameOf, type HealthIssue, type NodeGroup } from '../../api/nodegroup.ts';
import { codeOfRefusal, marksComplaint, type Ownership } from '../../core/nodegroup/index.ts';
import { CloudError } from '../../ports/index.ts';
import { Impossible } from './impossible.ts';

/** What a refusal for good means for the group; undefined for what a retry may mend. */
export const issueOfRefusal = (error: unknown, name: string): HealthIssue | undefined => {
  if (error instanceof Impossible) return error.issue;
  if (!(error instanceof CloudError) || error.retry !== 'never') return undefined;
  // Ours from an earlier try, or somebody's: the next look tells.
  if (/already exists|already in use/i.test(error.message)) return undefined;
  const code =
    error.code === 'AccessDenied'
      ? 'AccessDenied'
      : codeOfRefusal(error.message, 'AutoScalingGroupInvalidConfiguration');
  return { code, message: error.message, resourceIds: [name] };
};

/**
 * Beside what was found out about its instances. `found`: what the cloud has under the group's
 * name.
 */
export const ownIssues = (
  trouble: Iterable<HealthIssue>,
  group: NodeGroup,
  found: { readonly ownership: Ownership } | undefined,
): readonly HealthIssue[] => {
  const name = autoScalingGroupNameOf(group);
  const { status, spec, metadata } = group;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  const wrong = marksComplaint(spec);
  const known = [...trouble];
  if (wrong !== undefined && !isLeaving) {
    known.unshift({ code: 'KubernetesLabelInvalid', message: wrong, resourceIds: [] });
  }
  if (found?.ownership.kind === 'foreign') {
    const code = 'AutoScalingGroupInvalidConfiguration';
    return [{ code, message: found.ownership.message, resourceIds: [name] }];
  }
  const was = status?.createdAt !== undefined || spec.autoScalingGroupName !== undefined;
  if (found !== undefined || !was || isLeaving) return known;
  const message = `Auto Scaling group ${name} does not exist.`;
  return [{ code: 'AutoScalingGroupNotFound', message, resourceIds: [name] }, ...known];
};
