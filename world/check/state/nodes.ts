// Nodes as the oracles see them: which marks they carry, who put each there, whether they are
// Ready. Who changed a mark is known a moment later, from the request that follows the object.
import { instanceIdOfProviderId } from '../../../src/api/brand.ts';
import { marks } from '../../../src/api/disruption.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { conditionStatus, objectsOf, textOf } from './read.ts';

export const markKinds = ['label', 'cordon', 'taint', 'annotation'] as const;
export type MarkKind = (typeof markKinds)[number];

/** `shared` = set by somebody else when it was ours, or just before we would: nobody's for sure. */
export type MarkOwner = 'us' | 'other' | 'shared';

export interface MarkChange {
  readonly kind: MarkKind;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Only `Nodes` writes it. */
export interface NodeState {
  readonly name: string;
  readonly uid: string;
  /** Set where a node of that name had been before. */
  readonly recreatedAt: number | undefined;
  instanceId: string;
  /** As its kubelet tells; undefined where it does not. */
  maxPods: number | undefined;
  ready: boolean;
  readySince: number | undefined;
  unreadySince: number | undefined;
  /** When its kubelet last fell silent (Ready is Unknown), and when that ended. */
  silentSince: number | undefined;
  heardAgainAt: number | undefined;
  goneAt: number | undefined;
  /** Value of each mark that is there. */
  readonly marks: Map<MarkKind, string>;
  readonly owners: Map<MarkKind, MarkOwner>;
  /** Marks of ours that somebody else took away. */
  readonly lostToOthers: Set<MarkKind>;
  readonly setByOthersAt: Map<MarkKind, number>;
  /** When somebody else last took a mark away. */
  foreignLossAt: number | undefined;
  /** What it says that it is made of. */
  image: string;
  templateVersion: string;
  /** An update's own marks: that it is an old one, and which update keeps the autoscaler away. */
  isOutdated: boolean;
  /** The sequence of groups that still has to roll it. */
  awaitedBy: string;
  shieldedBy: string;
  /** Nobody takes it for idle. */
  isKept: boolean;
  nodeGroup: string;
  /** By its provider id. */
  zone: string;
  joinedAt: number;
  /** Taints of others, as `key:effect`. */
  taints: ReadonlySet<string>;
  /** Those that the last change of the node took away. */
  lostTaints: readonly string[];
  /** Mark changes that no request has been named for yet. */
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

/** Of a drain, and of an update on nodes that are still to be replaced. */
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

  /** The node of an instance, gone or not. */
  lastOfInstance(instanceId: string): NodeState | undefined {
    return this.#byInstance.get(instanceId);
  }

  /** True when something changed that matters to a drain. */
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

  /** Names the author of the pending mark changes of a node. */
  attribute(
    node: NodeState,
    options: {
      readonly isOurs: boolean;
      /** What we set may have been on its way for long: nobody can tell it from a person's. */
      readonly isLate: boolean;
      /** What others set we may have been about to set, and be said to have. */
      readonly isMeant: boolean;
      readonly at: number;
      /** What is younger than this, who writes now need not have seen. */
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

  /** A mark that somebody set just before our patch: we may have meant to set it ourselves. */
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
