// The two clusters that drains are measured on: the served world (its own process) and a real API
// server with stand-ins for kubelets. Both keep an audit log, which is the neutral clock.

import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as autoscaling from '@aws-sdk/client-auto-scaling';
import { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import * as ec2 from '@aws-sdk/client-ec2';
import {
  createKubeClient,
  type KubeClient,
  loadKubeconfig,
} from '../../src/adapters/kube/index.ts';
import { defined } from '../../src/api/defined.ts';
import { type Node, resourceTypes } from '../../src/api/kube.ts';
import { ServedWorld } from '../../test/support/demo-world.ts';
import { fakeKubelets } from '../../test/support/fake-kubelets.ts';
import { startRealCluster } from '../../test/support/real-cluster.ts';

/** Whoever set up the measurement; never counted. */
const benchAgent = 'bench';

interface PodTimes {
  readonly readyMs: number;
  readonly stopMs: number;
}

export interface Target {
  readonly name: string;
  readonly api: KubeClient;
  /** How `drover controller` is started here: as `drover up` does, or by its default. */
  readonly compat: 'eks' | 'native';
  /** For kubectl and drover as processes: KUBECONFIG, and AWS endpoint and keys of a world. */
  readonly env: NodeJS.ProcessEnv;
  /** Nodes for the measurement, each labelled `bench-node=<its index>`. */
  readonly nodes: readonly string[];
  /** The whole audit log so far. */
  readonly auditText: () => string;
  /** While frozen nobody acts on workloads; undefined where that cannot be done. */
  readonly freeze: ((frozen: boolean) => void) | undefined;
  /** Annotations that give pods the times that the target was started with. */
  readonly podAnnotations: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

interface TargetOptions {
  readonly nodes: number;
  readonly pods: PodTimes;
  /** A real scheduler; the served world always has one. */
  readonly scheduler: boolean;
  /** Whether the audit log must hold what was sent. */
  readonly bodies: boolean;
}

type Started = Target | { readonly unavailable: string };

const connect = async (path: string): Promise<KubeClient> => {
  const access = await loadKubeconfig({ path, env: {} });
  return createKubeClient({ ...access, userAgent: benchAgent });
};

const labelNodes = async (api: KubeClient, names: readonly string[]): Promise<void> => {
  for (const [index, name] of names.entries()) {
    const body = { metadata: { labels: { 'bench-node': String(index) } } };
    await api.patch(resourceTypes.nodes, { name }, { type: 'merge', body });
  }
};

const groupName = 'bench';
const nodesReadyWithinMs = 90_000;

const userData = `#!/bin/bash
/etc/eks/bootstrap.sh ironman-2022 --use-max-pods false \\
  --kubelet-extra-args '--node-labels=bench=true --max-pods=110'
`;

/** Its image is Amazon Linux 2, its role is in aws-auth: new machines join as its own do. */
const modelGroup = 'demo-self-ng';

/** A group of large machines beside the demo's: m5.large has room for 29 pods only. */
const addGroup = async (world: ServedWorld, size: number): Promise<void> => {
  const config = {
    region: String(world.env.AWS_DEFAULT_REGION),
    endpoint: String(world.env.AWS_ENDPOINT_URL),
    credentials: {
      accessKeyId: String(world.env.AWS_ACCESS_KEY_ID),
      secretAccessKey: String(world.env.AWS_SECRET_ACCESS_KEY),
    },
  };
  const groups = new AutoScalingClient(config);
  const machines = new ec2.EC2Client(config);
  const described = await groups.send(new autoscaling.DescribeAutoScalingGroupsCommand({}));
  const model = described.AutoScalingGroups?.find(({ AutoScalingGroupName = '' }) =>
    AutoScalingGroupName.includes(modelGroup),
  );
  const subnets = model?.VPCZoneIdentifier;
  const templates = await machines.send(
    new ec2.DescribeLaunchTemplateVersionsCommand({
      LaunchTemplateId: model?.LaunchTemplate?.LaunchTemplateId,
      Versions: ['$Latest'],
    }),
  );
  const data = templates.LaunchTemplateVersions?.[0]?.LaunchTemplateData;
  const { ImageId: imageId, IamInstanceProfile: profile } = data ?? {};
  if (imageId === undefined || profile === undefined) {
    throw new Error(`the template of ${modelGroup} has no image or no instance profile`);
  }
  await machines.send(
    new ec2.CreateLaunchTemplateCommand({
      LaunchTemplateName: groupName,
      LaunchTemplateData: {
        InstanceType: 'm5.4xlarge',
        ImageId: imageId,
        IamInstanceProfile: profile,
        UserData: Buffer.from(userData).toString('base64'),
      },
    }),
  );
  await groups.send(
    new autoscaling.CreateAutoScalingGroupCommand({
      AutoScalingGroupName: groupName,
      LaunchTemplate: { LaunchTemplateName: groupName, Version: '1' },
      MinSize: 0,
      MaxSize: size,
      DesiredCapacity: size,
      ...defined({ VPCZoneIdentifier: subnets }),
    }),
  );
  groups.destroy();
  machines.destroy();
};

const benchNodes = async (api: KubeClient, count: number): Promise<readonly string[]> => {
  const end = performance.now() + nodesReadyWithinMs;
  for (;;) {
    const { items } = await api.list<Node>(resourceTypes.nodes, { labelSelector: 'bench=true' });
    const ready = items.filter((node) =>
      node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    if (ready.length >= count) return ready.map((node) => node.metadata.name).sort();
    if (performance.now() > end) throw new Error(`${ready.length} of ${count} nodes are Ready`);
    await sleep(100);
  }
};

/** A log with what was rotated away from it, oldest first. */
const readRotated = (file: string): string => {
  const rotated = [4, 3, 2, 1].map((i) => `${file}.${i}`).filter((name) => existsSync(name));
  return [...rotated, file].map((name) => readFileSync(name, 'utf8')).join('');
};

const servedTarget = async (options: TargetOptions): Promise<Started> => {
  const args = ['--demo', '--no-controller', '--port', '0'];
  const world = await ServedWorld.start({ args });
  try {
    const api = await connect(String(world.env.KUBECONFIG));
    await addGroup(world, options.nodes);
    const nodes = await benchNodes(api, options.nodes);
    await labelNodes(api, nodes);
    const { readyMs, stopMs } = options.pods;
    return {
      name: 'served world',
      api,
      compat: 'eks',
      env: world.env,
      nodes,
      auditText: () => readRotated(`${world.dataDir}/audit/audit.log`),
      freeze: undefined,
      podAnnotations: {
        'world.drover.dev/start-seconds': '0',
        'world.drover.dev/ready-seconds': String(readyMs / 1000),
        'world.drover.dev/stop-seconds': String(stopMs / 1000),
      },
      stop: async () => {
        await api.close();
        await world.stop();
      },
    };
  } catch (error) {
    await world.stop();
    throw error;
  }
};

const realTarget = async (options: TargetOptions): Promise<Started> => {
  const cluster = await startRealCluster({
    scheduler: options.scheduler,
    auditLevel: options.bodies ? 'Request' : 'Metadata',
  });
  if (!cluster.available) return { unavailable: cluster.reason };
  // The cloud of a cluster without machines: an idle world that holds nothing.
  const cloud = await ServedWorld.start({ args: ['--no-controller', '--port', '0'] });
  const api = await connect(cluster.kubeconfigPath);
  const nodes = Array.from({ length: options.nodes }, (_, i) => `bench-${i}`);
  const kubelets = await fakeKubelets({
    api,
    nodes: nodes.map((name, i) => ({ name, labels: { bench: 'true', 'bench-node': String(i) } })),
    readyAfterMs: options.pods.readyMs,
    goneAfterMs: options.pods.stopMs,
  });
  return {
    name: 'real API server',
    api,
    compat: 'native',
    // Without the world's own address: its Kubernetes API is not the one meant.
    env: { ...cloud.env, KUBECONFIG: cluster.kubeconfigPath, DROVER_URL: undefined },
    nodes,
    auditText: () => readFileSync(cluster.auditLogPath, 'utf8'),
    freeze: cluster.freezeControllers,
    podAnnotations: {},
    stop: async () => {
      await kubelets.stop();
      await api.close();
      await cluster.stop();
      await cloud.stop();
    },
  };
};

/**
 * Runs `work` on each target that can be had. Returns why others were left out, and what broke on
 * the way: the figures that `work` collected until then stand all the same.
 */
export const onEachTarget = async (
  options: TargetOptions,
  work: (target: Target) => Promise<void>,
): Promise<{ readonly notRun: readonly string[]; readonly failures: readonly string[] }> => {
  const notRun: string[] = [];
  const failures: string[] = [];
  const starts = { 'real API server': realTarget, 'served world': servedTarget } as const;
  for (const [name, start] of Object.entries(starts)) {
    try {
      const target = await start(options);
      if ('unavailable' in target) {
        notRun.push(`${name}: ${target.unavailable}`);
        continue;
      }
      try {
        await work(target);
      } finally {
        await target.stop();
      }
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { notRun, failures };
};
