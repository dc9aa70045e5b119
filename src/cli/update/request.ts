// Builds a version update as an object, after refusing impossible ones in EKS' words. The group
// determines the strategy; the controller carries the update out.

import { defined } from '../../api/defined.ts';
import { isObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import { newUpdate } from '../../api/new-update.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type {
  NodeGroupChange,
  NodeGroupUpdate,
  NodeGroupUpdateSpec,
} from '../../api/nodegroup-update.ts';
import {
  customImageComplaint,
  familyOf,
  hasImages,
  imagePattern,
  misfitComplaint,
  releaseAmong,
  releaseComplaint,
  releaseImages,
  releaseOf,
  sameTemplateComplaint,
  versionComplaint,
  versionParams,
  versionRefusal,
} from '../../core/nodegroup/index.ts';
import { openInTurn, updateNameOf } from '../../core/update/index.ts';
import { type CloudApi, type KubeApi, KubeError } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { listUpdates } from './read.ts';

export interface Asked {
  readonly version: string | undefined;
  readonly releaseVersion: string | undefined;
  readonly templateVersion: string | undefined;
}

const refuse = (complaint: string | undefined): void => {
  if (complaint !== undefined) throw new CommandError(exitCodes.refused, complaint);
};

const maxNamedReleases = 5;

/** The remedy: the existing releases, newest first. */
const releasesThere = async (
  cloud: CloudApi,
  amiType: string,
  version: string,
): Promise<string> => {
  const family = familyOf(amiType);
  const none = `There is no image of ${amiType} for it`;
  if (family === undefined) return none;
  if (!hasImages(amiType, version)) {
    return (
      `${none}: make a node group of a newer family (\`drover create nodegroup\`), then ` +
      'delete this one'
    );
  }
  const images = await cloud.describeImages(imagePattern(family, version, undefined));
  const releases = images
    .toSorted((a, b) => b.name.localeCompare(a.name, 'en', { numeric: true }))
    .map((image) => releaseOf(family, image, version));
  if (releases.length === 0) return none;
  const list = [...new Set(releases)].slice(0, maxNamedReleases).join(', ');
  return `The newest of ${amiType} are: ${list}`;
};

const releaseWanted = async (
  cloud: CloudApi,
  { spec }: NodeGroup,
  wanted: { readonly version: string; readonly release: string | undefined },
): Promise<string> => {
  const asked = { amiType: spec.amiType, ...wanted };
  const pattern = releaseImages(asked);
  const images = pattern === undefined ? [] : await cloud.describeImages(pattern);
  const found = releaseAmong(asked, images);
  if (found !== undefined) return found;
  const there = await releasesThere(cloud, spec.amiType, wanted.version);
  throw new CommandError(exitCodes.refused, `${releaseComplaint(asked)} ${there}`);
};

const templateWanted = async (
  cloud: CloudApi,
  { spec, status }: NodeGroup,
  version: string,
): Promise<NodeGroupChange['launchTemplate']> => {
  const now = spec.launchTemplate;
  if (now === undefined) {
    refuse(sameTemplateComplaint(undefined, {}));
    return undefined;
  }
  const find = (one: string) => cloud.findLaunchTemplate({ id: now.id, version: one });
  const [template, before] = await Promise.all([
    find(version),
    find(status?.launchTemplate?.version ?? now.version),
  ]);
  if (template === undefined) {
    refuse(`Launch template ${now.id} version ${version} could not be found.`);
    return undefined;
  }
  refuse(versionRefusal(spec, template, before)?.message);
  const type = template.data.InstanceType;
  const types = typeof type === 'string' ? await cloud.describeInstanceTypes([type]) : [];
  refuse(misfitComplaint(spec.amiType, types));
  return { id: template.id, name: template.name, version: template.version };
};

