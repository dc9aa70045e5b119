// The target revision of the group, by the rules of an update. An impossible target is reported in
// the plan instead of refused. Reads only.
import { defined } from '../../api/defined.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import {
  familyOf,
  imagePattern,
  newestImage,
  sameOwnTemplate,
} from '../../core/nodegroup/index.ts';
import type { Snapshot } from '../../core/update/preflight/index.ts';
import type { CloudApi } from '../../ports/index.ts';
import { CommandError } from '../context.ts';
import { type Asked, changeWanted } from '../update/request.ts';
import type { Collector } from './collect.ts';

type Target = Snapshot['target'];

const templateFacts = async (
  cloud: CloudApi,
  template: { readonly id: string; readonly version: string } | undefined,
): Promise<Pick<Target, 'launchTemplate' | 'instanceTypes' | 'imageId'>> => {
  if (template === undefined) return {};
  const { id, version } = template;
  const found = await cloud.describeLaunchTemplate({ id, version });
  const { instanceType, imageId } = found ?? {};
  return {
    launchTemplate: { id, version },
    ...(instanceType === undefined ? {} : { instanceTypes: [instanceType] }),
    ...defined({ imageId }),
  };
};

const imageOf = async (
  cloud: CloudApi,
  { spec }: NodeGroup,
  wanted: { readonly version: string | undefined; readonly releaseVersion: string | undefined },
): Promise<Pick<Target, 'imageId' | 'architecture'>> => {
  const family = familyOf(spec.amiType);
  const { version, releaseVersion } = wanted;
  if (family === undefined || version === undefined) return {};
  const image = newestImage(
    await cloud.describeImages(imagePattern(family, version, releaseVersion)),
  );
  return {
    architecture: family.architecture,
    ...(image === undefined ? {} : { imageId: image.id }),
  };
};

/** Images of releases were found by name; an image in a template may have been deleted. */
const missingImage = async (
  cloud: CloudApi,
  { imageId }: Pick<Target, 'imageId'>,
): Promise<Pick<Target, 'missingImage'>> => {
  if (imageId === undefined || imageId.startsWith('resolve:ssm:')) return {};
  return (await cloud.findImage(imageId)) === undefined ? { missingImage: imageId } : {};
};

interface Around {
  readonly group: NodeGroup;
  readonly clusterVersion: string | undefined;
  /** EKS creates a new version for a different version number, Drover for different content. */
  readonly managedBy: 'drover' | 'eks';
  /** The version of the derived template that the Auto Scaling group uses. */
  readonly inUse: string | undefined;
  /** The update creates a new version even if the one in use has the same content. */
  readonly replaceEqual: boolean;
  /** Why no update can replace the group's instances. */
  readonly complaint: string | undefined;
}

/**
 * Whether the group's new nodes would be created from the current content of its derived template.
 */
const isUnchanged = async (
  cloud: CloudApi,
  { group, managedBy, replaceEqual }: Around,
  target: Target,
): Promise<boolean> => {
  if (replaceEqual) return false;
  const { spec, status } = group;
  const isCustom = spec.amiType === 'CUSTOM';
  if (!isCustom && target.imageId !== status?.imageId) return false;
  const known = status?.launchTemplate ?? spec.launchTemplate;
  const asked = target.launchTemplate;
  if (known?.version === asked?.version) return true;
  // User data of images that AWS publishes contains the version number of the template.
  if (!isCustom || managedBy === 'eks' || known === undefined || asked === undefined) return false;
  const [inUse, next] = await Promise.all(
    [known, asked].map(({ id, version }) => cloud.findLaunchTemplate({ id, version })),
  );
  if (inUse === undefined || next === undefined) return false;
  return sameOwnTemplate(group, { inUse: inUse.data, asked: next.data });
};

const wanted = async (cloud: CloudApi, around: Around, asked: Asked): Promise<Target> => {
  const { group, inUse, complaint } = around;
  const { version, releaseVersion, launchTemplate } = await changeWanted(cloud, around, asked);
  const template = await templateFacts(cloud, launchTemplate ?? group.spec.launchTemplate);
  const image = await imageOf(cloud, group, { version, releaseVersion });
  const missing = await missingImage(cloud, { ...template, ...image });
  const target = {
    ...template,
    ...image,
    ...missing,
    ...defined({ version, releaseVersion }),
  };
  const isKept = inUse !== undefined && (await isUnchanged(cloud, around, target));
  if (isKept) return { ...target, templateVersion: inUse };
  return { ...target, ...defined({ problem: complaint }) };
};

/** Throws errors that are neither refusals by the rules nor missing permissions. */
export const readTarget = (
  cloud: CloudApi,
  collector: Collector,
  around: Around,
  asked: Asked,
): Promise<Target> => {
  const { version, releaseVersion } = asked;
  const named = {
    ...defined({ version, releaseVersion }),
  };
  return collector.read<Target>('images', named, async () => {
    try {
      return await wanted(cloud, around, asked);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return { ...named, problem: error.message };
    }
  });
};
