// A real API server, of our own or a given one, with the demo cluster on it, for whose nodes a served world is the cloud: nodes
// with the names, labels and provider ids of the world's instances, run by stand-ins for kubelets: one for
// each machine that joins the world's own cluster, taken away with its instance. Writes nothing into the world.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2';
import {
  createKubeClient,
  type KubeClient,
  loadKubeconfig,
} from '../../src/adapters/kube/index.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { type Node, resourceTypes } from '../../src/api/kube.ts';
import { ensureCrds } from '../../src/controllers/crds.ts';
import { wallClock } from '../../src/main/wall-clock.ts';
import { CollectingLog, TestRandom } from '../../src/runtime/testing.ts';
import { eventually, type ServedWorld } from './demo-world.ts';
import { type FakeKubelets, type FakeNode, fakeKubelets } from './fake-kubelets.ts';
import {
  followAudit,
  givenCluster,
  impersonating,
  mayBeStage,
  ownPart,
  stageLabel,
  takeAway,
} from './given-cluster.ts';
import { startRealCluster } from './real-cluster.ts';
import { controllerRights } from './rights.ts';

export interface RealStage {
  /** Of the controller: `eks:node-manager` with no more rights than it needs. */
  readonly kubeconfigPath: string;
  /** Ends all of it; the audit log stays with the world. */
  readonly end: () => Promise<void>;
}

const lookEveryMs = 500;
/** About what the world's pods take; the deadline of a story must not depend on it. */
const podTimes = { readyAfterMs: 1000, goneAfterMs: 1000 } as const;
const kinds = 'namespaces,serviceaccounts,deployments,daemonsets,poddisruptionbudgets,nodegroups';
const copied = new Set(['demo', 'nginx-demo-deployment', 'coredns', 'aws-node', 'kube-proxy']);

const items = async (world: ServedWorld, ...args: readonly string[]): Promise<JsonObject[]> => {
  const ran = await world.kubectl('get', ...args, '-o', 'json');
  if (ran.code !== 0) throw new Error(ran.stderr);
  return (JSON.parse(ran.stdout) as { readonly items: JsonObject[] }).items;
};

/** An object as somebody would have applied it. */
const asApplied = ({ apiVersion, kind, metadata, spec }: JsonObject): JsonObject => {
  const { name, namespace, labels, finalizers } = objectOr(metadata);
  const kept = Object.entries({ name, namespace, labels, finalizers });
  return {
    apiVersion: apiVersion ?? null,
    kind: kind ?? null,
    metadata: Object.fromEntries(kept.flatMap(([key, value]) => (value ? [[key, value]] : []))),
    ...(spec === undefined ? {} : { spec }),
  };
};

/** What the world's cluster runs, without what its controllers made of it. */
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
  const stage = givenCluster() === undefined ? {} : stageLabel;
  const labels: Readonly<Record<string, string>> = { ...metadata.labels, ...stage };
  return {
    name: metadata.name,
    labels,
    providerId: String(spec.providerID),
    zone: String(labels['topology.kubernetes.io/zone']),
    version: String(objectOr(objectOr(status).nodeInfo).kubeletVersion),
    pods: 29,
  };
};

