// Disruptions as the drains that share budgets: which may evict, until when, with whose intent to
// force. The batch rule is here: nothing is evicted before every node of the batch shows its marks.
import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import type { NodeDisruption, NodeDisruptionStatus, WaitingOn } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { Classified, Drain, ForceWindow } from '../drain/index.ts';
import type { Demand } from './causes.ts';
import { marksAreVisible } from './marks.ts';
import type { Compat } from './observation.ts';
import { phaseOf } from './status.ts';

/** A node that cannot be marked holds up the others of its batch no longer than this. */
export const batchWaitMs = 5_000;
const maxNamedNodes = 5;

/** The deadline as the status has it: acted on only once it is written. */
export const forceWindow = (
  demand: Demand,
  status: NodeDisruptionStatus,
): ForceWindow | undefined => {
  if (demand.deadline === undefined) return undefined;
  return {
    startedAt: parseTime(status.startedAt) ?? demand.deadline,
    deadline: demand.deadline,
    onDeadline: demand.onDeadline,
    safetyMs: demand.safetyMs,
  };
};

export interface Unmarked {
  readonly node: string;
  readonly receivedAt: EpochMs;
}

/** A disruption whose node still lacks its marks, since when it was asked for. */
export const unmarkedOf = (
  disruption: NodeDisruption,
  node: Node | undefined,
  compat: Compat,
): Unmarked | undefined => {
  const phase = phaseOf(disruption);
  if (node === undefined || (phase !== 'Pending' && phase !== 'Marking')) return undefined;
  if (marksAreVisible(node, compat)) return undefined;
  const times = disruption.spec.causes.flatMap((cause) => parseTime(cause.receivedAt) ?? []);
  return { node: node.metadata.name, receivedAt: epochMs(Math.min(...times)) };
};

/** The nodes of its batch that a marked drain waits for, or undefined when it may go on. */
export const batchBlocker = (
  status: NodeDisruptionStatus,
  unmarked: readonly Unmarked[],
  now: EpochMs,
): Extract<WaitingOn, { kind: 'batch' }> | undefined => {
  const markedAt = parseTime(status.markedAt);
  if (markedAt === undefined) return undefined;
  const until = epochMs(markedAt + batchWaitMs);
  if (now >= until) return undefined;
  const nodes = unmarked.filter(({ receivedAt }) => receivedAt <= markedAt);
  if (nodes.length === 0) return undefined;
  return {
    kind: 'batch',
    nodes: nodes.slice(0, maxNamedNodes).map(({ node }) => node),
    until: formatTime(until),
  };
};

/** The drain of a disruption, or undefined while it has nothing to evict from. */
export const drainOf = (options: {
  readonly disruption: NodeDisruption;
  readonly node: Node | undefined;
  readonly classified: Classified;
  readonly demand: Demand;
  readonly unmarked: readonly Unmarked[];
  readonly compat: Compat;
  readonly now: EpochMs;
}): Drain | undefined => {
  const { disruption, node, classified, demand, unmarked, compat, now } = options;
  const { status } = disruption;
  if (status?.phase !== 'Draining' || node === undefined || demand.causes.length === 0) {
    return undefined;
  }
  const marked = status.node?.uid === node.metadata.uid && marksAreVisible(node, compat);
  const recorded = new Set(status.boomerangs?.map(({ owner }) => owner));
  const window = forceWindow(demand, status);
  const intended = window !== undefined && status.deadline === formatTime(window.deadline);
  return {
    id: disruption.metadata.name,
    node: node.metadata.name,
    pods: classified.evict.filter(
      ({ cameBackFor }) => cameBackFor === undefined || recorded.has(cameBackFor),
    ),
    mayEvict: marked && batchBlocker(status, unmarked, now) === undefined,
    forcing: intended && status.forcingSince !== undefined,
    ...(window === undefined ? {} : { window }),
  };
};
