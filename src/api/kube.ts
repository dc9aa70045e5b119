// Narrow Kubernetes types: only the fields that Drover reads or writes, in Kubernetes' own shape.
// Informers trim objects to these; other fields are never read.

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastHeartbeatTime?: string;
  readonly observedGeneration?: number;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly timeAdded?: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export interface Node extends KubeObject {
  readonly spec: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
  };
  readonly status: {
    readonly conditions?: readonly Condition[];
    /** Changes with a reboot of the machine. */
    readonly nodeInfo?: { readonly bootID?: string };
  };
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly terminationGracePeriodSeconds?: number;
    readonly priorityClassName?: string;
    readonly priority?: number;
    readonly tolerations?: readonly Toleration[];
    /** Names of volumes with an emptyDir, and of claims: all that a drain reads. */
    readonly volumes?: readonly {
      readonly name: string;
      readonly emptyDir?: object;
      readonly ephemeral?: object;
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
  readonly status: {
    readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    readonly startTime?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface Deployment extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector: LabelSelector };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
  };
}

export interface VolumeAttachment extends KubeObject {
  readonly spec: {
    readonly nodeName: string;
    /** Absent for a volume that a pod names itself. */
    readonly source: { readonly persistentVolumeName?: string };
  };
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: LabelSelector;
    readonly unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
  };
  readonly status: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
    readonly conditions?: readonly Condition[];
  };
}

/** A collection in Kubernetes' API: plural resource name with its group and version. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const builtIn = (
  group: string,
  version: string,
  resource: string,
  kind: string,
  namespaced: boolean,
): ResourceType => ({ group, version, resource, kind, namespaced });

export const resourceTypes = {
  nodes: builtIn('', 'v1', 'nodes', 'Node', false),
  pods: builtIn('', 'v1', 'pods', 'Pod', true),
  namespaces: builtIn('', 'v1', 'namespaces', 'Namespace', false),
  configmaps: builtIn('', 'v1', 'configmaps', 'ConfigMap', true),
  secrets: builtIn('', 'v1', 'secrets', 'Secret', true),
  events: builtIn('', 'v1', 'events', 'Event', true),
  leases: builtIn('coordination.k8s.io', 'v1', 'leases', 'Lease', true),
  deployments: builtIn('apps', 'v1', 'deployments', 'Deployment', true),
  replicasets: builtIn('apps', 'v1', 'replicasets', 'ReplicaSet', true),
  daemonsets: builtIn('apps', 'v1', 'daemonsets', 'DaemonSet', true),
  jobs: builtIn('batch', 'v1', 'jobs', 'Job', true),
  cronjobs: builtIn('batch', 'v1', 'cronjobs', 'CronJob', true),
  horizontalpodautoscalers: builtIn(
    'autoscaling',
    'v2',
    'horizontalpodautoscalers',
    'HorizontalPodAutoscaler',
    true,
  ),
  poddisruptionbudgets: builtIn(
    'policy',
    'v1',
    'poddisruptionbudgets',
    'PodDisruptionBudget',
    true,
  ),
  volumeattachments: builtIn(
    'storage.k8s.io',
    'v1',
    'volumeattachments',
    'VolumeAttachment',
    false,
  ),
  certificatesigningrequests: builtIn(
    'certificates.k8s.io',
    'v1',
    'certificatesigningrequests',
    'CertificateSigningRequest',
    false,
  ),
  nodegroups: builtIn('drover.dev', 'v1alpha1', 'nodegroups', 'NodeGroup', false),
  nodegroupupdates: builtIn('drover.dev', 'v1alpha1', 'nodegroupupdates', 'NodeGroupUpdate', false),
  nodegroupupdatesequences: builtIn(
    'drover.dev',
    'v1alpha1',
    'nodegroupupdatesequences',
    'NodeGroupUpdateSequence',
    false,
  ),
  nodedisruptions: builtIn('drover.dev', 'v1alpha1', 'nodedisruptions', 'NodeDisruption', false),
  noderepairs: builtIn('drover.dev', 'v1alpha1', 'noderepairs', 'NodeRepair', false),
  customresourcedefinitions: builtIn(
    'apiextensions.k8s.io',
    'v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
    false,
  ),
} as const satisfies Readonly<Record<string, ResourceType>>;
