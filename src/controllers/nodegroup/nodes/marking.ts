// Applies the labels and taints of a group's spec to its existing nodes, in one pass. If a patch is
// refused, the status names the node, the patch is retried, and the other nodes are patched. A node
// that registers again is patched again, with EKS' own labels.

import { type EpochMs, epochMs, parseTime } from '../../../api/brand.ts';
import type { ScalingGroup, ScalingInstance } from '../../../api/cloud.ts';
import { defined } from '../../../api/defined.ts';
import { type Node, resourceTypes } from '../../../api/kube.ts';
import { type HealthIssue, launchTemplateNameOf, type NodeGroup } from '../../../api/nodegroup.ts';
import { countedOf } from '../../../core/group-plan/index.ts';
import {
  lacksGroupLabel,
  type MarkPlace,
  type MarksStatus,
  markedBy,
  marksComplaint,
  mustMark,
  nodePatch,
  refusedMarks,
  wantedAnew,
} from '../../../core/nodegroup/index.ts';
import { KubeError } from '../../../ports/index.ts';
import { nodeOfInstance } from '../../informers.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { tell } from '../kube-events.ts';
import type { PassMemory } from '../pass-input.ts';

/** Another writer changed the node; the cache shows the change soon. */
const conflictMs = 1_000;
const againMs = 5_000;

export interface MarkTrouble {
  /** Reported at once if retrying cannot help, otherwise from the second failure on. */
  readonly issue?: HealthIssue;
  readonly retryAt: EpochMs;
}

export class Marking {
  readonly #deps: NodeGroupDeps;
  readonly #uids: PassMemory['nodeUids'];
  #owed: ReadonlySet<string>;

  constructor(deps: NodeGroupDeps, { status }: NodeGroup, { nodeUids }: PassMemory) {
    this.#deps = deps;
    this.#uids = nodeUids;
    this.#owed = new Set(status?.nodeMarks?.owed ?? []);
  }

