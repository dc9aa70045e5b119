// What a refused effect means for a node group: a health issue where no retry mends it. Tells nobody.
import type { HealthIssue } from '../../api/nodegroup.ts';
import { codeOfRefusal } from '../../core/scaling/index.ts';
import { CloudError } from '../../ports/index.ts';
import { Impossible } from './create.ts';

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
