// What the guided tour of the page does in the demo cluster, each by the request that an operator
// would send: a patch, an object, a call to Auto Scaling, a fault. Decides nothing.
import { instanceIdOfProviderId } from '../api/brand.ts';
import { isReady } from '../api/conditions.ts';
import type { JsonObject } from '../api/json.ts';
import { type KubeObject, type Node, resourceTypes } from '../api/kube.ts';
import type { NodeGroup } from '../api/nodegroup.ts';
import { type CloudApi, CloudError, type KubeApi, KubeError } from '../ports/index.ts';
import type { ControlAnswer } from '../serve/index.ts';

const group = 'demo-ng';
/** Its release is the newest of the demo. */
const newest = 'ng1-public-ssh';
const guard = { name: 'tour-guard', namespace: 'demo' };
const web = { name: 'nginx-demo-deployment', namespace: 'demo' };
/** Enough replicas to have pods in every group, even in a group whose nodes have just joined. */
const replicas = 12;

export interface TourDeps {
  readonly kube: KubeApi;
  readonly cloud: Pick<CloudApi, 'terminateInGroup'>;
  readonly inject: (fault: JsonObject) => Promise<ControlAnswer>;
}

const done: ControlAnswer = { kind: 'ok', body: {} };
const refused = (message: string): ControlAnswer => ({ kind: 'error', status: 409, message });

const patchGroup = async ({ kube }: TourDeps, spec: JsonObject): Promise<ControlAnswer> => {
  const patch = { type: 'merge', body: { spec } } as const;
  const found = await kube.patch(resourceTypes.nodegroups, { name: group }, patch);
  return found.kind === 'found' ? done : refused(`there is no node group ${group}: use --demo`);
};

const isInService = (node: Node): boolean =>
  node.spec.unschedulable !== true &&
  node.metadata.deletionTimestamp === undefined &&
  isReady(node);

/** The oldest node in service. */
const oldestNode = async ({ kube }: TourDeps): Promise<Node | undefined> => {
  const labelSelector = `eks.amazonaws.com/nodegroup=${group}`;
  const { items } = await kube.list<Node>(resourceTypes.nodes, { labelSelector });
  const created = ({ metadata }: KubeObject): string => metadata.creationTimestamp;
  return items.filter(isInService).toSorted((a, b) => (created(a) < created(b) ? -1 : 1))[0];
};

const onOldest = async (
  deps: TourDeps,
  act: (node: Node) => Promise<ControlAnswer>,
): Promise<ControlAnswer> => {
  const node = await oldestNode(deps);
  return node === undefined ? refused(`no node of ${group} is in service yet`) : act(node);
};

const terminate = (deps: TourDeps): Promise<ControlAnswer> =>
  onOldest(deps, async ({ spec }) => {
    const id = instanceIdOfProviderId(spec.providerID);
    if (id === undefined) return refused('the node has no instance');
    await deps.cloud.terminateInGroup(id, { decrementDesired: true });
    return done;
  });

const update = async (deps: TourDeps): Promise<ControlAnswer> => {
  const { kube } = deps;
  const found = await kube.get<NodeGroup>(resourceTypes.nodegroups, { name: newest });
  const releaseVersion = found.kind === 'found' ? found.object.status?.releaseVersion : undefined;
  if (releaseVersion === undefined) return refused(`${newest} has no release yet`);
  return patchGroup(deps, { releaseVersion });
};

const forbid = async ({ kube }: TourDeps): Promise<ControlAnswer> => {
  const { namespace, name } = guard;
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'nginx-demo' } } },
  };
  const scaled = { type: 'merge', body: { spec: { replicas } } } as const;
  await kube.patch(resourceTypes.deployments, web, scaled);
  await kube.create(resourceTypes.poddisruptionbudgets, budget, { namespace });
  return done;
};

const allow = async ({ kube }: TourDeps): Promise<ControlAnswer> => {
  await kube.delete(resourceTypes.poddisruptionbudgets, guard);
  return done;
};

const silence = async (deps: TourDeps): Promise<ControlAnswer> => {
  await patchGroup(deps, { nodeRepairConfig: { enabled: true } });
  return onOldest(deps, ({ metadata }) =>
    deps.inject({ kind: 'iptables-drop', target: { node: metadata.name } }),
  );
};

const acts: Readonly<Record<string, (deps: TourDeps) => Promise<ControlAnswer>>> = {
  grow: (deps) => patchGroup(deps, { scaling: { desired: 4 } }),
  terminate,
  update,
  forbid,
  allow,
  silence,
};

/** POST /page/v1/tour. */
export const tourWith =
  (deps: TourDeps) =>
  async ({ act }: JsonObject): Promise<ControlAnswer> => {
    const run = typeof act === 'string' && Object.hasOwn(acts, act) ? acts[act] : undefined;
    if (run === undefined) {
      const message = `a step of the tour is one of ${Object.keys(acts).join(', ')}`;
      return { kind: 'error', status: 400, message };
    }
    try {
      return await run(deps);
    } catch (error) {
      if (error instanceof KubeError || error instanceof CloudError) return refused(error.message);
      throw error;
    }
  };
