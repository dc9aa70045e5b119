// A real API server, own or existing, with the demo cluster on it and a served world as its cloud.
// Nodes have the names, labels and provider ids of the world's instances. A stand-in kubelet runs
// each machine that joins the world's own cluster and is removed with its instance. Writes nothing
// to the world.

import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2';
import {
  createKubeClient,
  type KubeClient,
  loadKubeconfig,
} from '../../src/adapters/kube/index.ts';
import { defined } from '../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { type Node, resourceTypes } from '../../src/api/kube.ts';
import { ensureCrds } from '../../src/controllers/crds.ts';
import { wallClock } from '../../src/main/wall-clock.ts';
import { CollectingLog, TestRandom } from '../builders/runtime.ts';
import { eventually, type ServedWorld } from './demo-world.ts';
import { type FakeKubelets, type FakeNode, fakeKubelets } from './fake-kubelets.ts';
import {
  followAudit,
  givenCluster,
  impersonating,
  ownOnly,
  ownPart,
  stageLabel,
  stageTaint,
  takeAway,
  takeStage,
} from './given-cluster.ts';
import { startRealCluster } from './real-cluster.ts';
import { controllerRights } from './rights.ts';

export interface RealStage {
  /** The controller's kubeconfig: `eks:node-manager` with only the permissions that it needs. */
  readonly kubeconfigPath: string;
  /**
   * Applies a story's objects: on an existing cluster restricted to the story's nodes, and deleted
   * at its end.
   */
  readonly make: (objects: readonly JsonObject[]) => Promise<void>;
  /** Ends everything that was started. The audit log stays in the world's data directory. */
  readonly end: () => Promise<void>;
}

const lookEveryMs = 500;
/** Similar to the world's own pod times; a story's deadline must not depend on them. */
const podTimes = { readyAfterMs: 1000, goneAfterMs: 1000 } as const;
const kinds = 'namespaces,serviceaccounts,deployments,daemonsets,poddisruptionbudgets,nodegroups';
const copied = new Set(['demo', 'nginx-demo-deployment', 'coredns', 'aws-node', 'kube-proxy']);

const items = async (world: ServedWorld, ...args: readonly string[]): Promise<JsonObject[]> => {
  const ran = await world.kubectl('get', ...args, '-o', 'json');
  if (ran.code !== 0) throw new Error(ran.stderr);
  return (JSON.parse(ran.stdout) as { readonly items: JsonObject[] }).items;
};

/** An object in the form in which a user applies it. */
const asApplied = ({ apiVersion, kind, metadata, spec }: JsonObject): JsonObject => {
  const { name, namespace, labels, finalizers } = objectOr(metadata);
  const kept = Object.entries({ name, namespace, labels, finalizers });
  return {
    apiVersion: apiVersion ?? null,
    kind: kind ?? null,
    metadata: Object.fromEntries(kept.flatMap(([key, value]) => (value ? [[key, value]] : []))),
    ...defined({ spec }),
  };
};

/** The workloads of the world's cluster, without objects that its controllers created. */
const workloads = async (world: ServedWorld): Promise<readonly JsonObject[]> => {
  const wanted = ['nginx-demo-deployment', 'coredns'];
  const found = await eventually('the demo has its workload', async () => {
    const all = await items(world, kinds, '--all-namespaces');
    const names = new Set(all.map(({ metadata }) => objectOr(metadata).name));
    return wanted.every((name) => names.has(name)) ? all : undefined;
  });
  return found
    .filter(
      ({ kind, metadata }) => kind === 'NodeGroup' || copied.has(String(objectOr(metadata).name)),
    )
    .map(asApplied);
};

const standInFor = ({ metadata, spec, status }: Node): FakeNode => {
  const isGiven = givenCluster() !== undefined;
  const stage = isGiven ? stageLabel : {};
  const labels: Readonly<Record<string, string>> = { ...metadata.labels, ...stage };
  return {
    name: metadata.name,
    labels,
    taints: isGiven ? [stageTaint] : [],
    providerId: String(spec.providerID),
    zone: String(labels['topology.kubernetes.io/zone']),
    version: String(objectOr(objectOr(status).nodeInfo).kubeletVersion),
    pods: 29,
  };
};

