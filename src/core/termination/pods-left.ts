// Which pods keep a node from being empty: those to evict and, for an update without force, those
// that their owner recreates. Counts them; evicts nothing.

import { type EpochMs, parseTime } from '../../api/brand.ts';
import { isSilent } from '../../api/conditions.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption, NodeDisruptionStatus } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import { type Classified, type classifyPods, unstoppableFrom } from '../drain/index.ts';
import { causesInForce, type Demand, endsByItself } from './causes.ts';
import type { Observation } from './observation.ts';

type ClassifyOptions = Parameters<typeof classifyPods>[1];

export const isReturning = ({ reason }: Classified['skip'][number]): boolean =>
  reason === 'boomerang';

/** How many pods keep the node from being empty. */
export const inTheWay = ({ evict, skip }: Classified, { waitsForReturning }: Demand): number =>
  evict.length + (waitsForReturning ? skip.filter(isReturning).length : 0);

const kubeletIsUnreachable = (node: Node | undefined): boolean =>
  node !== undefined && isSilent(node);

/** Whether the instance is terminated after this drain, and with it the pods of a dead kubelet. */
export const takesInstance = (disruption: NodeDisruption): boolean =>
  causesInForce(disruption).some(
    ({ kind, followUp, hold }) =>
      endsByItself[kind] ||
      (hold !== true && (kind === 'Update' || followUp === 'Terminate' || followUp === 'Replace')),
  );

/** Whether terminating pods of a dead kubelet may be left to end with the instance. */
export const leavesPods = ({
  disruption,
  node,
}: Pick<Observation, 'disruption' | 'node'>): boolean =>
  kubeletIsUnreachable(node) && takesInstance(disruption);

/** When pods of a dead kubelet begin to count as gone. */
export const unstoppableTimes = (
  observation: Observation,
  { evict }: Classified,
): readonly EpochMs[] =>
  leavesPods(observation) ? evict.flatMap(({ pod }) => unstoppableFrom(pod) ?? []) : [];

/** The message about a node that is empty except for those pods. */
export const unstoppableText = ({ skip }: Classified): string | undefined => {
  const count = skip.filter(({ reason }) => reason === 'unstoppable').length;
  if (count === 0) return undefined;
  const pods = count === 1 ? '1 pod goes' : `${count} pods go`;
  return `the kubelet is unreachable: ${pods} with the instance`;
};

export const classifyOptions = (
  observation: Observation,
  { markedAt, boomerangs = [] }: Partial<NodeDisruptionStatus> = {},
): ClassifyOptions => ({
  markedAt: parseTime(markedAt),
  boomerangs,
  ...defined({ daemonSetIsGone: observation.daemonSetIsGone }),
  ...(leavesPods(observation) ? { unreachableAt: observation.now } : {}),
});
