// Whether the instance of a node is terminated or detached. Judges nothing.
import type { Context } from '../../oracle.ts';
import type { NodeState } from '../../state/nodes.ts';

const leaving = /^(?:Terminat|Detach|$)/;

/** `otherwise`: the state of an instance that the trace has not shown. */
export const isLeaving = (
  { book }: Context,
  { instanceId }: NodeState,
  otherwise = 'InService',
): boolean => {
  const { state = otherwise } = book.cloud.instances.get(instanceId) ?? {};
  return leaving.test(state);
};
