// Which revision a node is of: read off the world at every look, never counted. Pure.
import { defined } from '../../../api/defined.ts';
import type { Node } from '../../../api/kube.ts';
import type { NodeGroupSpec } from '../../../api/nodegroup.ts';
import type { NodeGroupChange, NodeGroupUpdate, Revision } from '../../../api/nodegroup-update.ts';

const imageLabel = 'eks.amazonaws.com/nodegroup-image';
const templateVersionLabel = 'eks.amazonaws.com/sourceLaunchTemplateVersion';

/** Drover's own strategy puts it on old nodes: pods that move land on new ones. */
export const outdatedTaint = 'drover.dev/outdated';

/**
 * Whether an instance is what the update makes: started from its template version or a later one
 * (labels make versions too, which keep the image), or a node that says so itself: that is how an
 * update that is asked for again finds what the last one has done. Without a template version nodes
 * alone say.
 */
export const isOfRevision = (
  target: Pick<Revision, 'imageId' | 'launchTemplate'> & { readonly templateVersion?: string },
  /** `restored`: the version that is again what was before the update, and all after it. */
  template: { readonly version: string | undefined; readonly restored: string | undefined },
  node: Node | undefined,
): boolean => {
  const startedFrom = Number(template.version ?? 0);
  const isLater = startedFrom >= Number(target.templateVersion);
  if (isLater && !(startedFrom >= Number(template.restored))) return true;
  const labels = node?.metadata.labels ?? {};
  if (labels[imageLabel] !== target.imageId) return false;
  const version = target.launchTemplate?.version;
  return version === undefined || labels[templateVersionLabel] === version;
};

/**
 * The node has the labels that EKS waits for. User data that comes with an image of one's own may
 * set none.
 */
export const hasGroupLabels = (
  node: Node,
  { group, imageId, isCustom }: { group: string; imageId: string; isCustom: boolean },
): boolean => {
  const labels = node.metadata.labels ?? {};
  const label = labels['eks.amazonaws.com/nodegroup'];
  const isLabelled = label === group || (isCustom && label === undefined);
  return isLabelled && (labels[imageLabel] ?? imageId) === imageId;
};

/** `1.32.9-20260905` is of 1.32; Bottlerocket's own versions say nothing of Kubernetes. */
const versionOfRelease = (releaseVersion: string | undefined): string | undefined =>
  /^(\d+\.\d+)\.\d+-\d{8}$/.exec(releaseVersion ?? '')?.[1];

/** The spec with a version update's change in it; changing it twice gives the same. */
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
 * Whether an update asks for what the spec does. What its change is silent of it took from the spec
 * of then, and that must be what the spec still says.
 */
export const isAskedBy = (
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
