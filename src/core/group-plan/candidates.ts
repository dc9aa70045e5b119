// The instances among which a scale-in chooses, with the facts that the choice needs. Pure.
import type { ScalingInstance } from '../../api/cloud.ts';
import { byAge, type Candidate } from '../nodegroup/index.ts';
import type { Records } from './observation.ts';

/** The facts of an instance's node that a scale-in needs. */
export interface MemberNode {
  readonly isReady: boolean;
  readonly isCordoned: boolean;
}

export interface CandidateFacts {
  readonly instances: readonly ScalingInstance[];
  /** By instance id. */
  readonly nodes: ReadonlyMap<string, MemberNode>;
  readonly records: Records;
  /** Launch time of each instance, RFC 3339. */
  readonly startedAt: ReadonlyMap<string, string>;
}

/** A node counts as occupied until its pods have been read. */
export const candidatesFrom = (facts: CandidateFacts): readonly Candidate[] =>
  facts.instances.map((instance): Candidate => {
    const { instanceId } = instance;
    const node = facts.nodes.get(instanceId);
    const disruption = facts.records.get(instanceId);
    const isOpen = disruption !== undefined && disruption.status?.phase !== 'Ended';
    return {
      instanceId,
      zone: instance.availabilityZone,
      isProtected: instance.protectedFromScaleIn,
      isEmpty: node === undefined,
      isHealthy:
        instance.healthStatus !== 'Unhealthy' &&
        instance.lifecycleState === 'InService' &&
        node?.isReady === true,
      isDraining: isOpen || node?.isCordoned === true,
      templateVersion: Number(instance.launchTemplateVersion) || 0,
      startedAt: facts.startedAt.get(instanceId) ?? '',
    };
  });

/** Maximum number of instances whose pods one scale-in lists, in the order of termination. */
const maxLooked = 50;

/**
 * Ids of the instances whose pods to read; none if all are terminated, since the order does not
 * matter then.
 */
export const idsToLook = (candidates: readonly Candidate[], missing: number): readonly string[] => {
  if (candidates.length <= missing) return [];
  const open = candidates.filter(({ isProtected }) => !isProtected);
  return byAge(open)
    .slice(0, maxLooked)
    .map(({ instanceId }) => instanceId);
};

/** The candidates after their pods were read. */
export const withEmpty = (
  candidates: readonly Candidate[],
  missing: number,
  empty: ReadonlySet<string>,
): readonly Candidate[] =>
  candidates.length <= missing
    ? candidates
    : candidates.map((one) => ({ ...one, isEmpty: empty.has(one.instanceId) }));
