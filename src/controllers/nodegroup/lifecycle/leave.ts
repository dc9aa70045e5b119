// What a pass over a node group that is being deleted does about its nodes: the drains that go on
// or begin, or why the last ones failed, and what is told of either. Makes no call.
import type { EpochMs } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import type { HealthIssue, NodeGroup, NodeGroupStatus } from '../../../api/nodegroup.ts';
import { isOfRequest } from '../../../core/nodegroup/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import type { PassMemory } from '../pass-input.ts';
import { scaleInFailure, viewScaleIn } from '../size/scale-in.ts';
import { leaveIssues } from './leaving-issues.ts';
import { deleteTry } from './remove.ts';

/** Causes of this request stay on the nodes, and no others. */
type Keep = (_: unknown, cause: { readonly id: string }) => boolean;

export interface LeaveTry {
  /** Undefined: nothing is drained now. */
  readonly scaleIn: NodeGroupStatus['scaleIn'] | undefined;
  readonly failure: NodeGroupStatus['failure'] | undefined;
  readonly issues: readonly HealthIssue[];
  readonly keep: Keep;
  /** When drains that failed begin again. */
  readonly dueAt: EpochMs | undefined;
}

export const leaveTry = (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  { held }: Pick<PassMemory, 'held'>,
): LeaveTry => {
  const now = deps.clock.now();
  const { scaleIn: begun, failure: last, dueAt } = deleteTry(group, now);
  const view = begun && viewScaleIn(deps, scaling, begun);
  const failed = view && scaleInFailure(group, view, now);
  const failure = failed ?? last;
  const scaleIn = failed === undefined ? begun : undefined;
  const issues = leaveIssues(group, { failure, draining: view?.draining, memory: held, now });
  const keep: Keep = (_, cause) => scaleIn !== undefined && isOfRequest(cause.id, scaleIn.id);
  return { scaleIn, failure, issues, keep, dueAt };
};
