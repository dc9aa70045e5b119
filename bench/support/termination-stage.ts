// A real API server with a served world as its cloud, for drains that begin at the cloud: ten
// machines of an Auto Scaling group with a terminate hook, ten nodes that stay, and one Deployment
// over all of them. Each notice goes to two queues. Stand-ins run the pods. A machine that ends
// takes its node and its pods with it; the pods are counted as lost.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as autoscaling from '@aws-sdk/client-auto-scaling';
import * as ec2 from '@aws-sdk/client-ec2';
import * as sqs from '@aws-sdk/client-sqs';
import {
  createKubeClient,
  type KubeClient,
  loadKubeconfig,
} from '../../src/adapters/kube/index.ts';
import { type Node, type Pod, resourceTypes } from '../../src/api/kube.ts';
import { ServedWorld } from '../../test/support/demo-world.ts';
import { type FakeKubelets, fakeKubelets } from '../../test/support/fake-kubelets.ts';
import { type RunningCluster, startRealCluster } from '../../test/support/real-cluster.ts';
import { addGroup, groupName } from './targets.ts';
import { each, isReadyPod, namespace, until } from './workload.ts';

export const hookName = 'Terminate-LC-Hook';
/** As long as a spot interruption's notice. */
export const noticeSeconds = 120;
const lookEveryMs = 250;
const podTimes = { readyAfterMs: 1000, goneAfterMs: 1000 } as const;
const machineLabel = 'bench=true';

/** One queue for Drover, one for any other. */
const queueNames = ['bench-drover', 'bench-other'] as const;
export type QueueName = (typeof queueNames)[number];

interface Machine {
  readonly name: string;
  readonly instanceId: string;
}

const clientsOf = ({ env }: ServedWorld) => {
  const config = {
    region: String(env.AWS_DEFAULT_REGION),
    endpoint: String(env.AWS_ENDPOINT_URL),
    credentials: {
      accessKeyId: String(env.AWS_ACCESS_KEY_ID),
      secretAccessKey: String(env.AWS_SECRET_ACCESS_KEY),
    },
  };
  return {
    groups: new autoscaling.AutoScalingClient(config),
    machines: new ec2.EC2Client(config),
    queues: new sqs.SQSClient(config),
  };
};

const connect = async (path: string): Promise<KubeClient> => {
  const access = await loadKubeconfig({ path, env: {} });
  return createKubeClient({ ...access, userAgent: 'bench' });
};

export class TerminationStage {
  readonly #world: ServedWorld;
  readonly #cluster: RunningCluster;
  /** The real API server, and the world's own, where its machines join. */
  readonly api: KubeClient;
  readonly #own: KubeClient;
  readonly #kubelets: FakeKubelets;
  readonly #aws: ReturnType<typeof clientsOf>;
  readonly #count: number;
  readonly #queueUrls = new Map<QueueName, string>();
  readonly #abort = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #machines: readonly Machine[] = [];
  #lost = 0;

  private constructor(
    world: ServedWorld,
    cluster: RunningCluster,
    parts: {
      readonly api: KubeClient;
      readonly own: KubeClient;
      readonly kubelets: FakeKubelets;
      readonly count: number;
    },
  ) {
    this.#world = world;
    this.#cluster = cluster;
    this.api = parts.api;
    this.#own = parts.own;
    this.#kubelets = parts.kubelets;
    this.#count = parts.count;
    this.#aws = clientsOf(world);
  }

