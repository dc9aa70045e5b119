// The default add-ons of an EKS cluster, VPC CNI, kube-proxy and CoreDNS, as far as pods, requests
// and budgets are concerned (article 001 prints 25m, 100m, 100m and 70Mi/170Mi). Pure data.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Labels } from '../actors/index.ts';

export interface AddonOptions {
  readonly region: string;
  /** The control plane's version in EKS form. */
  readonly version: string;
  /** Cluster IP of DNS: the tenth address of the service range. */
  readonly dnsIp: string;
  /** Node labels that CoreDNS prefers, e.g. of the group that a demonstration will drain. */
  readonly dnsPrefers?: Labels;
}

/** The registry account of EKS add-on images in most regions. */
const registry = (region: string): string => `602401143452.dkr.ecr.${region}.amazonaws.com`;

const notOnFargate: { readonly nodeAffinity: JsonObject } = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
            { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] },
            {
              key: 'eks.amazonaws.com/compute-type',
              operator: 'NotIn',
              values: ['fargate', 'hybrid', 'auto'],
            },
          ],
        },
      ],
    },
  },
};

const systemDaemon = (options: {
  readonly name: string;
  readonly cpu: string;
  readonly image: string;
  readonly maxUnavailable: string;
}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: options.name, namespace: 'kube-system', labels: { 'k8s-app': options.name } },
  spec: {
    selector: { matchLabels: { 'k8s-app': options.name } },
    updateStrategy: {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: options.maxUnavailable },
    },
    template: {
      metadata: { labels: { 'k8s-app': options.name } },
      spec: {
        affinity: notOnFargate,
        hostNetwork: true,
        priorityClassName: 'system-node-critical',
        serviceAccountName: options.name,
        tolerations: [{ operator: 'Exists' }],
        containers: [
          {
            name: options.name,
            image: options.image,
            imagePullPolicy: 'IfNotPresent',
            resources: { requests: { cpu: options.cpu } },
          },
        ],
      },
    },
  },
});

const preferring = (labels: Labels | undefined): JsonObject =>
  labels === undefined
    ? notOnFargate
    : {
        nodeAffinity: {
          ...notOnFargate.nodeAffinity,
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 100,
              preference: {
                matchExpressions: Object.entries(labels).map(([key, value]) => ({
                  key,
                  operator: 'In',
                  values: [value],
                })),
              },
            },
          ],
        },
      };

const dnsLabels = { 'eks.amazonaws.com/component': 'coredns', 'k8s-app': 'kube-dns' };

const coredns = (options: AddonOptions): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'coredns', namespace: 'kube-system', labels: dnsLabels },
  spec: {
    replicas: 2,
    selector: { matchLabels: dnsLabels },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    template: {
      metadata: { labels: dnsLabels },
      spec: {
        affinity: {
          ...preferring(options.dnsPrefers),
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                podAffinityTerm: {
                  labelSelector: {
                    matchExpressions: [{ key: 'k8s-app', operator: 'In', values: ['kube-dns'] }],
                  },
                  topologyKey: 'kubernetes.io/hostname',
                },
              },
            ],
          },
        },
        dnsPolicy: 'Default',
        priorityClassName: 'system-cluster-critical',
        serviceAccountName: 'coredns',
        tolerations: [
          { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
          { key: 'CriticalAddonsOnly', operator: 'Exists' },
        ],
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'topology.kubernetes.io/zone',
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
          },
        ],
        containers: [
          {
            name: 'coredns',
            image: `${registry(options.region)}/eks/coredns:v1.11.4-eksbuild.2`,
            imagePullPolicy: 'IfNotPresent',
            ports: [
              { containerPort: 53, name: 'dns', protocol: 'UDP' },
              { containerPort: 53, name: 'dns-tcp', protocol: 'TCP' },
              { containerPort: 9153, name: 'metrics', protocol: 'TCP' },
            ],
            readinessProbe: { httpGet: { path: '/ready', port: 8181, scheme: 'HTTP' } },
            resources: {
              limits: { memory: '170Mi' },
              requests: { cpu: '100m', memory: '70Mi' },
            },
          },
        ],
      },
    },
  },
});

const corednsBudget: JsonObject = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'coredns', namespace: 'kube-system', labels: dnsLabels },
  spec: {
    maxUnavailable: 1,
    selector: {
      matchExpressions: [
        { key: 'eks.amazonaws.com/component', operator: 'In', values: ['coredns'] },
        { key: 'k8s-app', operator: 'In', values: ['kube-dns'] },
      ],
    },
  },
};

const dnsService = (dnsIp: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kube-dns',
    namespace: 'kube-system',
    labels: {
      'eks.amazonaws.com/component': 'kube-dns',
      'k8s-app': 'kube-dns',
      'kubernetes.io/cluster-service': 'true',
      'kubernetes.io/name': 'CoreDNS',
    },
  },
  spec: {
    clusterIP: dnsIp,
    selector: { 'k8s-app': 'kube-dns' },
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
      { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
      { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 9153 },
    ],
  },
});

const serviceAccount = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: 'kube-system' },
});

/** In order of creation. */
export const addonObjects = (options: AddonOptions): readonly JsonObject[] => {
  const minor = /^v?(\d+\.\d+)/.exec(options.version)?.[1] ?? '1.32';
  return [
    serviceAccount('aws-node'),
    serviceAccount('kube-proxy'),
    serviceAccount('coredns'),
    systemDaemon({
      name: 'aws-node',
      cpu: '25m',
      image: `${registry(options.region)}/amazon-k8s-cni:v1.19.2-eksbuild.1`,
      maxUnavailable: '10%',
    }),
    systemDaemon({
      name: 'kube-proxy',
      cpu: '100m',
      image: `${registry(options.region)}/eks/kube-proxy:v${minor}.0-minimal-eksbuild.2`,
      maxUnavailable: '10%',
    }),
    corednsBudget,
    coredns(options),
    dnsService(options.dnsIp),
  ];
};
