// A revision that the spec requests while updates are in progress. It becomes an update when they
// have ended; until then no object represents it. Describes it and what it waits for in one
// sentence. Pure.
import type { NodeGroup, NodeGroupSpec, NodeGroupStatus } from '../../../api/nodegroup.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../../api/nodegroup-update.ts';
import { failedRequestOf } from '../ending/failed-update.ts';
import { explainUpdateWaiting } from '../explain-waiting.ts';
import { sameRevisionAsked, withRevision } from './revision.ts';
import { inTurn } from './succession.ts';

type Asked = NonNullable<NodeGroupStatus['requestedRevision']>;

const revisionText = (known: Asked, spec: NodeGroupSpec): string => {
  const { version, releaseVersion, launchTemplate } = spec;
  const { id, version: number } = launchTemplate ?? {};
  const isOther = id !== known.launchTemplate?.id || number !== known.launchTemplate?.version;
  if (releaseVersion !== undefined && releaseVersion !== known.releaseVersion) {
    return `release ${releaseVersion}`;
  }
  if (version !== known.version) return `Kubernetes version ${version}`;
  if (!isOther) return `the newest release of ${version}`;
  return id === undefined
    ? 'a launch template of its own'
    : `version ${number ?? '$Default'} of launch template ${id}`;
};

/**
 * `requested`: the revision recorded in the group's status. Undefined: every request of the spec
 * already has an object.
 */
export const waitingChangeText = (
  updates: readonly NodeGroupUpdate[],
  group: NodeGroup,
  requested: Asked | undefined,
): string | undefined => {
  const { metadata, spec } = group;
  if (requested === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  if (sameRevisionAsked(requested, spec)) return undefined;
  const open = updates
    .filter((one) => one.spec.nodeGroup === metadata.name && updateStatusOf(one) === 'InProgress')
    .toSorted(inTurn);
  const [first] = open;
  const isAskedFor = open.some(
    ({ spec: asked }) =>
      asked.type === 'VersionUpdate' && sameRevisionAsked(withRevision(spec, asked.change), spec),
  );
  if (first === undefined || isAskedFor) return undefined;
  if (failedRequestOf(updates, group) !== undefined) return undefined;
  return explainUpdateWaiting({
    kind: 'change',
    revision: revisionText(requested, spec),
    update: first.metadata.name,
    more: open.length - 1,
  });
};
