// Nodes as the oracles see them: their marks, who set each mark, and whether they are Ready. The
// author of a change becomes known from the request that follows the object in the trace.
import { instanceIdOfProviderId } from '../../../src/api/brand.ts';
import { marks } from '../../../src/api/disruption.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { conditionStatus, objectsOf, textOf } from './read.ts';

export const markKinds = ['label', 'cordon', 'taint', 'annotation'] as const;
export type MarkKind = (typeof markKinds)[number];

/**
 * `shared`: others set a mark of the controller, or set one just before it would; no sure owner.
 */
export type MarkOwner = 'us' | 'other' | 'shared';

export interface MarkChange {
  readonly kind: MarkKind;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Only `Nodes` writes these fields. */
export interface NodeState {
  readonly name: string;
  readonly uid: string;
  /** Set if an earlier node had the same name. */
  readonly recreatedAt: number | undefined;
  instanceId: string;
  /** From the node's allocatable pods; undefined if the node reports none. */
  maxPods: number | undefined;
  ready: boolean;
  readySince: number | undefined;
  unreadySince: number | undefined;
  /** When the kubelet last fell silent (Ready is Unknown), and when it reported again. */
  silentSince: number | undefined;
  heardAgainAt: number | undefined;
  goneAt: number | undefined;
  /** Value of each mark that the node carries. */
  readonly marks: Map<MarkKind, string>;
  readonly owners: Map<MarkKind, MarkOwner>;
  /** The controller's marks that others removed. */
  readonly lostToOthers: Set<MarkKind>;
  readonly setByOthersAt: Map<MarkKind, number>;
  /** When others last removed a mark. */
  foreignLossAt: number | undefined;
  /** Image and launch template version from the node's labels. */
  image: string;
  templateVersion: string;
  /** Marks of an update: the node is outdated; the update that disabled its scale-down. */
  isOutdated: boolean;
  /** The sequence that still has to update the group of the node. */
  awaitedBy: string;
  shieldedBy: string;
  /** The node carries the scale-down-disabled annotation. */
  isKept: boolean;
  nodeGroup: string;
  /** From the provider id. */
  zone: string;
  joinedAt: number;
  /** Taints that the controller does not manage, as `key:effect`. */
  taints: ReadonlySet<string>;
  /** The taints among them that the last change of the node removed. */
  lostTaints: readonly string[];
  /** Changed labels, taints and cordons for which the trace has not shown the request yet. */
  pending: MarkChange[];
}

const markValues = (object: JsonObject): ReadonlyMap<MarkKind, string> => {
  const metadata = objectOr(object.metadata);
  const spec = objectOr(object.spec);
  const found = new Map<MarkKind, string>();
  const label = objectOr(metadata.labels)[marks.excludeFromLoadBalancers];
  if (label !== undefined) found.set('label', textOf(label));
  if (spec.unschedulable === true) found.set('cordon', 'true');
  const taint = objectsOf(spec.taints).find((one) => one.key === marks.disruptedTaint);
  if (taint !== undefined) found.set('taint', textOf(taint.effect));
  const annotation = objectOr(metadata.annotations)[marks.annotation];
  if (annotation !== undefined) found.set('annotation', textOf(annotation));
  return found;
};

const noTaints: ReadonlySet<string> = new Set();

/** Taints of a drain, and of an update on nodes that it has yet to replace. */
const outdatedTaint = 'drover.dev/outdated';
const awaitingTaint = 'drover.dev/awaiting-update';
const ownTaints: ReadonlySet<string> = new Set([
  marks.disruptedTaint,
  outdatedTaint,
  awaitingTaint,
]);
const imageLabel = 'eks.amazonaws.com/nodegroup-image';
const templateLabel = 'eks.amazonaws.com/sourceLaunchTemplateVersion';
const groupLabel = 'eks.amazonaws.com/nodegroup';
const autoscalerAnnotation = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';

const foreignTaints = (object: JsonObject): ReadonlySet<string> => {
  const { taints } = objectOr(object.spec);
  if (taints === undefined) return noTaints;
  const others = objectsOf(taints).filter(({ key }) => !ownTaints.has(textOf(key)));
  return new Set(others.map(({ key, effect }) => `${textOf(key)}:${textOf(effect)}`));
};

export class Nodes {
  readonly byName = new Map<string, NodeState>();
  readonly #byInstance = new Map<string, NodeState>();

  ofInstance(instanceId: string): NodeState | undefined {
    const node = this.#byInstance.get(instanceId);
    return node?.goneAt === undefined ? node : undefined;
  }

  /** The latest node of an instance, even if it is deleted. */
  lastOfInstance(instanceId: string): NodeState | undefined {
    return this.#byInstance.get(instanceId);
  }

