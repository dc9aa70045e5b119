// What the preflight of an update reads beside nodes, pods and budgets: workloads, volumes, quotas,
// webhooks and endpoints, in Kubernetes' own shape, reduced to the fields that are read. Never
// written.
import type { KubeObject, LabelSelector, Node, Pod, ResourceType, Toleration } from './kube.ts';

/** Quantities as Kubernetes writes them: `250m`, `70Mi`, 3. */
export type ResourceList = Readonly<Record<string, string | number>>;

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
  /** `Always` on an init container: a sidecar. */
  readonly restartPolicy?: string;
  readonly lifecycle?: {
    readonly preStop?: {
      readonly sleep?: { readonly seconds: number };
      readonly exec?: { readonly command?: readonly string[] };
    };
  };
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[];
  readonly matchFields?: readonly NodeRequirement[];
}
export interface NodeRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values?: readonly string[];
}
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
}

export interface TopologySpread {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly labelSelector?: LabelSelector;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string };
  readonly hostPath?: { readonly path: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: object;
}

interface FullPodSpec extends Omit<Pod['spec'], 'volumes'> {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: ResourceList;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
    };
    readonly podAntiAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
    };
  };
  readonly topologySpreadConstraints?: readonly TopologySpread[];
  readonly tolerations?: readonly Toleration[];
  readonly hostNetwork?: boolean;
  readonly volumes?: readonly Volume[];
}

export interface FullPod extends KubeObject {
  readonly spec: FullPodSpec;
  readonly status: Pod['status'] & {
    readonly containerStatuses?: readonly { readonly restartCount?: number }[];
  };
}

export interface FullNode extends KubeObject {
  readonly spec: Node['spec'];
  readonly status: Node['status'] & {
    readonly allocatable?: ResourceList;
    readonly capacity?: ResourceList;
    readonly nodeInfo?: { readonly architecture?: string; readonly kubeletVersion?: string };
  };
}

/** Deployment, ReplicaSet, StatefulSet, DaemonSet or Job. */
export interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
    readonly backoffLimit?: number;
    readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } };
  };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly startTime?: string;
    readonly active?: number;
  };
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: { readonly volumeName?: string; readonly storageClassName?: string };
}

export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly local?: { readonly path: string };
    readonly hostPath?: { readonly path: string };
    readonly nodeAffinity?: { readonly required?: NodeSelector };
  };
}

export interface ResourceQuota extends KubeObject {
  readonly spec: { readonly scopes?: readonly string[]; readonly scopeSelector?: object };
  readonly status?: { readonly hard?: ResourceList; readonly used?: ResourceList };
}

export interface LimitRange extends KubeObject {
  readonly spec: {
    readonly limits: readonly {
      readonly type: string;
      readonly min?: ResourceList;
      readonly max?: ResourceList;
    }[];
  };
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly failurePolicy?: 'Fail' | 'Ignore';
    readonly timeoutSeconds?: number;
    readonly namespaceSelector?: LabelSelector;
    readonly objectSelector?: LabelSelector;
    readonly clientConfig: {
      readonly url?: string;
      readonly service?: { readonly namespace: string; readonly name: string };
    };
    readonly rules?: readonly {
      readonly apiGroups?: readonly string[];
      readonly operations?: readonly string[];
      readonly resources?: readonly string[];
    }[];
  }[];
}

export interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly {
    readonly nodeName?: string;
    readonly conditions?: { readonly ready?: boolean };
  }[];
}

/** What the CSI drivers of a node can attach. */
export interface CsiNode extends KubeObject {
  readonly spec: {
    readonly drivers?: readonly {
      readonly name: string;
      readonly allocatable?: { readonly count?: number };
    }[];
  };
}
const type = (
  group: string,
  resource: string,
  kind: string,
  namespaced: boolean,
  version = 'v1',
): ResourceType => ({ group, version, resource, kind, namespaced });

/** Collections that only the preflight reads. */
export const preflightTypes = {
  statefulsets: type('apps', 'statefulsets', 'StatefulSet', true),
  jobs: type('batch', 'jobs', 'Job', true),
  persistentvolumeclaims: type('', 'persistentvolumeclaims', 'PersistentVolumeClaim', true),
  persistentvolumes: type('', 'persistentvolumes', 'PersistentVolume', false),
  resourcequotas: type('', 'resourcequotas', 'ResourceQuota', true),
  limitranges: type('', 'limitranges', 'LimitRange', true),
  services: type('', 'services', 'Service', true),
  endpointslices: type('discovery.k8s.io', 'endpointslices', 'EndpointSlice', true),
  csinodes: type('storage.k8s.io', 'csinodes', 'CSINode', false),
  validatingwebhooks: type(
    'admissionregistration.k8s.io',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    false,
  ),
  mutatingwebhooks: type(
    'admissionregistration.k8s.io',
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
    false,
  ),
} as const satisfies Readonly<Record<string, ResourceType>>;