  /** `count` machines, and as many nodes that stay. */
  static async start(count: number): Promise<TerminationStage | { readonly unavailable: string }> {
    const cluster = await startRealCluster({ scheduler: true, controllerQps: 200 });
    if (!cluster.available) return { unavailable: cluster.reason };
    try {
      return await TerminationStage.#on(cluster, count);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  static async #on(cluster: RunningCluster, count: number): Promise<TerminationStage> {
    const world = await ServedWorld.start({ args: ['--demo', '--no-controller', '--port', '0'] });
    try {
      const own = await connect(String(world.env.KUBECONFIG));
      const api = await connect(cluster.kubeconfigPath);
      const kubelets = await fakeKubelets({
        api,
        nodes: Array.from({ length: count }, (_, i) => ({ name: `stays-${i}` })),
        ...podTimes,
      });
      const stage = new TerminationStage(world, cluster, { api, own, kubelets, count });
      await stage.#prepare();
      return stage;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  /** For processes: the real API server's administrator, and the world as the cloud. */
  get env(): NodeJS.ProcessEnv {
    const KUBECONFIG = this.#cluster.kubeconfigPath;
    return { ...this.#world.env, KUBECONFIG, DROVER_URL: undefined };
  }
  get directory(): string {
    return this.#world.dataDir;
  }
  get machines(): readonly Machine[] {
    return this.#machines;
  }
  /** Pods that were on a machine when it ended. */
  get lostPods(): number {
    return this.#lost;
  }
  auditText(): string {
    return readFileSync(this.#cluster.auditLogPath, 'utf8');
  }
  queueUrl(name: QueueName): string {
    return this.#queueUrls.get(name) ?? '';
  }

  async #prepare(): Promise<void> {
    await addGroup(this.#world, this.#count);
    const hook = {
      AutoScalingGroupName: groupName,
      LifecycleHookName: hookName,
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      HeartbeatTimeout: noticeSeconds,
      DefaultResult: 'CONTINUE',
    };
    await this.#aws.groups.send(new autoscaling.PutLifecycleHookCommand(hook));
    for (const name of queueNames) {
      const made = await this.#aws.queues.send(new sqs.CreateQueueCommand({ QueueName: name }));
      this.#queueUrls.set(name, made.QueueUrl ?? '');
      const pattern = JSON.stringify({ source: ['aws.autoscaling'] });
      const arn = `arn:aws:sqs:${this.#world.env.AWS_DEFAULT_REGION}:111111111111:${name}`;
      await this.#cli('events', 'put-rule', '--name', name, '--event-pattern', pattern);
      await this.#cli('events', 'put-targets', '--rule', name, '--targets', `Id=1,Arn=${arn}`);
    }
    this.#watching = this.#endMachines();
  }

  async #cli(...args: readonly string[]): Promise<void> {
    const ran = await this.#world.aws(...args);
    if (ran.code !== 0) throw new Error(`aws ${args.join(' ')}: ${ran.stderr}`);
  }

  /** Launches the machines again, and fills all nodes; `perNode` pods on each on average. */
  async fill(perNode: number): Promise<void> {
    this.#lost = 0;
    for (const name of queueNames) {
      const QueueUrl = this.queueUrl(name);
      await this.#aws.queues.send(new sqs.PurgeQueueCommand({ QueueUrl }));
    }
    const size = { AutoScalingGroupName: groupName, DesiredCapacity: this.#count };
    await this.#aws.groups.send(
      new autoscaling.UpdateAutoScalingGroupCommand({ ...size, MinSize: 0, MaxSize: this.#count }),
    );
    await until('the machines have joined', async () => {
      this.#machines = await this.#join();
      return this.#machines.length === this.#count;
    });
    const replicas = perNode * this.#count * 2;
    await this.#deploy(replicas);
    await until('the pods are Ready', async () => {
      const { items } = await this.api.list<Pod>(resourceTypes.pods, { namespace });
      return items.filter(isReadyPod).length === replicas;
    });
  }

  async #join(): Promise<readonly Machine[]> {
    const { items } = await this.#own.list<Node>(resourceTypes.nodes, {
      labelSelector: machineLabel,
    });
    const alive = new Set(await this.#alive());
    const joined = items
      .filter(({ status }) =>
        status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True'),
      )
      .map(({ metadata: { name, labels }, spec: { providerID } }) => ({
        ...{ name, labels, providerId: String(providerID) },
        instanceId: String(providerID).split('/').at(-1) ?? '',
      }))
      .filter(({ instanceId }) => alive.has(instanceId));
    for (const { name, labels, providerId, instanceId } of joined) {
      if (this.#machines.some((known) => known.instanceId === instanceId)) continue;
      await this.#kubelets.add({ name, providerId, ...(labels === undefined ? {} : { labels }) });
    }
    return joined.map(({ name, instanceId }) => ({ name, instanceId }));
  }

  async #deploy(replicas: number): Promise<void> {
    const labels = { app: 'web' };
    const spread = {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: labels },
    };
    const spec = {
      terminationGracePeriodSeconds: 30,
      topologySpreadConstraints: [spread],
      containers: [{ name: 'app', image: 'example/app:1' }],
    };
    const template = { metadata: { labels }, spec };
    const selector = { matchLabels: labels };
    await this.api.create(
      resourceTypes.deployments,
      { metadata: { name: 'web' }, spec: { replicas, selector, template } },
      { namespace },
    );
    await this.api.create(
      resourceTypes.poddisruptionbudgets,
      { metadata: { name: 'web' }, spec: { maxUnavailable: '10%', selector } },
      { namespace },
    );
  }

  /** The notices: every machine of the group is terminated at once. */
  terminateAll(): Promise<void> {
    return each(this.#machines, ({ instanceId: InstanceId }) =>
      this.#aws.groups.send(
        new autoscaling.TerminateInstanceInAutoScalingGroupCommand({
          InstanceId,
          ShouldDecrementDesiredCapacity: true,
        }),
      ),
    );
  }

  /** What an operator does after a drain by hand. */
  async completeHook({ instanceId }: Machine): Promise<void> {
    await this.#aws.groups.send(
      new autoscaling.CompleteLifecycleActionCommand({
        AutoScalingGroupName: groupName,
        LifecycleHookName: hookName,
        InstanceId: instanceId,
        LifecycleActionResult: 'CONTINUE',
      }),
    );
  }

  async #alive(): Promise<readonly string[]> {
    const { Reservations = [] } = await this.#aws.machines.send(
      new ec2.DescribeInstancesCommand({
        Filters: [{ Name: 'instance-state-name', Values: ['pending', 'running'] }],
      }),
    );
    return Reservations.flatMap(({ Instances = [] }) => Instances).flatMap(({ InstanceId }) =>
      InstanceId === undefined ? [] : [InstanceId],
    );
  }

  async allEnded(): Promise<boolean> {
    const alive = await this.#alive();
    const { items } = await this.api.list<Node>(resourceTypes.nodes);
    return this.#machines.every(
      ({ name, instanceId }) =>
        !alive.includes(instanceId) && !items.some(({ metadata }) => metadata.name === name),
    );
  }

  async podsOnMachines(): Promise<readonly Pod[]> {
    const { items } = await this.api.list<Pod>(resourceTypes.pods, { namespace });
    return items.filter(({ spec }) => this.#machines.some(({ name }) => name === spec.nodeName));
  }

  /**
   * Acts as the cloud's node controller: deletes the nodes of terminated machines and their pods.
   * Retries after an error.
   */
  async #endMachines(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      await this.#endOnce().catch((error: unknown) => {
        if (!signal.aborted) process.stderr.write(`the cloud's controller: ${String(error)}\n`);
      });
      await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #endOnce(): Promise<void> {
    const alive = await this.#alive();
    const { items } = await this.api.list<Node>(resourceTypes.nodes);
    for (const { metadata, spec } of items) {
      const instance = spec.providerID?.split('/').at(-1);
      if (instance === undefined || alive.includes(instance)) continue;
      await this.#takeDown(metadata.name);
    }
  }

  async #takeDown(name: string): Promise<void> {
    const { items } = await this.api.list<Pod>(resourceTypes.pods, {
      namespace,
      fieldSelector: `spec.nodeName=${name}`,
    });
    this.#lost += items.length;
    await this.api.delete(resourceTypes.nodes, { name });
    await each(items, ({ metadata }) =>
      this.api.delete(resourceTypes.pods, metadata, { gracePeriodSeconds: 0 }),
    );
  }

  /** Removes the workload, and resets the nodes that stay. */
  async clear(): Promise<void> {
    const { deployments, poddisruptionbudgets, pods } = resourceTypes;
    const where = { namespace, name: 'web' };
    await this.api.delete(poddisruptionbudgets, where);
    await this.api.delete(deployments, where, { propagationPolicy: 'Background' });
    await until('the pods are gone', async () => {
      const left = (await this.api.list<Pod>(pods, { namespace })).items;
      await each(left, ({ metadata }) =>
        this.api.delete(pods, metadata, { gracePeriodSeconds: 0 }),
      );
      return left.length === 0;
    });
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#watching;
    await this.#kubelets.stop();
    await this.api.close();
    await this.#own.close();
    for (const client of Object.values(this.#aws)) client.destroy();
    await this.#cluster.stop();
    await this.#world.stop();
  }
}
