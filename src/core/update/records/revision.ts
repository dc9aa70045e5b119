// The revision of a node, derived from the instance and node in every pass and never counted. Pure.
import { defined } from '../../../api/defined.ts';
import type { Node } from '../../../api/kube.ts';
import type { NodeGroupSpec } from '../../../api/nodegroup.ts';
import type { NodeGroupChange, NodeGroupUpdate, Revision } from '../../../api/nodegroup-update.ts';

const imageLabel = 'eks.amazonaws.com/nodegroup-image';
const templateVersionLabel = 'eks.amazonaws.com/sourceLaunchTemplateVersion';

/** Drover's own strategy sets this taint on old nodes, so that evicted pods land on new nodes. */
export const outdatedTaint = 'drover.dev/outdated';

/**
 * Whether an instance is of the target revision. Either it was launched from the target's template
 * version or a later one (label changes create versions, too, with the same image), or its node's
 * labels match. The labels let a repeated request find the nodes of an earlier update. Without a
 * template version only labels count; with `replaceEqual` only the template version does.
 */
export const isOfRevision = (
  target: Pick<Revision, 'imageId' | 'launchTemplate' | 'replaceEqual'> & {
    readonly templateVersion?: string;
  },
  /**
   * `restored`: the first version that again holds the revision from before the update; later
   * versions hold it, too.
   */
  template: { readonly version: string | undefined; readonly restored: string | undefined },
  node: Node | undefined,
): boolean => {
  const startedFrom = Number(template.version ?? 0);
  const isLater = startedFrom >= Number(target.templateVersion);
  if (isLater && !(startedFrom >= Number(template.restored))) return true;
  if (target.replaceEqual === true) return false;
  const labels = node?.metadata.labels ?? {};
  if (labels[imageLabel] !== target.imageId) return false;
  const version = target.launchTemplate?.version;
  return version === undefined || labels[templateVersionLabel] === version;
};

/** The node has the labels that EKS waits for. User data of a custom AMI may set none. */
export const hasGroupLabels = (
  node: Node,
  { group, imageId, isCustom }: { group: string; imageId: string; isCustom: boolean },
): boolean => {
  const labels = node.metadata.labels ?? {};
  const label = labels['eks.amazonaws.com/nodegroup'];
  const isLabelled = label === group || (isCustom && label === undefined);
  return isLabelled && (labels[imageLabel] ?? imageId) === imageId;
};

/**
 * `1.32.9-20260905` belongs to 1.32; Bottlerocket's release versions do not name the Kubernetes
 * version.
 */
const versionOfRelease = (releaseVersion: string | undefined): string | undefined =>
  /^(\d+\.\d+)\.\d+-\d{8}$/.exec(releaseVersion ?? '')?.[1];

/** The spec with a version update's change applied; idempotent. */
export const withRevision = (spec: NodeGroupSpec, change: NodeGroupChange): NodeGroupSpec => {
  const { releaseVersion: _before, ...rest } = spec;
  const { releaseVersion, launchTemplate } = change;
  return {
    ...rest,
    version: change.version ?? versionOfRelease(releaseVersion) ?? spec.version,
    ...defined({ releaseVersion, launchTemplate }),
  };
};

type Asked = Pick<NodeGroupSpec, 'version' | 'releaseVersion' | 'launchTemplate'>;

export const revisionAsked = ({ version, releaseVersion, launchTemplate }: Asked): Asked => ({
  version,
  ...defined({ releaseVersion, launchTemplate }),
});

export const sameRevisionAsked = (a: Asked, b: Asked): boolean =>
  a.version === b.version &&
  a.releaseVersion === b.releaseVersion &&
  a.launchTemplate?.id === b.launchTemplate?.id &&
  a.launchTemplate?.version === b.launchTemplate?.version;

/**
 * Whether an update requests the spec's revision. Fields missing from its change came from the spec
 * at that time, and must equal those of the current spec.
 */
export const isRequestedBy = (
  { spec: { change }, status }: Pick<NodeGroupUpdate, 'spec' | 'status'>,
  spec: NodeGroupSpec,
): boolean => {
  const { target } = status ?? {};
  if (target === undefined) return sameRevisionAsked(withRevision(spec, change), spec);
  const { launchTemplate: _now, ...rest } = spec;
  const { version, launchTemplate } = target;
  const then = { ...rest, version, ...defined({ launchTemplate }) };
  return sameRevisionAsked(withRevision(then, change), spec);
};