  /** Returns true if something changed that affects a drain. */
  apply(type: string, object: JsonObject, at: number): boolean {
    const metadata = objectOr(object.metadata);
    const name = textOf(metadata.name);
    const known = this.byName.get(name);
    if (type === 'DELETED') {
      if (known !== undefined) known.goneAt = at;
      return true;
    }
    const uid = textOf(metadata.uid);
    const isSame = known !== undefined && known.uid === uid && known.goneAt === undefined;
    const node: NodeState = isSame
      ? known
      : newNode({ name, uid, at, recreatedAt: known === undefined ? undefined : at });
    if (!isSame) this.byName.set(name, node);
    const instanceId = instanceIdOfProviderId(textOf(objectOr(object.spec).providerID)) ?? '';
    if (instanceId !== node.instanceId) {
      node.instanceId = instanceId;
      this.#byInstance.set(instanceId, node);
    }
    readMadeOf(node, object);
    const { pods } = objectOr(objectOr(object.status).allocatable);
    node.maxPods = typeof pods === 'string' ? Number(pods) : undefined;
    const wasReady = node.ready;
    node.ready = conditionStatus(objectOr(object.status), 'Ready') === 'True';
    if (node.ready !== wasReady) {
      node.readySince = node.ready ? at : undefined;
      node.unreadySince = node.ready ? undefined : at;
    }
    listen(node, object, at);
    const taints = foreignTaints(object);
    node.lostTaints = [...node.taints].filter((taint) => !taints.has(taint));
    node.taints = taints;
    const changed = this.#remark(node, markValues(object));
    return changed || !isSame || wasReady !== node.ready;
  }

  /** Attributes the pending mark changes of a node to their author. */
  attribute(
    node: NodeState,
    options: {
      readonly isOurs: boolean;
      /**
       * The controller's write may have been delayed; it cannot be told apart from an operator's.
       */
      readonly isLate: boolean;
      /**
       * The controller may have been about to set the mark that another client set, and may record
       * it.
       */
      readonly isMeant: boolean;
      readonly at: number;
      /** The author of this write may not have seen younger facts. */
      readonly lagMicros: number;
    },
  ): void {
    if (options.isOurs) this.#share(node, options);
    for (const { kind, from, to } of node.pending) {
      const owner = node.owners.get(kind);
      if (to === undefined) {
        node.owners.delete(kind);
        if (options.isOurs) node.lostToOthers.delete(kind);
        else {
          node.foreignLossAt = options.at;
          if (owner === 'us') node.lostToOthers.add(kind);
        }
      } else if (options.isOurs) {
        const by = options.isLate ? 'shared' : 'us';
        if (from === undefined || owner !== 'other') node.owners.set(kind, by);
      } else {
        const isOurs = owner === 'us' || node.lostToOthers.has(kind) || options.isMeant;
        node.owners.set(kind, isOurs ? 'shared' : 'other');
        node.setByOthersAt.set(kind, options.at);
      }
    }
    node.pending = [];
  }

  /**
   * Others set the mark just before the controller's patch, which may have been about to set it
   * too.
   */
  #share(
    node: NodeState,
    { at, lagMicros }: { readonly at: number; readonly lagMicros: number },
  ): void {
    for (const [kind, setAt] of node.setByOthersAt) {
      const isYoung = at - setAt <= lagMicros && node.owners.get(kind) === 'other';
      if (isYoung && node.marks.has(kind)) node.owners.set(kind, 'shared');
    }
  }

  #remark(node: NodeState, next: ReadonlyMap<MarkKind, string>): boolean {
    let changed = false;
    for (const kind of markKinds) {
      const from = node.marks.get(kind);
      const to = next.get(kind);
      if (from === to) continue;
      changed = true;
      node.pending.push({ kind, from, to });
      if (to === undefined) node.marks.delete(kind);
      else node.marks.set(kind, to);
    }
    return changed;
  }
}

const listen = (node: NodeState, { status }: JsonObject, at: number): void => {
  const wasSilent = node.silentSince !== undefined && node.heardAgainAt === undefined;
  const isSilent = conditionStatus(objectOr(status), 'Ready') === 'Unknown';
  if (isSilent && !wasSilent) {
    node.silentSince = at;
    node.heardAgainAt = undefined;
  } else if (!isSilent && wasSilent) node.heardAgainAt = at;
};

const readMadeOf = (node: NodeState, { metadata, spec }: JsonObject): void => {
  const { labels, annotations } = objectOr(metadata);
  const { [imageLabel]: image, [templateLabel]: template, [groupLabel]: group } = objectOr(labels);
  node.zone = textOf(objectOr(spec).providerID).split('/')[3] ?? '';
  node.image = textOf(image);
  node.templateVersion = textOf(template);
  node.nodeGroup = textOf(group);
  node.shieldedBy = textOf(objectOr(annotations)['drover.dev/scale-down-disabled-by']);
  node.isKept = objectOr(annotations)[autoscalerAnnotation] !== undefined;
  const { taints } = objectOr(spec);
  const awaiting = objectsOf(taints).find(({ key }) => key === awaitingTaint);
  node.awaitedBy = textOf(awaiting?.value);
  node.isOutdated = objectsOf(taints).some(({ key }) => key === outdatedTaint);
};

const newNode = ({
  name,
  uid,
  at,
  recreatedAt,
}: {
  readonly name: string;
  readonly uid: string;
  readonly at: number;
  readonly recreatedAt: number | undefined;
}): NodeState => ({
  name,
  uid,
  recreatedAt,
  image: '',
  zone: '',
  templateVersion: '',
  isOutdated: false,
  awaitedBy: '',
  shieldedBy: '',
  isKept: false,
  nodeGroup: '',
  joinedAt: at,
  instanceId: '',
  maxPods: undefined,
  ready: false,
  readySince: undefined,
  unreadySince: undefined,
  silentSince: undefined,
  heardAgainAt: undefined,
  goneAt: undefined,
  marks: new Map(),
  owners: new Map(),
  lostToOthers: new Set(),
  setByOthersAt: new Map(),
  foreignLossAt: undefined,
  taints: noTaints,
  lostTaints: [],
  pending: [],
});
