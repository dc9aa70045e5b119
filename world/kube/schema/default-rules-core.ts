// Defaults of core/v1 types, as Kubernetes 1.32 sets them (pkg/apis/core/v1/defaults.go and the
// conversion of PodSpec). Feature gates are at their defaults of that release.
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type DefaultRule,
  fill,
  fillZero,
  forEach,
  isUnset,
  objectAt,
  type RuleEntry,
  within,
} from './default-rule.ts';
import type { ObjectDraft } from './values.ts';

/** `latest` when the image names neither tag nor digest; empty for a digest alone. */
function imageTag(image: string): string {
  const [name = '', digest] = image.split('@', 2);
  const last = name.slice(name.lastIndexOf('/') + 1);
  const colon = last.indexOf(':');
  if (colon >= 0) return last.slice(colon + 1);
  return digest === undefined ? 'latest' : '';
}

const pullPolicy = (image: ReturnType<ObjectDraft['get']>): string =>
  imageTag(typeof image === 'string' ? image : '') === 'latest' ? 'Always' : 'IfNotPresent';

const container: DefaultRule = (draft) => {
  if (isUnset(draft.get('imagePullPolicy'))) {
    draft.set('imagePullPolicy', pullPolicy(draft.get('image')));
  }
  fill({
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  })(draft);
};

/** In a Pod, but not in a template, a limit also sets a missing request. */
const requestsFromLimits: DefaultRule = (draft) => {
  const resources = objectAt(draft, 'resources');
  const limits = resources.limits;
  if (typeof limits !== 'object' || limits === null) return;
  within(draft, 'resources', (inner) => {
    within(inner, 'requests', fill(limits as JsonObject));
  });
};

const hostPorts: DefaultRule = (draft) => {
  forEach(draft, 'ports', (port) => {
    const number = port.get('containerPort');
    const current = port.get('hostPort');
    if ((isUnset(current) || current === 0) && number !== undefined) port.set('hostPort', number);
  });
};

const CONTAINER_LISTS = ['containers', 'initContainers'] as const;

const pod: DefaultRule = (draft) => {
  within(draft, 'spec', (spec) => {
    for (const list of CONTAINER_LISTS) forEach(spec, list, requestsFromLimits);
    fill({ enableServiceLinks: true })(spec);
    if (spec.get('hostNetwork') !== true) return;
    for (const list of CONTAINER_LISTS) forEach(spec, list, hostPorts);
  });
};

const podSpec: DefaultRule = (draft) => {
  fill({
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    schedulerName: 'default-scheduler',
  })(draft);
  // The server keeps both names of the service account field equal.
  const account = draft.get('serviceAccountName') ?? draft.get('serviceAccount');
  if (!isUnset(account) && account !== undefined) {
    draft.set('serviceAccountName', account);
    draft.set('serviceAccount', account);
  }
};

const volume: DefaultRule = (draft) => {
  if (draft.keys().every((key) => key === 'name')) draft.set('emptyDir', {});
};

const servicePort: DefaultRule = (draft) => {
  const target = draft.get('targetPort');
  const port = draft.get('port');
  if ((isUnset(target) || target === 0) && port !== undefined) draft.set('targetPort', port);
};

const BALANCED = ['NodePort', 'LoadBalancer'];

const serviceSpec: DefaultRule = (draft) => {
  fill({ sessionAffinity: 'None', type: 'ClusterIP' })(draft);
  const affinity = draft.get('sessionAffinity');
  if (affinity === 'None') draft.delete('sessionAffinityConfig');
  if (affinity === 'ClientIP') {
    within(draft, 'sessionAffinityConfig', (config) => {
      within(config, 'clientIP', fill({ timeoutSeconds: 10_800 }));
    });
  }
  forEach(draft, 'ports', servicePort);
  const type = String(draft.get('type'));
  const external = draft.get('externalIPs');
  const hasExternalIps = type === 'ClusterIP' && Array.isArray(external) && external.length > 0;
  if (BALANCED.includes(type) || hasExternalIps) fill({ externalTrafficPolicy: 'Cluster' })(draft);
  if (type !== 'ExternalName') fill({ internalTrafficPolicy: 'Cluster' })(draft);
  if (type === 'LoadBalancer') fill({ allocateLoadBalancerNodePorts: true })(draft);
};

