// The default strategy of an update whose request names none. Pure.
import { clientTokenAnnotation, type NodeGroup } from '../../api/nodegroup.ts';
import type { UpdateStrategy } from '../../api/nodegroup-update.ts';

/** Groups created through the EKS API are updated as EKS does, unless the spec says otherwise. */
export const strategyOf = ({
  metadata,
  spec,
}: Pick<NodeGroup, 'metadata' | 'spec'>): UpdateStrategy => {
  const isOwn = metadata.annotations?.[clientTokenAnnotation] === undefined;
  return spec.updateConfig?.updateStrategy ?? (isOwn ? 'SURGE' : 'DEFAULT');
};
