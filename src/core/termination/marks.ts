// The marks on a node being drained: which are missing, which are ours, how to set them in eks and
// native mode, how to remove ours and no others. Patches are data; nothing is sent.
import { defined } from '../../api/defined.ts';
import type { OwnedMarks } from '../../api/disruption.ts';
import { marks } from '../../api/disruption.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import type { Node, Taint } from '../../api/kube.ts';
import { parseJson } from '../../api/parse-json.ts';
import type { Step } from '../../api/plan.ts';
import type { Compat } from './observation.ts';

/**
 * A scheduler that has not seen the cordon may bind a pod up to this much later (as in Karpenter).
 */
export const settleMs = 5_000;

type PatchNode = Extract<Step, { kind: 'PatchNode' }>;

export const noMarks: OwnedMarks = {
  excludeLabel: false,
  unschedulable: false,
  taint: false,
  annotation: false,
};

const isOurTaint = (taint: Taint): boolean =>
  taint.key === marks.disruptedTaint && taint.effect === 'NoSchedule';

/** Marks on the node, set by any client. The label counts with any value. */
export const marksOn = (node: Node): OwnedMarks => ({
  excludeLabel: node.metadata.labels?.[marks.excludeFromLoadBalancers] !== undefined,
  unschedulable: node.spec.unschedulable === true,
  taint: node.spec.taints?.some(isOurTaint) ?? false,
  annotation: node.metadata.annotations?.[marks.annotation] !== undefined,
});

const names = ['excludeLabel', 'unschedulable', 'taint', 'annotation'] as const;
type Mark = (typeof names)[number];

const wanted: Readonly<Record<Compat, readonly Mark[]>> = {
  eks: ['excludeLabel', 'unschedulable'],
  native: names,
};

export const marksAreVisible = (node: Node, compat: Compat): boolean => {
  const present = marksOn(node);
  return wanted[compat].every((mark) => present[mark]);
};

interface MarksRecord {
  readonly disruption: unknown;
  readonly owned: OwnedMarks;
}

/** The annotation of native mode. */
const recordOn = (node: Node): MarksRecord | undefined => {
  const text = node.metadata.annotations?.[marks.annotation];
  if (text === undefined) return undefined;
  try {
    const record: unknown = parseJson(text);
    if (!isObject(record) || !isObject(record.owned)) return undefined;
    const { disruption, owned } = record;
    return {
      disruption,
      owned: {
        excludeLabel: owned.excludeLabel === true,
        unschedulable: owned.unschedulable === true,
        taint: owned.taint === true,
        annotation: owned.annotation === true,
      },
    };
  } catch {
    return undefined;
  }
};

/** The marks that the node's annotation (native mode) records as ours for this disruption. */
export const recordedOn = (node: Node, disruption: string): OwnedMarks | undefined => {
  const record = recordOn(node);
  return record?.disruption === disruption ? record.owned : undefined;
};

/**
 * The marks that the node's annotation records for any disruption, if they still have Drover's
 * value.
 */
export const ownedOn = (node: Node): OwnedMarks =>
  stillOurs(node, recordOn(node)?.owned ?? noMarks);

/**
 * The marks that are ours once the missing ones are set: those missing at present, and those
 * already ours. A mark that another actor set is not ours.
 */
export const marksToOwn = (options: {
  readonly node: Node;
  readonly disruption: string;
  readonly compat: Compat;
  readonly before: OwnedMarks | undefined;
}): OwnedMarks => {
  const { node, disruption, compat } = options;
  const present = marksOn(node);
  const before = recordedOn(node, disruption) ?? options.before ?? noMarks;
  // Marks of ours stay ours when the mode changes, because no other actor would undo them.
  const own = (mark: Mark): boolean =>
    present[mark] ? before[mark] : wanted[compat].includes(mark);
  return {
    excludeLabel: own('excludeLabel'),
    unschedulable: own('unschedulable'),
    taint: own('taint'),
    annotation: own('annotation'),
  };
};

const patch = (node: Node, body: JsonObject, why: string): PatchNode => ({
  kind: 'PatchNode',
  node: node.metadata.name,
  uid: node.metadata.uid,
  resourceVersion: node.metadata.resourceVersion,
  patch: 'merge',
  body,
  why,
});

const taintJson = ({ key, value, effect, timeAdded }: Taint): JsonObject => ({
  key,
  effect,
  ...defined({ value, timeAdded }),
});

