// The objects of a rollout's applications, as an operator would apply them. Pure.

import type { GroupResource } from '../../../world/contracts.ts';
import type { JsonObject } from '../../api/json.ts';
import type { RolloutApp } from './cluster.ts';

export interface WorkloadObject {
  readonly resource: GroupResource;
  readonly object: JsonObject;
}

export const appNamespace = 'default';
export const agentNamespace = 'kube-system';
export const rolloutGroup = 'ng';
/** Kubernetes version of the control plane. */
export const rolloutVersion = '1.32';

const resources: Readonly<Record<RolloutApp['kind'], GroupResource>> = {
  Deployment: { group: 'apps', resource: 'deployments' },
  StatefulSet: { group: 'apps', resource: 'statefulsets' },
  DaemonSet: { group: 'apps', resource: 'daemonsets' },
  Pod: { group: '', resource: 'pods' },
};

const podOf = (app: RolloutApp) => ({
  metadata: {
    labels: { app: app.name },
    annotations: {
      'world.drover.dev/start-seconds': '0.5',
      'world.drover.dev/ready-seconds': String(Math.max(0, app.readySeconds - 0.5)),
      'world.drover.dev/stop-seconds': String(app.stopSeconds),
    },
  },
  spec: {
    nodeSelector: { 'eks.amazonaws.com/nodegroup': rolloutGroup },
    ...(app.isPlain === true
      ? { hostNetwork: true }
      : {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: { app: app.name } },
            },
          ],
        }),
    containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '50m' } } }],
  },
});

const ownerOf = (app: RolloutApp): JsonObject => {
  const meta = { name: app.name, namespace: appNamespace };
  const pod = podOf(app);
  if (app.kind === 'Pod') {
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...meta, ...pod.metadata },
      spec: pod.spec,
    };
  }
  const selector = { matchLabels: { app: app.name } };
  return {
    apiVersion: 'apps/v1',
    kind: app.kind,
    metadata: meta,
    spec: {
      selector,
      template: pod,
      ...(app.kind === 'DaemonSet' ? {} : { replicas: app.replicas }),
      ...(app.kind === 'StatefulSet'
        ? { serviceName: app.name, podManagementPolicy: 'Parallel' }
        : {}),
    },
  };
};

const budgetOf = (app: RolloutApp): readonly WorkloadObject[] =>
  app.maxUnavailable === undefined
    ? []
    : [
        {
          resource: { group: 'policy', resource: 'poddisruptionbudgets' },
          object: {
            apiVersion: 'policy/v1',
            kind: 'PodDisruptionBudget',
            metadata: { name: app.name, namespace: appNamespace },
            spec: {
              maxUnavailable: app.maxUnavailable,
              selector: { matchLabels: { app: app.name } },
            },
          },
        },
      ];

/**
 * The DaemonSets that EKS runs on each node; with them, maxPods matches the number of addresses.
 */
export const nodeAgents: readonly WorkloadObject[] = ['aws-node', 'kube-proxy'].map((name) => {
  const labels = { 'k8s-app': name };
  const template = {
    metadata: { labels },
    spec: {
      hostNetwork: true,
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name, image: `${name}:1` }],
    },
  };
  return {
    resource: resources.DaemonSet,
    object: {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, namespace: agentNamespace },
      spec: { selector: { matchLabels: labels }, template },
    },
  };
});

export const workloadOf = (apps: readonly RolloutApp[]): readonly WorkloadObject[] =>
  apps.flatMap((app) => [
    { resource: resources[app.kind], object: ownerOf(app) },
    ...budgetOf(app),
  ]);
