// Puts the labels and taints of a group's spec into the template of future nodes. Touches no node.

import type { ScalingGroup } from '../../../api/cloud.ts';
import type { JsonObject } from '../../../api/json.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import {
  encodedUserData,
  ownsDerived,
  sameNodes,
  userDataFor,
  userDataOf,
} from '../../../core/nodegroup/index.ts';
import { mergePatchBetween } from '../../../runtime/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import { templateFacts } from '../lifecycle/create.ts';
import { openUpdate } from '../update/records.ts';
import { templateSource } from '../update/requests.ts';

/**
 * Creates a further version of the derived template if new nodes would get other labels or taints
 * than the spec's. Called when the spec has changed. False: not yet, because an update is creating
 * its own template. Throws Impossible, CloudError.
 */
export const syncTemplate = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  scaling: ScalingGroup,
  signal: AbortSignal,
): Promise<boolean> => {
  const { cloud } = deps;
  const use = scaling.launchTemplate;
  if (use === undefined) return true;
  if (isMakingTemplate(deps, group, use.version)) return false;
  // Not the latest version: a crashed update may have created that without recording it.
  const inUse = await cloud.findLaunchTemplate({ id: use.id, version: use.version }, { signal });
  if (inUse === undefined || !ownsDerived(group, inUse)) return true;
  const wanted = await labelled(deps, group, { data: inUse.data }, signal);
  if (wanted === undefined) return true;
  const made = { id: use.id, after: inUse.version, data: wanted };
  const version = wanted === inUse.data ? inUse.version : await laterVersion(deps, made, signal);
  if (version === use.version) return true;
  const types = scaling.overrides === undefined ? {} : { overrides: scaling.overrides };
  const launchTemplate = { id: use.id, version };
  await cloud.updateGroup({ name: scaling.name, launchTemplate, ...types }, { signal });
  return true;
};

/**
 * An update's revision is in the spec before its template is in use. The update adds the labels
 * itself, also to the version that restores. A version created here after the update's own would be
 * mistaken for the update's.
 */
const isMakingTemplate = (deps: NodeGroupDeps, group: NodeGroup, inUse: string): boolean => {
  const update = openUpdate(deps, group);
  if (update?.spec.type !== 'VersionUpdate' || update.status?.phase === undefined) return false;
  const { target, ending } = update.status;
  return ending !== undefined || !(Number(inUse) >= Number(target?.templateVersion));
};

/**
 * The data with the spec's labels and taints, at the same revision, since revisions are the
 * updates' task. Undefined: its user data cannot be rendered. Throws Impossible, CloudError.
 */
export const labelled = async (
  deps: NodeGroupDeps,
  group: NodeGroup,
  { data, before }: { readonly data: JsonObject; readonly before?: NodeGroupUpdate },
  signal: AbortSignal,
): Promise<JsonObject | undefined> => {
  const imageId = typeof data.ImageId === 'string' ? data.ImageId : undefined;
  const launchTemplate = templateSource(deps, group, before);
  const { launchTemplate: _asked, ...spec } = group.spec;
  const asMade: NodeGroup = {
    ...group,
    spec: launchTemplate === undefined ? spec : { ...spec, launchTemplate },
  };
  const wanted = userDataFor(await templateFacts(deps, asMade, signal, imageId));
  if (typeof wanted !== 'string') return undefined;
  return sameNodes(userDataOf(data), wanted) ? data : { ...data, ...encodedUserData(wanted) };
};

/**
 * A version with this data after the named one: the latest, if an earlier process created it, or a
 * new one.
 */
export const laterVersion = async (
  deps: NodeGroupDeps,
  wish: { readonly id: string; readonly after: string; readonly data: JsonObject },
  signal: AbortSignal,
): Promise<string> => {
  const { id, after, data } = wish;
  const latest = await deps.cloud.findLaunchTemplate({ id, version: '$Latest' }, { signal });
  const isLater = Number(latest?.version) > Number(after);
  if (isLater && latest !== undefined && mergePatchBetween(latest.data, data) === undefined) {
    return latest.version;
  }
  return deps.cloud.addLaunchTemplateVersion({ id, data }, { signal });
};
