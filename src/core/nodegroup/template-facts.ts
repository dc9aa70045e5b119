// What the launch template of new nodes is derived from: which images and instance types to read,
// and why the answers do not suffice. Pure.
import type { ClusterAccess, Image, LaunchTemplate } from '../../api/cloud.ts';
import type { HealthIssue, NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import { launchTemplateNameOf } from '../../api/nodegroup.ts';
import {
  familyOf,
  imagePattern,
  newestImage,
  releaseAmong,
  releaseComplaint,
  releaseOf,
} from './images.ts';
import { defaultInstanceType, type TemplateFacts, type TypeFacts } from './template.ts';

/** The revision that the template launches, for the group's status. */
export type Made = Pick<
  NodeGroupStatus,
  'imageId' | 'releaseVersion' | 'version' | 'launchTemplate'
>;

export interface TemplateReads {
  /** The user's template; undefined: the group names none, or it does not exist. */
  readonly source: LaunchTemplate | undefined;
  /** Images of the requested release, or of all where none is requested. */
  readonly images: readonly Image[];
  /** Images of all releases; empty unless the requested one was not found. */
  readonly otherImages: readonly Image[];
  readonly types: readonly TypeFacts[];
  /** Undefined: EKS does not know it. */
  readonly cluster: ClusterAccess | undefined;
  /** Id of the security group of remote access. */
  readonly remoteAccess: string | undefined;
}

type Source = Pick<TemplateReads, 'source'>;

const textOf = ({ source }: Source, name: string): string | undefined => {
  const value = source?.data[name];
  return typeof value === 'string' ? value : undefined;
};

const releaseFor = ({ spec, status }: NodeGroup) => ({
  amiType: spec.amiType,
  version: spec.version,
  release: spec.releaseVersion ?? status?.releaseVersion,
});

/**
 * Patterns of the image names to read; undefined: the template names its image, or the family has
 * none. `all`: for the message if `wanted` finds none.
 */
export const imagesToRead = (
  group: NodeGroup,
  reads: Source,
): { readonly wanted: string; readonly all: string } | undefined => {
  const family = familyOf(group.spec.amiType);
  if (family === undefined || textOf(reads, 'ImageId') !== undefined) return undefined;
  const { version, release } = releaseFor(group);
  return {
    wanted: imagePattern(family, version, release),
    all: imagePattern(family, version, undefined),
  };
};

/** Whether the images contain the requested release. */
export const hasRelease = (group: NodeGroup, images: readonly Image[]): boolean =>
  releaseAmong(releaseFor(group), images) !== undefined;

export const typesToRead = ({ spec }: NodeGroup, reads: Source): readonly string[] => {
  const own = textOf(reads, 'InstanceType');
  if (own !== undefined) return [own];
  return spec.instanceTypes.length > 0 ? spec.instanceTypes : [defaultInstanceType];
};

const imageFor = (
  group: NodeGroup,
  reads: TemplateReads,
): (Made & { readonly imageId: string }) | HealthIssue => {
  const { amiType, version } = group.spec;
  const refused = (message: string) => ({ code: 'AmiIdNotFound', message, resourceIds: [] });
  const family = familyOf(amiType);
  if (family === undefined) return refused(`This version of Drover has no image for ${amiType}.`);
  const image = newestImage(reads.images);
  if (image === undefined || !hasRelease(group, reads.images)) {
    const newest = newestImage(reads.otherImages);
    const there =
      newest === undefined
        ? `There is no image of ${amiType} for it.`
        : `The newest of ${amiType} is ${releaseOf(family, newest, version)}.`;
    return refused(`${releaseComplaint(releaseFor(group))} ${there}`);
  }
  return { imageId: image.id, releaseVersion: releaseOf(family, image, version) };
};

export type TemplateFactsRead =
  | { readonly kind: 'known'; readonly facts: TemplateFacts; readonly made: Made }
  | { readonly kind: 'refused'; readonly issue: HealthIssue };

const refused = (code: string, message: string, id: string): TemplateFactsRead => ({
  kind: 'refused',
  issue: { code, message, resourceIds: [id] },
});

/** `imageId`: an image to use instead of the newest one. */
export const templateFactsOf = (
  group: NodeGroup,
  reads: TemplateReads,
  imageId?: string,
): TemplateFactsRead => {
  const { launchTemplate } = group.spec;
  const { source, types, cluster, remoteAccess } = reads;
  if (launchTemplate !== undefined && source === undefined) {
    const { id, version } = launchTemplate;
    const message = `Launch template ${id} version ${version} could not be found.`;
    return refused('Ec2LaunchTemplateNotFound', message, id);
  }
  const own = imageId ?? textOf(reads, 'ImageId');
  const made = own === undefined ? imageFor(group, reads) : { imageId: own };
  if ('code' in made) return { kind: 'refused', issue: made };
  const unknown = typesToRead(group, reads).find((name) => !types.some((one) => one.name === name));
  if (unknown !== undefined) {
    const message = `The following supplied instance types do not exist: [${unknown}]`;
    return refused('Ec2InstanceTypeDoesNotExist', message, unknown);
  }
  const { securityGroupId, ...access } = cluster ?? {};
  const facts = {
    group,
    name: launchTemplateNameOf(group),
    source: source?.data,
    imageId: made.imageId,
    types,
    securityGroups: [securityGroupId, remoteAccess].filter((id) => id !== undefined),
    cluster: access,
  };
  return { kind: 'known', facts, made };
};
