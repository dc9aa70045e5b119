// Initial content of a cluster: namespaces, system priority classes, the API's own Service, default
// roles, add-ons, aws-auth. Also the demo's workload, article 002's nginx, as objects.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { GroupResource, WorldClient, WorldKube } from '../../contracts.ts';
import { nodeManagerAgent, nodeManagerUser } from '../../identities.ts';
import { clientFor, clusterIdentity, type Labels, resources } from '../actors/index.ts';
import { addonObjects } from './addons.ts';
import { defaultRoles } from './roles.ts';

export {
  installMonitoringAgent,
  monitoringAgent,
  removeMonitoringAgent,
} from './monitoring-agent.ts';

export interface SeedOptions {
  readonly kube: WorldKube;
  /** The control plane's version in EKS form; default v1.32.9-eks-113cf36. */
  readonly version?: string;
  readonly region?: string;
  /** Role ARNs of the groups' nodes, as in aws-auth. */
  readonly nodeRoleArns?: readonly string[];
  /** First three numbers of the service range; default 10.100.0. */
  readonly servicePrefix?: string;
  /** Node labels that CoreDNS prefers; without them the scheduler decides freely. */
  readonly dnsPrefers?: Labels;
  /** False omits the API's endpoints, aws-node, kube-proxy and CoreDNS, for simulations. */
  readonly addons?: boolean;
  /** False omits Deployments: the caller seeds again once nodes exist. */
  readonly deployments?: boolean;
}

const collections: Readonly<Record<string, GroupResource>> = {
  Namespace: resources.namespaces,
  PriorityClass: resources.priorityclasses,
  Service: resources.services,
  Endpoints: resources.endpoints,
  EndpointSlice: resources.endpointslices,
  StorageClass: resources.storageclasses,
  ServiceAccount: resources.serviceaccounts,
  ConfigMap: resources.configmaps,
  DaemonSet: resources.daemonsets,
  Deployment: resources.deployments,
  PodDisruptionBudget: resources.poddisruptionbudgets,
  Role: resources.roles,
  RoleBinding: resources.rolebindings,
  ClusterRole: resources.clusterroles,
  ClusterRoleBinding: resources.clusterrolebindings,
};

const namespace = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

const priorityClass = (name: string, value: number): JsonObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  description: 'Used for system critical pods.',
});

/** The class that EKS creates with a cluster; since 1.30 it is not the default class. */
const gp2: JsonObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'gp2' },
  provisioner: 'kubernetes.io/aws-ebs',
  parameters: { fsType: 'ext4', type: 'gp2' },
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
};

const apiService = (prefix: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: {
    clusterIP: `${prefix}.1`,
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 443 }],
  },
});

/** Addresses of the control plane's network interfaces as EKS would place them, one per subnet. */
const apiAddresses = ['192.168.0.10', '192.168.32.10'];

/** Endpoints of its own Service, which each API server writes. */
const apiEndpoints: readonly JsonObject[] = [
  {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
    },
    subsets: [
      {
        addresses: apiAddresses.map((ip) => ({ ip })),
        ports: [{ name: 'https', port: 443, protocol: 'TCP' }],
      },
    ],
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    addressType: 'IPv4',
    endpoints: apiAddresses.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
    ports: [{ name: 'https', port: 443, protocol: 'TCP' }],
  },
];

/** One entry of aws-auth's mapRoles, in the form that article 002 prints. */
export const mapRolesEntry = (roleArn: string): string =>
  [
    '- groups:',
    '  - system:bootstrappers',
    '  - system:nodes',
    `  rolearn: ${roleArn}`,
    '  username: system:node:{{EC2PrivateDNSName}}',
    '',
  ].join('\n');

const awsAuth = (roleArns: readonly string[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'aws-auth', namespace: 'kube-system' },
  data: { mapRoles: roleArns.map(mapRolesEntry).join(''), mapUsers: '[]\n' },
});

/** Creates `object` unless it exists. Throws when the API server refuses it, which is a defect. */
const ensure = (kube: WorldKube, client: WorldClient, object: JsonObject): void => {
  const collection = collections[String(object.kind)];
  if (collection === undefined) throw new Error(`no collection for ${String(object.kind)}`);
  const { name, namespace } = object.metadata as { name: string; namespace?: string };
  const key = { name, ...defined({ namespace }) };
  // Reads first: a refused create would appear in the audit log.
  if (kube.read(collection, key) !== undefined) return;
  const made = client.create(collection, namespace, object);
  if (made.kind === 'error' && made.status.reason !== 'AlreadyExists') {
    throw new Error(`seed of ${String(object.kind)} refused: ${made.status.message}`);
  }
};

/** Fills an empty cluster; on a filled one nothing changes. */
export const seedKube = (options: SeedOptions): void => {
  const client = clientFor(options.kube, clusterIdentity);
  // EKS itself creates aws-auth with the role of the first managed group: article 002 prints EKS as
  // its field manager.
  const manager = options.kube.as({ user: nodeManagerUser, userAgent: nodeManagerAgent });
  const prefix = options.servicePrefix ?? '10.100.0';
  const addon = {
    region: options.region ?? 'eu-west-1',
    version: options.version ?? 'v1.32.9-eks-113cf36',
    dnsIp: `${prefix}.10`,
    ...defined({ dnsPrefers: options.dnsPrefers }),
  };
  const objects = [
    ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map(namespace),
    priorityClass('system-cluster-critical', 2_000_000_000),
    priorityClass('system-node-critical', 2_000_001_000),
    gp2,
    apiService(prefix),
    ...(options.addons === false ? [] : [...apiEndpoints, ...addonObjects(addon)]),
  ];
  const wanted = objects.filter(
    ({ kind }) => kind !== 'Deployment' || options.deployments !== false,
  );
  for (const object of wanted) ensure(options.kube, client, object);
  ensure(options.kube, manager, awsAuth(options.nodeRoleArns ?? []));
  seedRoles(options.kube, { addons: options.addons !== false });
};

/** Creates missing default roles, as an API server does on every start. */
export const seedRoles = (kube: WorldKube, { addons }: { readonly addons: boolean }): void => {
  const client = clientFor(kube, clusterIdentity);
  for (const object of defaultRoles(addons)) ensure(kube, client, object);
};

/** Article 002's nginx-normal.yaml. */
export const demoWorkload = (): readonly JsonObject[] => [
  namespace('demo'),
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'nginx-demo-deployment',
      namespace: 'demo',
      labels: { app: 'nginx-demo' },
    },
    spec: {
      selector: { matchLabels: { app: 'nginx-demo' } },
      replicas: 4,
      template: {
        metadata: { labels: { app: 'nginx-demo' } },
        spec: {
          containers: [
            {
              image: 'nginx:latest',
              imagePullPolicy: 'Always',
              name: 'nginx-demo',
              ports: [{ containerPort: 80 }],
            },
          ],
        },
      },
    },
  },
];
