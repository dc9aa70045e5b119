// Labels and taints of a node group on its existing nodes: the changes that make a node equal to a
// new one. Never changes labels or taints that do not belong to the group. Pure.
import { type EpochMs, formatKubeTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Node, Taint } from '../../api/kube.ts';
import type {
  HealthIssue,
  NodeGroup,
  NodeGroupSpec,
  NodeGroupStatus,
} from '../../api/nodegroup.ts';
import { fnv1aHex } from '../fnv.ts';
import { nodeLabels } from './template.ts';

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

/** The complete list of taints for the node; undefined if it needs no change. */
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

/** A JSON merge patch; undefined if the node needs no change. */
export const nodePatch = (node: Node, wanted: Wanted, before: Marked): JsonObject | undefined => {
  const labels = labelChanges(node, wanted, before);
  const taints = taintsOf(node, wanted, before);
  const hasLabels = Object.keys(labels).length > 0;
  if (!hasLabels && taints === undefined) return undefined;
  const { uid, resourceVersion } = node.metadata;
  return {
    metadata: {
      // Another node may appear under this name.
      uid,
      // A merge patch replaces the whole list, so it must be based on the version that was read.
      ...(taints === undefined ? {} : { resourceVersion }),
      ...(hasLabels ? { labels } : {}),
    },
    ...(taints === undefined ? {} : { spec: { taints: taints.map((taint) => ({ ...taint })) } }),
  };
};

const imageLabel = 'eks.amazonaws.com/nodegroup-image';
const sourceVersionLabel = 'eks.amazonaws.com/sourceLaunchTemplateVersion';
const groupLabel = 'eks.amazonaws.com/nodegroup';

/**
 * The labels and taints for a node that registers again, or whose image brings its own bootstrap.
 * After CVE-2025-5187 the labels of such a node need not be those it started with. They come from
 * the spec, and EKS' own labels from the cloud's record of the instance.
 */
export const wantedAnew = (
  group: NodeGroup,
  { imageId, isCurrent }: { readonly imageId: string | undefined; readonly isCurrent: boolean },
): Wanted => {
  const { taints = [] } = group.spec;
  const {
    [imageLabel]: image,
    [sourceVersionLabel]: version,
    ...labels
  } = nodeLabels(group, imageId ?? '');
  return {
    labels: {
      ...labels,
      ...(imageId === undefined || image === undefined ? {} : { [imageLabel]: image }),
      ...(version === undefined || !isCurrent ? {} : { [sourceVersionLabel]: version }),
    },
    taints,
  };
};

/** EKS labels nodes of custom AMIs itself, since their bootstrap may not set the label. */
export const lacksGroupLabel = ({ spec }: Pick<NodeGroup, 'spec'>, node: Node): boolean =>
  spec.amiType === 'CUSTOM' && node.metadata.labels?.[groupLabel] === undefined;

/** Cached: requested for every node in every pass; a changed spec is another object. */
const digests = new WeakMap<Wanted, string>();

const digestOf = (wanted: Wanted): string => {
  const known = digests.get(wanted) ?? digest(wanted);
  digests.set(wanted, known);
  return known;
};

const digest = ({ labels = {}, taints = [] }: Wanted): string => {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const parts = taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`);
  return fnv1aHex(JSON.stringify([pairs.toSorted(), parts.toSorted()]));
};

/** A node of the group, or an instance that has none yet. */
export interface MarkPlace {
  readonly instanceId: string;
  /**
   * The last patch of its node was refused, or its Node was deleted while the instance still runs.
   */
  readonly isOwed: boolean;
  /** Undefined: it has not joined. */
  readonly joinedAt: EpochMs | undefined;
  /** Launched from the template version that new nodes use. */
  readonly isCurrent: boolean;
}

/** Maximum number of nodes named in the status. */
const maxOwed = 50;

/** Nodes that were starting while the spec changed join within this time, or not at all. */
const lateWithinMs = 15 * 60_000;

const isLate = ({ joinedAt, isCurrent, isOwed }: MarkPlace, since: number, now: EpochMs): boolean =>
  isOwed ||
  (!isCurrent && (joinedAt === undefined || (joinedAt >= since && now - joinedAt < lateWithinMs)));

/**
 * Whether to set the spec's labels and taints on a node: once when they change, and again after a
 * refused patch. A node that was starting meanwhile gets them when it joins. Later changes of a
 * node belong to its owners and agents.
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

/**
 * What the status records once every node was checked. It lets the controller remove keys that are
 * removed from the spec.
 */
export const markedBy = (
  wanted: Wanted,
  before: MarksStatus,
  places: readonly MarkPlace[],
  now: EpochMs,
): MarksStatus => {
  const { labels = {}, taints = [] } = wanted;
  const applied = digestOf(wanted);
  const owed = places.flatMap(({ instanceId, isOwed }) => (isOwed ? [instanceId] : [])).toSorted();
  // Too many to list: all nodes count as unfinished and are checked again.
  if (owed.length > maxOwed) {
    const { nodeLabels, nodeTaints, nodeMarks } = before;
    return {
      ...(nodeLabels && { nodeLabels }),
      ...(nodeTaints && { nodeTaints }),
      ...(nodeMarks && { nodeMarks }),
    };
  }
  const known = before.nodeMarks?.applied === applied ? before.nodeMarks : undefined;
  const since = known?.since ?? formatKubeTime(now);
  const nodeMarks = { applied, since, ...(owed.length === 0 ? {} : { owed }) };
  const someLate = known
    ? places.some((place) => isLate(place, Date.parse(known.since), now))
    : places.some(({ joinedAt, isOwed }) => joinedAt === undefined || isOwed);
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

/** The health issue of nodes whose patch was refused; undefined: there are none. */
export const refusedMarks = (
  refused: readonly { readonly node: string; readonly code: string; readonly message: string }[],
): HealthIssue | undefined => {
  const [first] = refused;
  if (first === undefined) return undefined;
  const more = refused.length > 1 ? ` and ${refused.length - 1} more` : '';
  return {
    code: first.code,
    message:
      `Labels and taints of the node group could not be set on node ${first.node}${more}: ` +
      `${first.message}`,
    resourceIds: refused.map(({ node }) => node),
  };
};