const isReady = ({ status }: Node): boolean =>
  (status.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

/**
 * A machine that the cloud launches boots in the world, by its own user data, and joins the world's own
 * cluster or does not; a stand-in registers in the real one when it does.
 */
const followMachines = async (
  own: KubeClient,
  kubelets: FakeKubelets,
  known: Set<string>,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    const { items: nodes } = await own.list<Node>(resourceTypes.nodes, { signal });
    for (const node of nodes) {
      const id = String(node.spec.providerID);
      if (known.has(id) || !isReady(node)) continue;
      known.add(id);
      await kubelets.add(standInFor(node));
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

/**
 * The cloud provider's node lifecycle controller: a node whose instance is gone goes too. Of the world's own
 * instances alone: what else is in the cluster is of another cloud.
 */
const removeLostNodes = async (
  ec2: EC2Client,
  api: KubeClient,
  known: ReadonlySet<string>,
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

/** What the demo runs: nginx, CoreDNS, and two pods on each of its nodes. */
const podsOfDemo = 14;

const allIsUp = (world: ServedWorld, nodes: ReadonlySet<string>, least: number): Promise<true> =>
  eventually('the cluster runs what the world runs', async () => {
    const pods = (await items(world, 'pods', '--all-namespaces')).filter(
      ({ metadata, spec }) =>
        objectOr(metadata).namespace === 'demo' || nodes.has(String(objectOr(spec).nodeName)),
    );
    const running = pods.filter(({ status }) => objectOr(status).phase === 'Running');
    return pods.length >= least && running.length === pods.length ? true : undefined;
  });

/** Ours or a given one. */
interface StageCluster {
  readonly kubeconfigPath: string;
  readonly auditLogPath: string;
  readonly refresh?: () => void;
  readonly kubeconfigFor: (username: string) => Promise<string>;
  readonly isGiven: boolean;
  readonly stop: () => Promise<void>;
}

const begin = async (
  world: ServedWorld,
  cluster: StageCluster,
  ends: (() => Promise<void>)[],
): Promise<string> => {
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
  world.beCloudOf(cluster);
  const had = cluster.isGiven && (await mayBeStage(world));
  const stop = new AbortController();
  const deps = { kube: api, clock: wallClock, random: new TestRandom(), log: new CollectingLog() };
  await ensureCrds(deps, stop.signal);
  const kubelets = await fakeKubelets({ api, nodes: nodes.map(standInFor), ...podTimes });
  ends.push(async () => {
    await kubelets.stop();
    for (const error of kubelets.errors) process.stderr.write(`a kubelet: ${error.message}\n`);
  });
  const ec2 = ec2Of(world);
  const told = (error: unknown): void => {
    if (!stop.signal.aborted) process.stderr.write(`the cloud's controller: ${String(error)}\n`);
  };
  const known = new Set(nodes.map(({ spec }) => String(spec.providerID)));
  const cleaning = removeLostNodes(ec2, api, known, stop.signal).catch(told);
  const joining = followMachines(own, kubelets, known, stop.signal).catch(told);
  ends.push(async () => {
    stop.abort();
    await Promise.all([cleaning, joining]);
    ec2.destroy();
  });
  const all = [...objects, ...controllerRights('eks:node-manager')];
  const made = cluster.isGiven ? await ownPart(world, all) : all;
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  if (cluster.isGiven) {
    ends.push(async () => {
      const { items: left } = await api.list<Node>(resourceTypes.nodes);
      const ours = left.filter(({ spec }) => known.has(String(spec.providerID)));
      await takeAway(world, made, { had, nodes: ours.map(({ metadata }) => metadata.name) });
    });
  }
  await apply(world, made);
  await allIsUp(world, names, made.length === all.length ? podsOfDemo : 1);
  return cluster.kubeconfigFor('eks:node-manager');
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

/** Makes `world` the cloud of a real API server: a fresh one, or the given one. Throws when there can be none. */
export const beginRealStage = async (world: ServedWorld): Promise<RealStage> => {
  const cluster = await clusterFor(world);
  const ends: (() => Promise<void>)[] = [];
  const end = async (): Promise<void> => {
    // What is taken away after it is no part of the story.
    cluster.refresh?.();
    for (const each of ends.toReversed()) await each();
    const auditLogPath = join(world.dataDir, 'real-audit.log');
    await copyFile(cluster.auditLogPath, auditLogPath);
    world.beCloudOf({ kubeconfigPath: cluster.kubeconfigPath, auditLogPath });
    await cluster.stop();
  };
  try {
    return { kubeconfigPath: await begin(world, cluster, ends), end };
  } catch (error) {
    await end();
    throw error;
  }
};
