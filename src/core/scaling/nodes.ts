// Labels and taints of a node group on the nodes that it has already: what to change on one node so
// that it is as a new one would be. Touches nothing that is not the group's. Pure.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Node, Taint } from '../../api/kube.ts';
import type { NodeGroupSpec, NodeGroupStatus } from '../../api/nodegroup.ts';

type Marked = Pick<NodeGroupStatus, 'nodeLabels' | 'nodeTaints'>;
export type MarksStatus = Pick<NodeGroupStatus, 'nodeLabels' | 'nodeTaints' | 'nodeMarks'>;
type Wanted = Pick<NodeGroupSpec, 'labels' | 'taints'>;

const sameKey = (
  a: { readonly key: string; readonly effect: string },
  b: { readonly key: string; readonly effect: string },
): boolean => a.key === b.key && a.effect === b.effect;

const labelChanges = (node: Node, wanted: Wanted, before: Marked): JsonObject => {
  const labels = wanted.labels ?? {};
  const has = node.metadata.labels ?? {};
  const set = Object.entries(labels).filter(([key, value]) => has[key] !== value);
  const gone = (before.nodeLabels ?? []).filter(
    (key) => labels[key] === undefined && has[key] !== undefined,
  );
  return { ...Object.fromEntries(set), ...Object.fromEntries(gone.map((key) => [key, null])) };
};

/** The node's whole list of taints as it should be; undefined when it is so. */
const taintsOf = (node: Node, wanted: Wanted, before: Marked): readonly Taint[] | undefined => {
  const taints = wanted.taints ?? [];
  const has = node.spec.taints ?? [];
  const missing = taints.filter(
    (taint) => !has.some((one) => sameKey(one, taint) && (one.value ?? '') === (taint.value ?? '')),
  );
  const isGone = (one: Taint): boolean =>
    (before.nodeTaints ?? []).some((taint) => sameKey(one, taint)) &&
    !taints.some((taint) => sameKey(one, taint));
  if (missing.length === 0 && !has.some(isGone)) return undefined;
  const kept = has.filter((one) => !isGone(one) && !missing.some((taint) => sameKey(one, taint)));
  return [...kept, ...missing];
};

/** A JSON merge patch; undefined when the node is as it should be. */
export const nodePatch = (node: Node, wanted: Wanted, before: Marked): JsonObject | undefined => {
  const labels = labelChanges(node, wanted, before);
  const taints = taintsOf(node, wanted, before);
  const hasLabels = Object.keys(labels).length > 0;
  if (!hasLabels && taints === undefined) return undefined;
  const { uid, resourceVersion } = node.metadata;
  return {
    metadata: {
      // Another node may come under this name.
      uid,
      // A whole list is written only over the list that was read.
      ...(taints === undefined ? {} : { resourceVersion }),
      ...(hasLabels ? { labels } : {}),
    },
    ...(taints === undefined ? {} : { spec: { taints: taints.map((taint) => ({ ...taint })) } }),
  };
};

/** FNV-1a; tells two specs apart, and is no secret. */
const digest = (text: string): string => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
};

const digestOf = ({ labels = {}, taints = [] }: Wanted): string => {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const parts = taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`);
  return digest(JSON.stringify([pairs.toSorted(), parts.toSorted()]));
};

/** A node of the group, or an instance that has none yet. */
export interface MarkPlace {
  /** Undefined: it has not joined. */
  readonly joinedAt: EpochMs | undefined;
  /** Started from the version of the template that new nodes start from. */
  readonly isCurrent: boolean;
}

/** Nodes that were starting while the spec changed join within this time, or not at all. */
const lateWithinMs = 15 * 60_000;

const isLate = ({ joinedAt, isCurrent }: MarkPlace, since: number, now: EpochMs): boolean =>
  !isCurrent && (joinedAt === undefined || (joinedAt >= since && now - joinedAt < lateWithinMs));

/**
 * Whether a node is to be made as the spec has it: each node once when labels or taints change, and one
 * that was starting meanwhile when it joins. Later changes of a node are its owners' and agents' own.
 */
export const mustMark = (
  wanted: Wanted,
  before: MarksStatus,
  place: MarkPlace,
  now: EpochMs,
): boolean => {
  const { nodeMarks } = before;
  if (nodeMarks?.applied !== digestOf(wanted)) return true;
  return isLate(place, Date.parse(nodeMarks.since), now);
};

/** What is remembered once every node was looked at, so that what leaves the spec leaves the nodes. */
export const markedBy = (
  wanted: Wanted,
  before: MarksStatus,
  places: readonly MarkPlace[],
  now: EpochMs,
): MarksStatus => {
  const { labels = {}, taints = [] } = wanted;
  const applied = digestOf(wanted);
  const known = before.nodeMarks?.applied === applied ? before.nodeMarks : undefined;
  const nodeMarks = known ?? { applied, since: formatKubeTime(now) };
  const someLate = known
    ? places.some((place) => isLate(place, Date.parse(known.since), now))
    : places.some(({ joinedAt }) => joinedAt === undefined);
  const keys = new Set([...Object.keys(labels), ...(someLate ? (before.nodeLabels ?? []) : [])]);
  const left = (before.nodeTaints ?? []).filter(
    (one) => someLate && !taints.some((taint) => sameKey(one, taint)),
  );
  return {
    nodeLabels: [...keys].toSorted(),
    nodeTaints: [...taints.map(({ key, effect }) => ({ key, effect })), ...left],
    nodeMarks,
  };
};