/** The two patches that article 001 shows in the audit log: the label, then the cordon, no more. */
const eksSteps = (node: Node): readonly PatchNode[] => {
  const present = marksOn(node);
  const label = { metadata: { labels: { [marks.excludeFromLoadBalancers]: 'true' } } };
  const cordon = { spec: { unschedulable: true } };
  return [
    ...(present.excludeLabel ? [] : [patch(node, label, 'exclude it from load balancers')]),
    ...(present.unschedulable ? [] : [patch(node, cordon, 'cordon it')]),
  ];
};

/** A merge patch replaces the whole list of taints; it is safe only with the resourceVersion. */
const nativeSteps = (node: Node, disruption: string, owned: OwnedMarks): readonly PatchNode[] => {
  if (marksAreVisible(node, 'native')) return [];
  const present = marksOn(node);
  const { uid, resourceVersion } = node.metadata;
  const ours = { key: marks.disruptedTaint, effect: 'NoSchedule' };
  const taints = [...(node.spec.taints ?? []).map(taintJson), ours];
  const record = JSON.stringify({ disruption, owned });
  const body: JsonObject = {
    metadata: {
      uid,
      resourceVersion,
      annotations: { [marks.annotation]: record },
      ...(present.excludeLabel ? {} : { labels: { [marks.excludeFromLoadBalancers]: 'true' } }),
    },
    spec: { unschedulable: true, ...(present.taint ? {} : { taints }) },
  };
  return [patch(node, body, 'keep load balancers and new pods away')];
};

export const markSteps = (options: {
  readonly node: Node;
  readonly disruption: string;
  readonly compat: Compat;
  readonly owned: OwnedMarks;
}): readonly PatchNode[] =>
  options.compat === 'eks'
    ? eksSteps(options.node)
    : nativeSteps(options.node, options.disruption, options.owned);

/** Our marks that still have the value we set. */
const stillOurs = (node: Node, owned: OwnedMarks): OwnedMarks => ({
  excludeLabel:
    owned.excludeLabel && node.metadata.labels?.[marks.excludeFromLoadBalancers] === 'true',
  unschedulable: owned.unschedulable && node.spec.unschedulable === true,
  taint:
    owned.taint &&
    (node.spec.taints?.some((taint) => isOurTaint(taint) && (taint.value ?? '') === '') ?? false),
  annotation: owned.annotation && node.metadata.annotations?.[marks.annotation] !== undefined,
});

export const hasMarksOfOurs = (node: Node | undefined, owned: OwnedMarks | undefined): boolean =>
  node !== undefined && owned !== undefined && Object.values(stillOurs(node, owned)).some(Boolean);

/**
 * Undoing is a single patch, so the mark that only Drover sets shows whether it was applied. Marks
 * that remain after it belong to another actor, for example a cordon set just after a crash.
 */
export const isUndone = (node: Node, owned: OwnedMarks): boolean => {
  const witness = witnessOf(owned);
  return witness !== undefined && !marksOn(node)[witness];
};

const witnessOf = (owned: OwnedMarks): Mark | undefined =>
  owned.annotation ? 'annotation' : owned.excludeLabel ? 'excludeLabel' : undefined;

/**
 * The marks to undo. If the mark that shows whether an undo was applied is gone before the undo
 * starts, another mark takes its place.
 */
export const marksToUndo = (node: Node, owned: OwnedMarks): OwnedMarks => {
  const witness = witnessOf(owned);
  const others = hasMarksOfOurs(node, owned);
  return witness !== undefined && isUndone(node, owned) && others
    ? marksToUndo(node, { ...owned, [witness]: false })
    : owned;
};

/** One patch that removes our marks, with uid and resourceVersion in either mode. */
export const undoSteps = (node: Node, owned: OwnedMarks): readonly PatchNode[] => {
  const ours = stillOurs(node, owned);
  if (!Object.values(ours).some(Boolean)) return [];
  const { uid, resourceVersion } = node.metadata;
  const others = (node.spec.taints ?? []).filter((taint) => !isOurTaint(taint)).map(taintJson);
  const spec: JsonObject = {
    ...(ours.unschedulable ? { unschedulable: null } : {}),
    ...(ours.taint ? { taints: others.length > 0 ? others : null } : {}),
  };
  const body: JsonObject = {
    metadata: {
      uid,
      resourceVersion,
      ...(ours.excludeLabel ? { labels: { [marks.excludeFromLoadBalancers]: null } } : {}),
      ...(ours.annotation ? { annotations: { [marks.annotation]: null } } : {}),
    },
    ...(Object.keys(spec).length > 0 ? { spec } : {}),
  };
  return [patch(node, body, 'undo the marks of its drain')];
};
