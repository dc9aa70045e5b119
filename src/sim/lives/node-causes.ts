// The nodes that actions choose from, and how actions write causes to disruptions: with the same
// writes as operators and controllers. Chooses nothing.
import { instanceIdOfProviderId } from '../../api/brand.ts';
import { type DisruptionCause, marks, type NodeDisruption } from '../../api/disruption.ts';
import { objectOr } from '../../api/json.ts';
import { type CauseWrite, causeWrite } from '../../core/termination/index.ts';
import type { ActionContext } from './action.ts';

export const nodes = { group: '', resource: 'nodes' } as const;
export const disruptions = { group: 'drover.dev', resource: 'nodedisruptions' } as const;

export interface NodeFacts {
  readonly name: string;
  readonly instanceId: string;
  readonly group: string | undefined;
  readonly isCordoned: boolean;
  /** Excluded from load balancers, which every drain does first. */
  readonly isExcluded: boolean;
}

export const liveNodes = ({ world }: ActionContext): readonly NodeFacts[] => {
  const found: NodeFacts[] = [];
  for (const node of world.kube.readAll(nodes)) {
    const providerId = objectOr(node.spec).providerID;
    const instanceId = instanceIdOfProviderId(
      typeof providerId === 'string' ? providerId : undefined,
    );
    if (instanceId === undefined) continue;
    const group = node.metadata.labels?.['eks.amazonaws.com/nodegroup'];
    found.push({
      name: node.metadata.name,
      instanceId,
      group,
      isCordoned: objectOr(node.spec).unschedulable === true,
      isExcluded: node.metadata.labels?.[marks.excludeFromLoadBalancers] !== undefined,
    });
  }
  return found;
};

/** World time plus `inSeconds`, in the format of causes. */
export const timestamp = ({ world }: Pick<ActionContext, 'world'>, inSeconds = 0): string =>
  new Date(Math.floor(world.kernel.now() / 1000) + inSeconds * 1000).toISOString();

const disruptionOf = (
  { world }: ActionContext,
  { instanceId }: NodeFacts,
): NodeDisruption | undefined =>
  world.kube.read(disruptions, { name: instanceId }) as unknown as NodeDisruption | undefined;

const send = ({ user }: ActionContext, { instanceId }: NodeFacts, write: CauseWrite): void => {
  if (write.kind === 'create') user.create(disruptions, undefined, write.object);
  if (write.kind !== 'patch') return;
  user.patch(disruptions, { name: instanceId }, { type: 'merge', body: write.body });
};

export const recordCause = (
  context: ActionContext,
  node: NodeFacts,
  cause: DisruptionCause,
): void => {
  const { instanceId, name: nodeName, group } = node;
  const more = group === undefined ? {} : { nodeGroup: group };
  const subject = { name: instanceId, instanceId, nodeName, ...more };
  send(context, node, causeWrite(disruptionOf(context, node), subject, cause));
};

/** Applies `write` to the current disruption of the node; no-op if there is none. */
export const changeCauses = (
  context: ActionContext,
  node: NodeFacts,
  write: (existing: NodeDisruption) => CauseWrite,
): void => {
  const existing = disruptionOf(context, node);
  if (existing !== undefined) send(context, node, write(existing));
};