  /** Patches each node that does not have the spec's labels and taints yet. */
  async apply(
    group: NodeGroup,
    scaling: ScalingGroup,
    signal: AbortSignal,
  ): Promise<MarkTrouble | undefined> {
    const before = group.status ?? {};
    const now = this.#deps.clock.now();
    const refused = new Map<string, { readonly node: string; readonly error: KubeError }>();
    const lost = this.#lost(scaling);
    for (const instance of countedOf(scaling)) {
      const { instanceId } = instance;
      const node = nodeOfInstance(this.#deps.nodes, instanceId);
      if (node === undefined) continue;
      const { name, uid } = node.metadata;
      const place = this.#placeOf(group, scaling, instance);
      const known = this.#uids.get(instanceId);
      // Once for each node that this process observes: a later removal of the label is intentional.
      const isBare = known === undefined && lacksGroupLabel(group, node);
      const isAnew = isBare || (known === undefined ? place.isOwed : known !== uid);
      let error: KubeError | undefined;
      if (isAnew) error = await this.#patchAnew(group, node, place, signal);
      else if (mustMark(group.spec, before, place, now)) {
        error = await this.#patch(group, node, group.spec, signal);
      }
      // A node counts as new until it has all labels and taints.
      if (error === undefined || !isAnew) this.#uids.set(instanceId, uid);
      if (error !== undefined) refused.set(instanceId, { node: name, error });
    }
    const tried = this.#owed;
    this.#owed = new Set([...refused.keys(), ...lost]);
    if (refused.size === 0) return undefined;
    const all = [...refused];
    const told = all.filter(
      ([id, { error }]) => error.retry === 'never' || (tried.has(id) && error.code !== 'Conflict'),
    );
    const isOnlyRaced = all.every(([, { error }]) => error.code === 'Conflict');
    const issue = refusedMarks(told.map(([, { node, error }]) => ({ node, ...facts(error) })));
    return {
      ...defined({ issue }),
      retryAt: epochMs(now + (isOnlyRaced ? conflictMs : againMs)),
    };
  }

  /**
   * The labels and taints that the nodes have from the spec; the earlier ones while the spec's are
   * invalid.
   */
  status(group: NodeGroup, scaling: ScalingGroup | undefined): MarksStatus {
    const { spec, status } = group;
    if (marksComplaint(spec) === undefined) {
      if (scaling === undefined) return {};
      const places = countedOf(scaling).map((one) => this.#placeOf(group, scaling, one));
      return markedBy(spec, status ?? {}, places, this.#deps.clock.now());
    }
    const { nodeLabels, nodeTaints, nodeMarks } = status ?? {};
    return {
      ...(nodeLabels && { nodeLabels }),
      ...(nodeTaints && { nodeTaints }),
      ...(nodeMarks && { nodeMarks }),
    };
  }

  /**
   * Instances that had a node and have none: the next node has only the labels it registers with.
   */
  #lost(scaling: ScalingGroup): readonly string[] {
    const ids = new Set(countedOf(scaling).map(({ instanceId }) => instanceId));
    for (const id of this.#uids.keys()) if (!ids.has(id)) this.#uids.delete(id);
    return [...ids].filter(
      (id) =>
        nodeOfInstance(this.#deps.nodes, id) === undefined &&
        (this.#uids.has(id) || this.#owed.has(id)),
    );
  }

  /** For a node that existed under another uid, or that still lacks labels or taints. */
  async #patchAnew(
    group: NodeGroup,
    node: Node,
    { instanceId, isCurrent }: MarkPlace,
    signal: AbortSignal,
  ): Promise<KubeError | undefined> {
    const [instance] = await this.#deps.cloud.describeInstances([instanceId], { signal });
    const wanted = wantedAnew(group, { imageId: instance?.imageId, isCurrent });
    const { name, uid } = node.metadata;
    const known = this.#uids.get(instanceId);
    const isMissing = nodePatch(node, wanted, group.status ?? {}) !== undefined;
    const error = await this.#patch(group, node, wanted, signal);
    // After a restart it is unknown which of these nodes existed under another uid.
    if (error !== undefined || !isMissing || known === undefined || known === uid) return error;
    const message =
      `Node ${name} of instance ${instanceId} registered again without the labels and taints ` +
      'of the node group: they were set';
    await tell(
      this.#deps,
      group,
      { type: 'Warning', reason: 'NodeMarksRestored', message },
      signal,
    );
    return undefined;
  }

  /** The refusal; undefined if the node has its labels and taints, or does not exist any more. */
  async #patch(
    group: NodeGroup,
    node: Node,
    wanted: Parameters<typeof nodePatch>[1],
    signal: AbortSignal,
  ): Promise<KubeError | undefined> {
    const { kube, nodes, log } = this.#deps;
    const body = nodePatch(node, wanted, group.status ?? {});
    if (body === undefined) return undefined;
    const { name } = node.metadata;
    try {
      const patch = { type: 'merge', body } as const;
      const found = await kube.patch(resourceTypes.nodes, { name }, patch, { signal });
      if (found.kind === 'found') {
        await nodes.observedAtLeast(found.object.metadata.resourceVersion, signal);
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const told = { group: group.metadata.name, node: name, error: error.message };
      if (error.code === 'Conflict') log.debug('a node was written meanwhile', told);
      else log.warn('labels and taints of a node group do not reach a node', told);
      return error;
    }
  }

  #placeOf(
    group: NodeGroup,
    { launchTemplate }: ScalingGroup,
    { instanceId, launchTemplateVersion }: ScalingInstance,
  ): MarkPlace {
    const joined = nodeOfInstance(this.#deps.nodes, instanceId)?.metadata.creationTimestamp;
    return {
      instanceId,
      isOwed: this.#owed.has(instanceId),
      joinedAt: joined === undefined ? undefined : parseTime(joined),
      // A template that is not Drover's, or whose image brings its own bootstrap, does not contain
      // the spec's marks.
      isCurrent:
        group.spec.amiType !== 'CUSTOM' &&
        launchTemplate?.name === launchTemplateNameOf(group) &&
        launchTemplate.version === launchTemplateVersion,
    };
  }
}

/** EKS' codes for the API server's errors. */
const facts = ({
  code,
  message,
}: KubeError): { readonly code: string; readonly message: string } => {
  if (code === 'Forbidden' || code === 'Unauthorized') return { code: 'AccessDenied', message };
  if (code === 'Invalid' || code === 'BadRequest') {
    return { code: 'KubernetesLabelInvalid', message };
  }
  const isSilent = code === 'Unreachable' || code === 'Timeout';
  return { code: isSilent ? 'ClusterUnreachable' : 'Unknown', message };
};
