// Which request an update is: the same request has the same name, whoever makes the object, so that
// a second creation is refused by the API server and not carried out. Pure.
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

/** What is over belongs to earlier requests: the same revision may be asked for again. */
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

/** Of a change of the spec and of a command that ask for the same revision at once: one name. */
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