const isReady = ({ status }: Node): boolean =>
  (status.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

/**
 * A machine that the cloud launches boots in the world with its own user data. If it joins the
 * world's own cluster, a stand-in registers in the real one.
 */
const followMachines = async (
  own: KubeClient,
  add: FakeKubelets['add'],
  known: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    const { items: nodes } = await own.list<Node>(resourceTypes.nodes, { signal });
    for (const node of nodes) {
      const id = String(node.spec.providerID);
      if (known.has(id) || !isReady(node)) continue;
      await add(standInFor(node));
    }
    await sleep(lookEveryMs, undefined, { signal });
  }
};

const ec2Of = ({ env }: ServedWorld): EC2Client =>
  new EC2Client({
    region: String(env.AWS_DEFAULT_REGION),
    endpoint: String(env.AWS_ENDPOINT_URL),
    credentials: {
      accessKeyId: String(env.AWS_ACCESS_KEY_ID),
      secretAccessKey: String(env.AWS_SECRET_ACCESS_KEY),
    },
  });

/** An existing node may have the name of one of the world's machines. */
const mustBeFree = async (api: KubeClient, { name }: FakeNode): Promise<void> => {
  const there = await api.get<Node>(resourceTypes.nodes, { name });
  if (there.kind === 'gone') return;
  throw new Error(`the given cluster has node ${name} of its own; take another`);
};

/**
 * The cloud provider's node lifecycle controller: deletes a node whose instance is terminated. Only
 * for the world's own instances: other nodes of the cluster belong to another cloud.
 */
const removeLostNodes = async (
  ec2: EC2Client,
  api: KubeClient,
  known: ReadonlyMap<string, string>,
  signal: AbortSignal,
) => {
  const over = new Set(['terminated', 'shutting-down']);
  while (!signal.aborted) {
    const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({}));
    const alive = Reservations.flatMap(({ Instances = [] }) => Instances)
      .filter(({ State }) => !over.has(State?.Name ?? ''))
      .map(({ InstanceId }) => InstanceId);
    const { items: nodes } = await api.list<Node>(resourceTypes.nodes, { signal });
    for (const { metadata, spec } of nodes) {
      const instance = spec.providerID?.split('/').at(-1);
      if (!known.has(String(spec.providerID))) continue;
      if (instance !== undefined && !alive.includes(instance)) {
        await api.delete(resourceTypes.nodes, metadata, { signal });
      }
    }
    await sleep(lookEveryMs, undefined, { signal });
  }
};

const apply = async (world: ServedWorld, objects: readonly JsonObject[]): Promise<void> => {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const ran = await world.kubectlInput(list, 'apply', '--server-side', '-f', '-');
  if (ran.code !== 0) throw new Error(ran.stderr);
};

/** Number of pods of a workload that is up. */
const podsOf = ({ kind, spec }: JsonObject, nodes: number): number => {
  const { replicas } = objectOr(spec);
  if (kind === 'Deployment') return typeof replicas === 'number' ? replicas : 1;
  return kind === 'DaemonSet' ? nodes : 0;
};

/** Every pod of every workload must exist: a story that drains a node would miss later ones. */
const allIsUp = (world: ServedWorld, made: readonly JsonObject[], nodes: number): Promise<true> =>
  eventually('the cluster runs what the world runs', async () => {
    const pods = await items(world, 'pods', '--all-namespaces');
    const isUp = (workload: JsonObject): boolean => {
      const { name, namespace } = objectOr(workload.metadata);
      const running = pods.filter(({ metadata, status }) => {
        const pod = objectOr(metadata);
        const isOne = pod.namespace === namespace && String(pod.name).startsWith(`${name}-`);
        return isOne && objectOr(status).phase === 'Running';
      });
      return running.length >= podsOf(workload, nodes);
    };
    return made.every(isUp) ? true : undefined;
  });

/** An own or an existing cluster. */
interface StageCluster {
  readonly kubeconfigPath: string;
  readonly auditLogPath: string;
  readonly refresh?: () => void;
  readonly kubeconfigFor: (username: string) => Promise<string>;
  readonly isGiven: boolean;
  readonly stop: () => Promise<void>;
}

interface Begun {
  readonly kubeconfigPath: string;
  readonly make: RealStage['make'];
}

