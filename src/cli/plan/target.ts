// What the group is to become, by the rules of an update; what cannot be is told in the plan instead of
// refused. Reads only.
import type { NodeGroup } from '../../api/nodegroup.ts';
import { familyOf, imagePattern, newestImage } from '../../core/scaling/index.ts';
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
    ...(imageId === undefined ? {} : { imageId }),
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

const wanted = async (
  cloud: CloudApi,
  around: { readonly group: NodeGroup; readonly clusterVersion: string | undefined },
  asked: Asked,
): Promise<Target> => {
  const { group } = around;
  const { version, releaseVersion, launchTemplate } = await changeWanted(cloud, around, asked);
  const template = await templateFacts(cloud, launchTemplate ?? group.spec.launchTemplate);
  const image = await imageOf(cloud, group, { version, releaseVersion });
  return {
    ...template,
    ...image,
    ...(version === undefined ? {} : { version }),
    ...(releaseVersion === undefined ? {} : { releaseVersion }),
  };
};

/** Throws what is neither a refusal by the rules nor one by rights. */
export const readTarget = (
  cloud: CloudApi,
  collector: Collector,
  around: { readonly group: NodeGroup; readonly clusterVersion: string | undefined },
  asked: Asked,
): Promise<Target> => {
  const { version, releaseVersion } = asked;
  const named = {
    ...(version === undefined ? {} : { version }),
    ...(releaseVersion === undefined ? {} : { releaseVersion }),
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
