// Turns disruptions into the drains that share budgets: which may evict, until when, and whether
// they force. Batch rule: nothing is evicted before every node of the batch shows its marks, or
// while further notices are arriving.

import { type EpochMs, epochMs, formatTime, parseTime } from '../../api/brand.ts';
import { isConfirmed, isInForce } from '../../api/confirmation.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption, NodeDisruptionStatus, WaitingOn } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  type Classified,
  type Drain,
  type ForceWindow,
  selfMovingOf,
  surgeUntil,
  surgeWaitMsOf,
} from '../drain/index.ts';
import { type Demand, wasHeld } from './causes.ts';
import { marksAreVisible } from './marks.ts';
import type { Compat } from './observation.ts';
import { phaseOf } from './status.ts';
import { awaitsTurn } from './turns.ts';
import { waitsOf } from './waits.ts';

/** A node that cannot be marked delays the others of its batch no longer than this. */
export const batchWaitMs = 5_000;
/** Notices less than this apart form one batch; a longer silence ends it. */
const batchQuietMs = 100;
const maxNamedNodes = 5;

/** The deadline in the status: it takes effect only once it is written. */
export const forceWindow = (
  demand: Demand,
  status: NodeDisruptionStatus,
  group: NodeGroup | undefined,
): ForceWindow | undefined => {
  if (demand.deadline === undefined) return undefined;
  const { forceIntervalSeconds = 0 } = group?.spec.drain ?? {};
  const startedAt = parseTime(status.heldUntil ?? status.startedAt) ?? demand.deadline;
  const intervals = {
    intervalMs: forceIntervalSeconds * 1000,
    intervalsFrom: epochMs(Math.max(startedAt, demand.forcingSince ?? startedAt)),
  };
  return {
    startedAt,
    deadline: demand.deadline,
    onDeadline: demand.onDeadline,
    safetyMs: demand.safetyMs,
    ...defined({ forceFrom: demand.forceFrom }),
    ...(forceIntervalSeconds === 0 ? {} : intervals),
  };
};

export interface Unmarked {
  readonly node: string;
  readonly receivedAt: EpochMs;
}

/** When a disruption was first requested; never, where none of its causes is confirmed. */
export const receivedAt = ({ spec }: NodeDisruption): EpochMs =>
  epochMs(
    Math.min(
      ...spec.causes.filter(isConfirmed).flatMap((cause) => parseTime(cause.receivedAt) ?? []),
    ),
  );

/** A disruption whose node still lacks its marks, with the time of its request. */
export const unmarkedOf = (
  disruption: NodeDisruption,
  node: Node | undefined,
  compat: Compat,
): Unmarked | undefined => {
  const phase = phaseOf(disruption);
  if (node === undefined || (phase !== 'Pending' && phase !== 'Marking')) return undefined;
  if (!disruption.spec.causes.some(isInForce)) return undefined;
  if (marksAreVisible(node, compat) || awaitsTurn(disruption, node)) return undefined;
  return { node: node.metadata.name, receivedAt: receivedAt(disruption) };
};

/** Values shared by every drain of one allocation. */
export interface Batch {
  readonly unmarked: readonly Unmarked[];
  /** The earliest time among `unmarked`. */
  readonly oldestUnmarkedAt: EpochMs | undefined;
  /** The two newest disruptions: at least one of them differs from any given drain. */
  readonly newest: readonly { readonly id: string; readonly receivedAt: EpochMs }[];
}

export const batchOf = (
  all: readonly {
    readonly id: string;
    readonly receivedAt: EpochMs;
    readonly unmarked: Unmarked | undefined;
  }[],
  now: EpochMs,
): Batch => {
  const unmarked = all.flatMap((each) => each.unmarked ?? []);
  const oldest = unmarked.reduce(
    (least, each) => Math.min(least, each.receivedAt),
    Number.POSITIVE_INFINITY,
  );
  // A time in the future comes from a skewed clock and does not count.
  const recent = all.filter((each) => {
    const age = now - each.receivedAt;
    return age >= 0 && age < batchQuietMs;
  });
  return {
    unmarked,
    oldestUnmarkedAt: Number.isFinite(oldest) ? epochMs(oldest) : undefined,
    newest: recent.toSorted((a, b) => b.receivedAt - a.receivedAt).slice(0, 2),
  };
};

type BatchBlocker = Extract<WaitingOn, { kind: 'batch' }>;

/** Why a marked drain waits: its batch is not marked or may still grow. Undefined: no wait. */
export const batchBlocker = (
  disruption: NodeDisruption,
  batch: Batch,
  now: EpochMs,
): BatchBlocker | undefined => {
  const markedAt = parseTime(disruption.status?.markedAt);
  if (markedAt === undefined) return undefined;
  const until = epochMs(markedAt + batchWaitMs);
  if (now >= until) return undefined;
  const { unmarked, oldestUnmarkedAt, newest } = batch;
  if (oldestUnmarkedAt !== undefined && oldestUnmarkedAt <= markedAt) {
    const nodes = unmarked.filter((each) => each.receivedAt <= markedAt);
    return {
      kind: 'batch',
      nodes: nodes.slice(0, maxNamedNodes).map(({ node }) => node),
      until: formatTime(until),
    };
  }
  const other = newest.find(({ id }) => id !== disruption.metadata.name);
  if (other === undefined) return undefined;
  const quietAt = epochMs(Math.min(until, other.receivedAt + batchQuietMs));
  return { kind: 'batch', nodes: [], until: formatTime(quietAt) };
};

/** The drain of a disruption; undefined while nothing can be evicted or it is on hold. */
export const drainOf = (options: {
  readonly disruption: NodeDisruption;
  readonly node: Node | undefined;
  readonly classified: Classified;
  readonly demand: Demand;
  readonly compat: Compat;
  readonly group?: NodeGroup | undefined;
}): Drain | undefined => {
  const { disruption, node, classified, demand, compat, group } = options;
  const { status } = disruption;
  if (status?.phase !== 'Draining' || node === undefined || demand.causes.length === 0) {
    return undefined;
  }
  if (demand.heldBy !== undefined || wasHeld(disruption)) return undefined;
  const marked = status.node?.uid === node.metadata.uid && marksAreVisible(node, compat);
  const recorded = new Set(status.boomerangs?.map(({ owner }) => owner));
  const window = forceWindow(demand, status, group);
  const waits = waitsOf({ demand, status, group, compat });
  const intended = window !== undefined && status.deadline === formatTime(window.deadline);
  return {
    id: disruption.metadata.name,
    node: node.metadata.name,
    pods: classified.evict.filter(
      ({ cameBackFor }) => cameBackFor === undefined || recorded.has(cameBackFor),
    ),
    mayEvict: marked,
    selfMoving: selfMovingOf(group),
    waits,
    surgeUntil: surgeUntil({
      startedAt: waits.startedAt,
      waitMs: surgeWaitMsOf(group),
      deadline: window?.deadline,
    }),
    forcing: intended && status.forcingSince !== undefined,
    ...defined({ window }),
  };
};
