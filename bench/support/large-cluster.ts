// A Kubernetes API on loopback that holds many nodes and pods, in a process of its own:
// `node large-cluster.ts NODES PODS_PER_NODE KUBECONFIG`. Prints `ready`. Only clients change its
// objects, since it has no controllers and no kubelets. Pods have a grace period of 0, so an
// eviction removes them at once. Nodes stay Ready: a drain does not ask the cloud about them.
import { writeFileSync } from 'node:fs';
import type { JsonObject } from '../../src/api/json.ts';
import { createKubeListener, listenOnLoopback, Pacer } from '../../src/serve/index.ts';
import { createAuthority } from '../../test/support/certificates.ts';
import type { Result } from '../../world/contracts.ts';
import { Kernel } from '../../world/kernel/index.ts';
import { seedKube } from '../../world/kube/seed/index.ts';
import { createKubeApiServer } from '../../world/kube/server/index.ts';
import { defaultPrinter, printers } from '../../world/kube/tables/index.ts';

const [nodes = '100', podsPerNode = '30', path = 'kubeconfig'] = process.argv.slice(2);
const nodeCount = Number(nodes);
/** The kubelet's default `nodeStatusMaxImages`. */
const imagesPerNode = 50;
const podsPerApp = 50;

const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0');
const digest = (value: number): string =>
  hex(value * 2_654_435_761, 16)
    .repeat(4)
    .slice(0, 64);
const time = new Date().toISOString().replace(/\.\d+/, '');

const images = Array.from({ length: imagesPerNode }, (_, i) => {
  const repository = `602401143452.dkr.ecr.eu-west-1.amazonaws.com/team/service-${i}`;
  const names = [`${repository}@sha256:${digest(i)}`, `${repository}:v1.${i}.0`];
  return { names, sizeBytes: 50_000_000 + i };
});

const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
  type,
  status: type === 'Ready' ? 'True' : 'False',
  reason: type === 'Ready' ? 'KubeletReady' : `KubeletHasNo${type}`,
  message: `kubelet has sufficient resources for ${type}`,
  lastHeartbeatTime: time,
  lastTransitionTime: time,
}));

const nodeName = (i: number): string =>
  `ip-10-${i >> 16}-${(i >> 8) & 255}-${i & 255}.eu-west-1.compute.internal`;

