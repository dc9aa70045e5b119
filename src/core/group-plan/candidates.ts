// The instances of a group among which a scale-in chooses, with what is known of each. Pure.
import type { ScalingInstance } from '../../api/cloud.ts';
import { byAge, type Candidate } from '../nodegroup/index.ts';
import type { Records } from './observation.ts';

/** The node of an instance, as far as a scale-in asks. */
export interface MemberNode {
  readonly isReady: boolean;
  readonly isCordoned: boolean;
}

export interface CandidateFacts {
  readonly instances: readonly ScalingInstance[];
  /** By instance id. */
  readonly nodes: ReadonlyMap<string, MemberNode>;
  readonly records: Records;
  /** When each instance was launched, RFC 3339. */
  readonly startedAt: ReadonlyMap<string, string>;
}

/** A node counts as occupied until its pods have been looked at. */
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

/** Lists of pods that one scale-in asks for: of those that would go next otherwise. */
const maxLooked = 50;

/** Ids of the instances whose pods are looked at; none where all go: the order does not matter. */
export const idsToLook = (candidates: readonly Candidate[], missing: number): readonly string[] => {
  if (candidates.length <= missing) return [];
  const open = candidates.filter(({ isProtected }) => !isProtected);
  return byAge(open)
    .slice(0, maxLooked)
    .map(({ instanceId }) => instanceId);
};

/** The candidates after their pods were looked at. */
export const withEmpty = (
  candidates: readonly Candidate[],
  missing: number,
  empty: ReadonlySet<string>,
): readonly Candidate[] =>
  candidates.length <= missing
    ? candidates
    : candidates.map((one) => ({ ...one, isEmpty: empty.has(one.instanceId) }));