const namespace: DefaultRule = (draft) => {
  const name = objectAt(draft, 'metadata').name;
  if (typeof name === 'string' && name !== '') {
    within(draft, 'metadata', (metadata) => {
      within(metadata, 'labels', (labels) => {
        labels.set('kubernetes.io/metadata.name', name);
      });
    });
  }
  within(draft, 'status', fill({ phase: 'Active' }));
};

const nodeStatus: DefaultRule = (draft) => {
  const capacity = draft.get('capacity');
  if (isUnset(draft.get('allocatable')) && !isUnset(capacity) && capacity !== undefined) {
    draft.set('allocatable', capacity);
  }
};

const persistentVolume: DefaultRule = (draft) => {
  within(draft, 'status', fill({ phase: 'Pending' }));
  within(
    draft,
    'spec',
    fill({ persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' }),
  );
};

const limitRangeItem: DefaultRule = (draft) => {
  if (draft.get('type') !== 'Container') return;
  const limits = { ...objectAt(draft, 'max'), ...objectAt(draft, 'default') };
  const requests = { ...objectAt(draft, 'min'), ...limits, ...objectAt(draft, 'defaultRequest') };
  if (Object.keys(limits).length > 0) draft.set('default', limits);
  if (Object.keys(requests).length > 0) draft.set('defaultRequest', requests);
};

const replicationController: DefaultRule = (draft) => {
  within(draft, 'spec', (spec) => {
    fill({ replicas: 1 })(spec);
    const metadata = objectAt(spec, 'template').metadata;
    const labels =
      typeof metadata === 'object' && metadata !== null
        ? (metadata as JsonObject).labels
        : undefined;
    if (labels === undefined || labels === null) return;
    fill({ selector: labels })(spec);
    within(draft, 'metadata', fill({ labels }));
  });
};

const FILE_MODE = { defaultMode: 0o644 };

export const coreRules: readonly RuleEntry[] = [
  ['core/v1.Pod', pod],
  ['core/v1.PodSpec', podSpec],
  ['core/v1.Container', container],
  ['core/v1.EphemeralContainer', container],
  ['core/v1.Volume', volume],
  [
    'core/v1.ImageVolumeSource',
    (draft) => fill({ pullPolicy: pullPolicy(draft.get('reference')) })(draft),
  ],
  [
    'core/v1.Probe',
    fillZero({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  ],
  ['core/v1.HTTPGetAction', fill({ path: '/', scheme: 'HTTP' })],
  ['core/v1.ObjectFieldSelector', fill({ apiVersion: 'v1' })],
  ['core/v1.SecretVolumeSource', fill(FILE_MODE)],
  ['core/v1.ConfigMapVolumeSource', fill(FILE_MODE)],
  ['core/v1.DownwardAPIVolumeSource', fill(FILE_MODE)],
  ['core/v1.ProjectedVolumeSource', fill(FILE_MODE)],
  ['core/v1.ServiceAccountTokenProjection', fill({ expirationSeconds: 3600 })],
  ['core/v1.HostPathVolumeSource', (draft) => draft.set('type', draft.get('type') ?? '')],
  ['core/v1.ServiceSpec', serviceSpec],
  ['core/v1.Namespace', namespace],
  ['core/v1.NodeStatus', nodeStatus],
  ['core/v1.Secret', fill({ type: 'Opaque' })],
  ['core/v1.PersistentVolume', persistentVolume],
  ['core/v1.PersistentVolumeClaim', (draft) => within(draft, 'status', fill({ phase: 'Pending' }))],
  ['core/v1.PersistentVolumeClaimSpec', fill({ volumeMode: 'Filesystem' })],
  ['core/v1.EndpointPort', fill({ protocol: 'TCP' })],
  ['core/v1.LimitRangeItem', limitRangeItem],
  ['core/v1.ReplicationController', replicationController],
];