/** As large as a node of EKS. */
const node = (i: number): JsonObject => {
  const zone = `eu-west-1${'abc'[i % 3]}`;
  const group = `group-${i % 5}`;
  const resources = { cpu: '15890m', memory: '60Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  return {
    metadata: {
      name: nodeName(i),
      labels: {
        'alpha.eksctl.io/cluster-name': 'large',
        'alpha.eksctl.io/nodegroup-name': group,
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/instance-type': 'm5.4xlarge',
        'beta.kubernetes.io/os': 'linux',
        'failure-domain.beta.kubernetes.io/region': 'eu-west-1',
        'failure-domain.beta.kubernetes.io/zone': zone,
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': nodeName(i),
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': 'm5.4xlarge',
        'node.kubernetes.io/lifecycle': 'on-demand',
        'topology.k8s.aws/zone-id': `euw1-az${(i % 3) + 1}`,
        'topology.kubernetes.io/region': 'eu-west-1',
        'topology.kubernetes.io/zone': zone,
      },
      annotations: {
        'alpha.kubernetes.io/provided-node-ip': `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
        'csi.volume.kubernetes.io/nodeid': `{"ebs.csi.aws.com":"i-${hex(i, 17)}"}`,
        'node.alpha.kubernetes.io/ttl': '0',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: { providerID: `aws:///${zone}/i-${hex(i, 17)}` },
    status: {
      addresses: [
        { type: 'InternalIP', address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` },
        { type: 'Hostname', address: nodeName(i) },
      ],
      capacity: resources,
      allocatable: resources,
      conditions,
      images,
      nodeInfo: {
        architecture: 'amd64',
        bootID: `${hex(i, 8)}-0000-4000-8000-${hex(i, 12)}`,
        containerRuntimeVersion: 'containerd://1.7.27',
        kernelVersion: '6.1.148-173.267.amzn2023.x86_64',
        kubeProxyVersion: 'v1.32.9-eks-113cf36',
        kubeletVersion: 'v1.32.9-eks-113cf36',
        machineID: digest(i).slice(0, 32),
        operatingSystem: 'linux',
        osImage: 'Amazon Linux 2023.8.20250915',
        systemUUID: `ec2${hex(i, 5)}-0000-4000-8000-${hex(i, 12)}`,
      },
    },
  };
};

const podCount = nodeCount * Number(podsPerNode);
const appCount = Math.ceil(podCount / podsPerApp);

const pod = (i: number): JsonObject => {
  const app = `app-${i % appCount}`;
  return {
    metadata: {
      name: `${app}-${hex(i, 8)}`,
      labels: { app },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: app, uid: app, controller: true },
      ],
    },
    spec: {
      nodeName: nodeName(Math.floor(i / Number(podsPerNode))),
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'app',
          image: 'example/app:1',
          env: Array.from({ length: 10 }, (_, n) => ({ name: `SETTING_${n}`, value: `${n}` })),
          resources: { requests: { cpu: '100m', memory: '128Mi' } },
        },
      ],
    },
  };
};

const replicaSet = (name: string): JsonObject => ({
  metadata: { name, labels: { app: name } },
  spec: {
    replicas: podsPerApp,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'app', image: 'example/app:1' }] },
    },
  },
});

/** As the disruption controller of Kubernetes writes it; no controller counts here. */
const budgetStatus = {
  observedGeneration: 1,
  expectedPods: podsPerApp,
  currentHealthy: podsPerApp,
  desiredHealthy: podsPerApp / 2,
  disruptionsAllowed: podsPerApp / 2,
};

const kernel = new Kernel({ seed: 1, startAt: Date.now() * 1000 });
const kube = createKubeApiServer({
  kernel,
  version: () => ({ gitVersion: 'v1.32.9-eks-113cf36', major: '1', minor: '32+' }),
  printers,
  defaultPrinter,
});
const user = { username: 'bench', groups: ['system:masters'] };
const client = kube.as({ user, userAgent: 'bench' });

const must = (result: Result): void => {
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
};

const fill = (): void => {
  seedKube({ kube, addons: false });
  for (let i = 0; i < nodeCount; i++) {
    must(client.create({ group: '', resource: 'nodes' }, undefined, node(i)));
  }
  const budgets = { group: 'policy', resource: 'poddisruptionbudgets' } as const;
  for (let i = 0; i < appCount; i++) {
    const name = `app-${i}`;
    const replicas = { group: 'apps', resource: 'replicasets' } as const;
    must(client.create(replicas, 'default', replicaSet(name)));
    if (i % 2 > 0) continue;
    const spec = { selector: { matchLabels: { app: name } }, maxUnavailable: '50%' };
    must(client.create(budgets, 'default', { metadata: { name }, spec }));
    const patch = { type: 'merge', subresource: 'status', body: { status: budgetStatus } } as const;
    must(client.patch(budgets, { namespace: 'default', name }, patch));
  }
  for (let i = 0; i < podCount; i++) {
    must(client.create({ group: '', resource: 'pods' }, 'default', pod(i)));
  }
};

const serve = async (): Promise<void> => {
  const authority = await createAuthority();
  const server = await authority.server('large', ['127.0.0.1']);
  const admin = await authority.client('CN=bench,O=system:masters');
  const pacer = new Pacer({
    kernel,
    wallMs: () => performance.now(),
    speed: 1,
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    commit: () => undefined,
  });
  let port = 0;
  const listener = createKubeListener(
    {
      kube,
      pacer,
      tls: { ca: authority.certificate, cert: server.certificate, key: server.key },
      authenticateToken: async () => undefined,
      parseYaml: () => Promise.reject(new Error('this API takes JSON only')),
    },
    { port: () => port, onError: (error) => console.error(error) },
  );
  port = await listenOnLoopback(listener, 0);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': base64(authority.certificate),
  };
  const credentials = {
    'client-certificate-data': base64(admin.certificate),
    'client-key-data': base64(admin.key),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'large', cluster }],
    users: [{ name: 'admin', user: credentials }],
    contexts: [{ name: 'large', context: { cluster: 'large', user: 'admin' } }],
    'current-context': 'large',
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  console.log('ready');
  await pacer.run(new AbortController().signal);
};

fill();
await serve();
