import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { coreRules } from './default-rules-core.ts';
import { otherRules } from './default-rules-others.ts';
import { workloadRules } from './default-rules-workloads.ts';
import { applyCreateDefaults, applyDefaults } from './defaults.ts';
import { namedType } from './facts.ts';

const gvk = (apiVersion: string, kind: string) => {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version, kind };
};

/** `object` with defaults applied. */
const defaulted = (apiVersion: string, kind: string, object: JsonObject): JsonObject =>
  applyDefaults(gvk(apiVersion, kind), object);

const POD_SPEC = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
};
const CONTAINER = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};

describe('defaults', () => {
  it('complete a Deployment as kubectl shows it after create', () => {
    const template = {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [{ name: 'nginx', image: 'nginx', ports: [{ containerPort: 80 }] }] },
    };
    expect(defaulted('apps/v1', 'Deployment', { spec: { template } })).toEqual({
      spec: {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' },
        },
        template: {
          metadata: { labels: { app: 'x' } },
          spec: {
            ...POD_SPEC,
            containers: [
              {
                name: 'nginx',
                image: 'nginx',
                imagePullPolicy: 'Always',
                ports: [{ containerPort: 80, protocol: 'TCP' }],
                ...CONTAINER,
              },
            ],
          },
        },
      },
    });
  });

  it.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.25', 'IfNotPresent'],
    ['registry:5000/nginx', 'Always'],
    ['registry:5000/nginx:1', 'IfNotPresent'],
    ['nginx@sha256:0123', 'IfNotPresent'],
    ['nginx:latest@sha256:0123', 'Always'],
  ])('pull %s %s', (image, policy) => {
    const pod = defaulted('v1', 'Pod', { spec: { containers: [{ name: 'c', image }] } });
    expect(pod).toMatchObject({ spec: { containers: [{ imagePullPolicy: policy }] } });
  });

  it.each<[string, string, string, JsonObject, JsonObject]>([
    [
      'a Pod takes requests from limits and shows service links',
      'v1',
      'Pod',
      {
        spec: {
          containers: [
            { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '2' } } },
          ],
        },
      },
      {
        spec: {
          enableServiceLinks: true,
          containers: [{ resources: { requests: { cpu: '2', memory: '1Gi' } } }],
        },
      },
    ],
    [
      'host networking publishes container ports',
      'v1',
      'Pod',
      { spec: { hostNetwork: true, containers: [{ ports: [{ containerPort: 80 }] }] } },
      { spec: { containers: [{ ports: [{ hostPort: 80, protocol: 'TCP' }] }] } },
    ],
    [
      'probes and their HTTP checks',
      'v1',
      'Pod',
      { spec: { containers: [{ readinessProbe: { httpGet: { port: 80 }, timeoutSeconds: 5 } }] } },
      {
        spec: {
          containers: [
            {
              readinessProbe: {
                httpGet: { port: 80, path: '/', scheme: 'HTTP' },
                timeoutSeconds: 5,
                periodSeconds: 10,
                successThreshold: 1,
                failureThreshold: 3,
              },
            },
          ],
        },
      },
    ],
    [
      'volumes: none is emptyDir, files have modes, host paths a type',
      'v1',
      'Pod',
      {
        spec: {
          volumes: [
            { name: 'a' },
            { name: 'b', configMap: { name: 'x' } },
            { name: 'c', hostPath: { path: '/' } },
          ],
        },
      },
      {
        spec: {
          volumes: [
            { name: 'a', emptyDir: {} },
            { configMap: { defaultMode: 420 } },
            { hostPath: { type: '' } },
          ],
        },
      },
    ],
    [
      'both names of the service account',
      'v1',
      'Pod',
      { spec: { serviceAccountName: 'sa' } },
      { spec: { serviceAccountName: 'sa', serviceAccount: 'sa' } },
    ],
    [
      'a Recreate Deployment has no rolling update',
      'apps/v1',
      'Deployment',
      { spec: { strategy: { type: 'Recreate' }, replicas: 0 } },
      { spec: { strategy: { type: 'Recreate' }, replicas: 0 } },
    ],
    [
      'a DaemonSet rolls one at a time',
      'apps/v1',
      'DaemonSet',
      { spec: {} },
      {
        spec: {
          revisionHistoryLimit: 10,
          updateStrategy: {
            type: 'RollingUpdate',
            rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
          },
        },
      },
    ],
    [
      'a StatefulSet and its claims',
      'apps/v1',
      'StatefulSet',
      { spec: { volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: {} }] } },
      {
        spec: {
          replicas: 1,
          podManagementPolicy: 'OrderedReady',
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
          persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
          volumeClaimTemplates: [
            {
              kind: 'PersistentVolumeClaim',
              status: { phase: 'Pending' },
              spec: { volumeMode: 'Filesystem' },
            },
          ],
        },
      },
    ],
    [
      'a Service',
      'v1',
      'Service',
      { spec: { ports: [{ port: 80 }] } },
      {
        spec: {
          type: 'ClusterIP',
          sessionAffinity: 'None',
          internalTrafficPolicy: 'Cluster',
          ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
        },
      },
    ],
    [
      'a load balancer',
      'v1',
      'Service',
      { spec: { type: 'LoadBalancer' } },
      { spec: { externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true } },
    ],
    [
      'a Job and its template labels',
      'batch/v1',
      'Job',
      { spec: { template: { metadata: { labels: { a: '1' } }, spec: { containers: [] } } } },
      {
        metadata: { labels: { a: '1' } },
        spec: { completions: 1, parallelism: 1, backoffLimit: 6, suspend: false },
      },
    ],
    [
      'a namespace labels itself',
      'v1',
      'Namespace',
      { metadata: { name: 'n', labels: { a: '1' } } },
      { metadata: { labels: { a: '1', 'kubernetes.io/metadata.name': 'n' } } },
    ],
    [
      'a node can allocate all it has',
      'v1',
      'Node',
      { status: { capacity: { cpu: '2' } } },
      { status: { allocatable: { cpu: '2' } } },
    ],
    [
      'subjects that are users and groups',
      'rbac.authorization.k8s.io/v1',
      'ClusterRoleBinding',
      { roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'User', name: 'u' }] },
      {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }],
      },
    ],
    [
      'a CustomResourceDefinition',
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      { spec: { names: { kind: 'NodeGroup' }, versions: [{ name: 'v1alpha1', storage: true }] } },
      {
        spec: {
          names: { singular: 'nodegroup', listKind: 'NodeGroupList' },
          conversion: { strategy: 'None' },
        },
        status: { storedVersions: ['v1alpha1'] },
      },
    ],
    [
      'an admission policy',
      'admissionregistration.k8s.io/v1',
      'ValidatingAdmissionPolicy',
      { spec: { matchConstraints: { resourceRules: [{ resources: ['nodes'] }] } } },
      {
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: { matchPolicy: 'Equivalent', resourceRules: [{ scope: '*' }] },
        },
      },
    ],
  ])('%s', (_name, apiVersion, kind, object, expected) => {
    expect(defaulted(apiVersion, kind, object)).toMatchObject(expected);
  });

  it('change nothing the second time: the very same object comes back', () => {
    const once = defaulted('v1', 'Pod', { spec: { containers: [{ name: 'c', image: 'i' }] } });
    expect(defaulted('v1', 'Pod', once)).toBe(once);
    expect(defaulted('v1', 'Pod', structuredClone(once))).toEqual(once);
  });

  it('share what needs none', () => {
    const object = { metadata: { name: 'p' }, spec: { nodeSelector: { a: '1' } } };
    const result = defaulted('v1', 'Pod', object) as { spec: JsonObject; metadata: JsonObject };
    expect(result.metadata).toBe(object.metadata);
    expect(result.spec.nodeSelector).toBe(object.spec.nodeSelector);
  });

  it('leave custom resources alone', () => {
    const object = { spec: {} };
    expect(defaulted('drover.dev/v1alpha1', 'NodeGroup', object)).toBe(object);
  });

  it('give a new namespace its finalizer and phase, but not again on update', () => {
    const namespace = { metadata: { name: 'n' } };
    expect(applyCreateDefaults(gvk('v1', 'Namespace'), namespace)).toMatchObject({
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    expect(defaulted('v1', 'Namespace', namespace).spec).toBe(undefined);
  });

  it('name only types that the facts hold', () => {
    for (const [name] of [...coreRules, ...workloadRules, ...otherRules]) {
      expect(namedType(name).kind).toBe('struct');
    }
  });
});