/** The target of the group; `clusterVersion` is undefined where EKS does not know the cluster. */
export const changeWanted = async (
  cloud: CloudApi,
  around: { readonly group: NodeGroup; readonly clusterVersion: string | undefined },
  asked: Asked,
): Promise<NodeGroupChange> => {
  const { group, clusterVersion } = around;
  const { spec, status } = group;
  const isCustom = spec.amiType === 'CUSTOM';
  const hasTemplate = asked.templateVersion !== undefined;
  if (isCustom) refuse(customImageComplaint({ ...asked, hasTemplate }));
  const now = status?.version ?? spec.version;
  const version = asked.version ?? now;
  refuse(versionComplaint(version, { cluster: clusterVersion ?? now, group: now }));
  const launchTemplate =
    asked.templateVersion === undefined
      ? undefined
      : await templateWanted(cloud, group, asked.templateVersion);
  const wanted = { version, release: asked.releaseVersion };
  return {
    ...(isCustom ? {} : { version, releaseVersion: await releaseWanted(cloud, group, wanted) }),
    ...defined({ launchTemplate }),
  };
};

export interface Request {
  readonly group: NodeGroup;
  readonly change: NodeGroupChange;
  readonly action: 'Update' | 'Rollback';
  readonly force: boolean;
  /** The API server checks the object and records nothing. */
  readonly dryRun?: boolean;
  /** Set for an update by a reviewed plan. */
  readonly planned?: Pick<
    NodeGroupUpdateSpec,
    'planHash' | 'predicted' | 'waivers' | 'strategy' | 'policies' | 'replaceEqual'
  >;
}

/** What a request contains besides the revision; two requests with different options differ. */
const askedFor = ({ change: _revision, params: _told, ...rest }: NodeGroupUpdateSpec): string =>
  JSON.stringify({ action: 'Update', ...rest }, (_, value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b)))
      : value,
  );

/**
 * The update is already recorded: by this command's first try, or by a changed spec. Throws where
 * the request has other options.
 */
const recordedAlready = (
  known: NodeGroupUpdate,
  spec: NodeGroupUpdateSpec,
  group: string,
): NodeGroupUpdate => {
  if (askedFor(known.spec) === askedFor(spec)) return known;
  const id = known.metadata.name;
  throw new CommandError(
    exitCodes.refused,
    `update ${id} of ${group} asks for the same revision, with other options: ` +
      `\`drover get update ${id} --watch\` shows it, \`drover abort update ${id}\` stops it`,
  );
};

/**
 * One request creates one object, however often it is retried. Throws CommandError while another
 * update of the group is in progress.
 */
export const requestUpdate = async (
  { kube }: { readonly kube: KubeApi },
  { group, change, action, force, planned = {}, dryRun = false }: Request,
): Promise<NodeGroupUpdate> => {
  const { name, uid, deletionTimestamp } = group.metadata;
  if (deletionTimestamp !== undefined) refuse(`node group ${name} is being deleted`);
  const spec: NodeGroupUpdateSpec = {
    nodeGroup: name,
    type: 'VersionUpdate',
    action,
    ...(force ? { force: true } : {}),
    ...planned,
    params: versionParams(change),
    change,
  };
  const updates = await listUpdates(kube, name);
  const id = updateNameOf(group, { change, action }, updates);
  const all = openInTurn(updates, group);
  const same = all.find(({ metadata }) => metadata.name === id);
  if (same !== undefined) return recordedAlready(same, spec, name);
  const [open] = all;
  if (open !== undefined) {
    const other = open.metadata.name;
    refuse(
      `update ${other} of ${name} is in progress, and there is one at a time: ` +
        `\`drover get update ${other} --watch\` shows it, \`drover abort update ${other}\` ` +
        'stops it',
    );
  }
  const type = resourceTypes.nodegroupupdates;
  const object = newUpdate({ name: id, owner: { name, uid }, spec });
  try {
    return await kube.create<NodeGroupUpdate>(type, object, dryRun ? { dryRun } : {});
  } catch (error) {
    if (!(error instanceof KubeError && error.code === 'AlreadyExists')) throw error;
    const found = await kube.get<NodeGroupUpdate>(type, { name: id });
    if (found.kind === 'gone') throw error;
    return recordedAlready(found.object, spec, name);
  }
};
