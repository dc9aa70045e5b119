// The two clusters on which drains are measured: the served world (its own process) and a real API
// server with stand-ins for kubelets. Both keep an audit log, the common clock.

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

/** User agent of the measurement's own setup; never counted. */
const benchAgent = 'bench';

interface PodTimes {
  readonly readyMs: number;
  readonly stopMs: number;
}

export interface Target {
  readonly name: string;
  readonly api: KubeClient;
  /** Marking mode of `drover controller`: as in `drover up`, or its default. */
  readonly compat: 'eks' | 'native';
  /** For kubectl and drover processes: KUBECONFIG, and a world's AWS endpoint and keys. */
  readonly env: NodeJS.ProcessEnv;
  /** Nodes for the measurement, each labelled `bench-node=<its index>`. */
  readonly nodes: readonly string[];
  /** The complete audit log so far. */
  readonly auditText: () => string;
  /** While frozen, no controller acts on workloads; undefined when not supported. */
  readonly freeze: ((frozen: boolean) => void) | undefined;
  /** Annotations that give pods the times with which the target was started. */
  readonly podAnnotations: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

interface TargetOptions {
  readonly nodes: number;
  readonly pods: PodTimes;
  /** Starts a real scheduler; the served world always has one. */
  readonly scheduler: boolean;
  /** Whether the audit log must contain request bodies. */
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

/** Name of the group of large machines beside the demo's. */
export const groupName = 'bench';
const nodesReadyWithinMs = 90_000;

const userData = `#!/bin/bash
/etc/eks/bootstrap.sh ironman-2022 --use-max-pods false \\
  --kubelet-extra-args '--node-labels=bench=true --max-pods=110'
`;

/** Uses Amazon Linux 2 and a role in aws-auth, so that new machines join like its own. */
const modelGroup = 'demo-self-ng';

/** A group of large machines in addition to the demo's: m5.large has room for only 29 pods. */
export const addGroup = async (world: ServedWorld, size: number): Promise<void> => {
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

/** A log including its rotated files, oldest first. */
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
  // The cloud for a cluster without machines: an idle, empty world.
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
    // Without the world's own address, whose Kubernetes API is another one.
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
 * Runs `work` on each available target. Returns why others were skipped, and failures: figures
 * collected before a failure remain valid.
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