const begin = async (
  world: ServedWorld,
  cluster: StageCluster,
  ends: (() => Promise<void>)[],
): Promise<Begun> => {
  const objects = await workloads(world);
  const clientOf = async (path: string): Promise<KubeClient> => {
    const access = await loadKubeconfig({ path, env: {} });
    const client = createKubeClient({ ...access, userAgent: 'drover/stage' });
    ends.push(() => client.close());
    return client;
  };
  const own = await clientOf(join(world.dataDir, 'kubeconfig'));
  const api = await clientOf(cluster.kubeconfigPath);
  const { items: nodes } = await own.list<Node>(resourceTypes.nodes);
  /** Every node that has existed, by provider id: objects on it outlive a deleted node. */
  const known = new Map<string, string>();
  const made: JsonObject[] = [];
  world.beCloudOf(cluster);
  const found = cluster.isGiven ? await takeStage(world) : undefined;
  const kubelets = await fakeKubelets({ api, nodes: [], ...podTimes });
  ends.push(async () => {
    await kubelets.stop();
    for (const error of kubelets.errors) process.stderr.write(`a kubelet: ${error.message}\n`);
  });
  if (found !== undefined) {
    ends.push(async () => {
      await takeAway(world, { made, nodes: [...known.values()], found });
    });
  }
  const stop = new AbortController();
  const deps = { kube: api, clock: wallClock, random: new TestRandom(), log: new CollectingLog() };
  await ensureCrds(deps, stop.signal);
  const add = async (node: FakeNode): Promise<void> => {
    if (cluster.isGiven) await mustBeFree(api, node);
    known.set(String(node.providerId), node.name);
    await kubelets.add(node);
  };
  for (const node of nodes) await add(standInFor(node));
  const ec2 = ec2Of(world);
  const told = (error: unknown): void => {
    if (!stop.signal.aborted) process.stderr.write(`the cloud's controller: ${String(error)}\n`);
  };
  const cleaning = removeLostNodes(ec2, api, known, stop.signal).catch(told);
  const joining = followMachines(own, add, known, stop.signal).catch(told);
  ends.push(async () => {
    stop.abort();
    await Promise.all([cleaning, joining]);
    ec2.destroy();
  });
  const make = async (more: readonly JsonObject[], isOurs = ownOnly): Promise<void> => {
    const kept = cluster.isGiven ? await isOurs(world, more, made) : more;
    made.push(...kept);
    await apply(world, kept);
  };
  const all = [...objects, ...controllerRights('eks:node-manager')];
  await make(all, ownPart);
  await allIsUp(world, made, nodes.length);
  return {
    kubeconfigPath: await cluster.kubeconfigFor('eks:node-manager'),
    make: (more) => make(more),
  };
};

const ownCluster = async (): Promise<StageCluster> => {
  const cluster = await startRealCluster({ scheduler: true, auditLevel: 'RequestResponse' });
  if (!cluster.available) throw new Error(cluster.reason);
  const kubeconfigFor = (username: string): Promise<string> =>
    cluster.kubeconfigFor(`CN=${username}`);
  return { ...cluster, kubeconfigFor, isGiven: false, stop: () => cluster.stop() };
};

const clusterFor = (world: ServedWorld): Promise<StageCluster> => {
  const given = givenCluster();
  if (given === undefined) return ownCluster();
  const auditLogPath = join(world.dataDir, 'given-audit.log');
  return Promise.resolve({
    kubeconfigPath: given.kubeconfigPath,
    auditLogPath,
    refresh: followAudit(given.auditLogPath, auditLogPath),
    kubeconfigFor: (username: string) => impersonating(world, username),
    isGiven: true,
    stop: async () => {},
  });
};

/** Runs all of them regardless of failures; throws the first error. */
const endAll = async (ends: readonly (() => Promise<void>)[]): Promise<void> => {
  const errors: unknown[] = [];
  for (const each of ends) {
    await each().catch((error: unknown) => {
      errors.push(error);
    });
  }
  if (errors.length > 0) throw errors[0];
};

/** Makes `world` the cloud of a real API server, new or existing. Throws when none is available. */
export const beginRealStage = async (world: ServedWorld): Promise<RealStage> => {
  const cluster = await clusterFor(world);
  const ends: (() => Promise<void>)[] = [];
  const keepAudit = async (): Promise<void> => {
    const auditLogPath = join(world.dataDir, 'real-audit.log');
    await copyFile(cluster.auditLogPath, auditLogPath);
    world.beCloudOf({ kubeconfigPath: cluster.kubeconfigPath, auditLogPath });
  };
  const end = async (): Promise<void> => {
    // Deletions after this are not part of the story.
    cluster.refresh?.();
    await endAll([...ends.toReversed(), keepAudit, () => cluster.stop()]);
  };
  try {
    return { ...(await begin(world, cluster, ends)), end };
  } catch (error) {
    await end().catch((also: unknown) => process.stderr.write(`${String(also)}\n`));
    throw error;
  }
};
