// Health issues of the node group itself: permanently refused effects, invalid marks, an Auto
// Scaling group that is foreign or does not exist. Writes nothing.
import { autoScalingGroupNameOf, type HealthIssue, type NodeGroup } from '../../api/nodegroup.ts';
import { codeOfRefusal, marksComplaint, type Ownership } from '../../core/nodegroup/index.ts';
import { CloudError } from '../../ports/index.ts';
import { Impossible } from './impossible.ts';

/** The health issue of a permanent refusal; undefined if retrying may help. */
export const issueOfRefusal = (error: unknown, name: string): HealthIssue | undefined => {
  if (error instanceof Impossible) return error.issue;
  if (!(error instanceof CloudError) || error.retry !== 'never') return undefined;
  // Created by an earlier try or another actor; the next read shows which.
  if (/already exists|already in use/i.test(error.message)) return undefined;
  const code =
    error.code === 'AccessDenied'
      ? 'AccessDenied'
      : codeOfRefusal(error.message, 'AutoScalingGroupInvalidConfiguration');
  return { code, message: error.message, resourceIds: [name] };
};

/**
 * The group's own health issues, without findings about its instances. `found`: the cloud's group
 * of this name.
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
