// The identity of an update request. Equal requests have equal names, whichever client creates the
// object, so that the API server refuses the second creation and it is carried out once. Pure.
import type { KubeObject } from '../../../api/kube.ts';
import type { NodeGroupSpec } from '../../../api/nodegroup.ts';
import {
  type NodeGroupChange,
  type NodeGroupUpdate,
  type NodeGroupUpdateSpec,
  updateStatusOf,
} from '../../../api/nodegroup-update.ts';
import { fnv1aHex } from '../../fnv.ts';
import { revisionAsked, withRevision } from './revision.ts';
import { inTurn } from './succession.ts';

interface Group {
  readonly metadata: Pick<KubeObject['metadata'], 'name' | 'uid'>;
  readonly spec: NodeGroupSpec;
}

/** Ended updates belong to earlier requests, so the same revision may be requested again. */
const lastEnded = (groupName: string, updates: readonly NodeGroupUpdate[]): string => {
  const ended = updates.filter(
    (one) =>
      one.spec.nodeGroup === groupName &&
      one.spec.type === 'VersionUpdate' &&
      updateStatusOf(one) !== 'InProgress',
  );
  const latest = ended.toSorted(inTurn);
  return latest.at(-1)?.metadata.name ?? '';
};

/**
 * A spec change and a command that request the same revision at the same time get the same name.
 */
export const updateNameOf = (
  { metadata, spec }: Group,
  {
    change,
    action = 'Update',
  }: Pick<NodeGroupUpdateSpec, 'action'> & {
    readonly change: NodeGroupChange;
  },
  updates: readonly NodeGroupUpdate[],
): string => {
  const { version, releaseVersion, launchTemplate } = revisionAsked(withRevision(spec, change));
  const { id, version: ofTemplate } = launchTemplate ?? {};
  const asked = [version, releaseVersion, id, ofTemplate].map((one) => one ?? '');
  const after = lastEnded(metadata.name, updates);
  const text = [metadata.uid, action, ...asked, after].join('\n');
  return `${metadata.name}-${fnv1aHex(text)}`;
};
