// Which strategy an update of a group has where its request names none. Pure.
import { clientTokenAnnotation, type NodeGroup } from '../../api/nodegroup.ts';
import type { UpdateStrategy } from '../../api/nodegroup-update.ts';

/** What was made through EKS is updated as EKS does it, unless somebody says otherwise. */
export const strategyOf = ({
  metadata,
  spec,
}: Pick<NodeGroup, 'metadata' | 'spec'>): UpdateStrategy => {
  const isOwn = metadata.annotations?.[clientTokenAnnotation] === undefined;
  return spec.updateConfig?.updateStrategy ?? (isOwn ? 'SURGE' : 'DEFAULT');
};
