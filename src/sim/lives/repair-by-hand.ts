// An operator's `drover repair NODE` in a life: the NodeRepair that the command records, whether or
// not the node is healthy. Decides nothing: the controller does.
import { instanceIdOfProviderId } from '../../api/brand.ts';
import { objectOr } from '../../api/json.ts';
import { newRepair } from '../../api/new-repair.ts';
import {
  endedRepairPhases,
  type NodeRepair,
  overrulableBlockers,
  type RepairRequest,
  requestableActions,
  requestedEpisode,
} from '../../api/node-repair.ts';
import { type ActionContext, nodeGroups, pickOf } from './action.ts';
import { liveNodes, nodes } from './node-causes.ts';

const repairs = { group: 'drover.dev', resource: 'noderepairs' } as const;
const groupLabel = 'eks.amazonaws.com/nodegroup';

const requestOf = ({ random, world }: ActionContext): RepairRequest => {
  const at = new Date(world.kernel.now() / 1000).toISOString();
  const action = pickOf(random, requestableActions) ?? 'Replace';
  const overrule = random.next() < 0.3 ? overrulableBlockers : [];
  return { action, at, by: 'an operator', overrule };
};

export const repairByHand = (context: ActionContext): void => {
  const { random, world, user, onWarning } = context;
  const { name = '' } = pickOf(random, liveNodes(context)) ?? {};
  const node = name === '' ? undefined : world.kube.read(nodes, { name });
  const instanceId = instanceIdOfProviderId(String(objectOr(node?.spec).providerID));
  const nodeGroup = node?.metadata.labels?.[groupLabel];
  if (node === undefined || instanceId === undefined || nodeGroup === undefined) return;
  const owner = world.kube.read(nodeGroups, { name: nodeGroup });
  if (owner === undefined) return;
  const all = [...world.kube.readAll(repairs)] as unknown as readonly NodeRepair[];
  const known = all.filter(({ spec }) => spec.instanceId === instanceId);
  const open = known.find(
    ({ status }) => status === undefined || !endedRepairPhases.includes(status.phase),
  );
  const requested = requestOf(context);
  onWarning('repair-by-hand');
  if (open !== undefined) {
    // The command refuses if an action has already begun.
    if (open.status?.phase !== 'Waiting' && open.status?.phase !== 'Blocked') return;
    const body = { spec: { requested } };
    user.patch(repairs, { name: open.metadata.name }, { type: 'merge', body });
    return;
  }
  const numbers = known.map(({ metadata }) => Number(metadata.name.split('-').at(-1)) || 0);
  const serial = Math.max(0, ...numbers) + 1;
  const spec = {
    nodeGroup,
    instanceId,
    node: { name, uid: node.metadata.uid },
    unhealthySince: requested.at,
    ...requestedEpisode,
    requested,
  };
  const repair = newRepair({ name: `${instanceId}-${serial}`, owner: owner.metadata, spec });
  user.create(repairs, undefined, repair);
};
