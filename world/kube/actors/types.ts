// Types of the built-in objects as the world's controllers, scheduler and kubelets read them. The
// API server validates what is stored, so a view is a cast; nothing here checks or copies.
import type { Json } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';

export type Owner = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

export type Meta = {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly ownerReferences?: readonly Owner[];
  readonly finalizers?: readonly string[];
};

export type Labels = Readonly<Record<string, string>>;

export type Cond = {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly lastHeartbeatTime?: string;
  readonly lastProbeTime?: string | null;
  readonly observedGeneration?: number;
};

export type TaintView = {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
};

export type TolerationView = {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
};

export type Requirement = {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
};

export type Selector = {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly Requirement[];
};

export type NodeTerm = {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
};

export type PodAffinityTerm = {
  readonly labelSelector?: Selector;
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: Selector;
  readonly matchLabelKeys?: readonly string[];
};

export type SpreadConstraint = {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: Selector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
  readonly matchLabelKeys?: readonly string[];
};

type PodTerms = {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: PodAffinityTerm;
  }[];
};

type AffinityView = {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeTerm[];
    };
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight: number;
      readonly preference: NodeTerm;
    }[];
  };
  readonly podAffinity?: PodTerms;
  readonly podAntiAffinity?: PodTerms;
};

export type ContainerView = {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly resources?: {
    readonly requests?: Labels;
    readonly limits?: Labels;
  };
  readonly readinessProbe?: {
    readonly initialDelaySeconds?: number;
    readonly periodSeconds?: number;
  };
  readonly ports?: readonly {
    readonly containerPort: number;
    readonly name?: string;
    readonly protocol?: string;
    readonly hostPort?: number;
    readonly hostIP?: string;
  }[];
};

export type PodVolume = {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly [source: string]: Json | undefined;
};

type PodSpecView = {
  readonly nodeName?: string;
  readonly restartPolicy?: string;
  readonly containers: readonly ContainerView[];
  readonly volumes?: readonly PodVolume[];
  readonly initContainers?: readonly ContainerView[];
  readonly ephemeralContainers?: readonly ContainerView[];
  readonly hostNetwork?: boolean;
  readonly nodeSelector?: Labels;
  readonly affinity?: AffinityView;
  readonly tolerations?: readonly TolerationView[];
  readonly topologySpreadConstraints?: readonly SpreadConstraint[];
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly overhead?: Labels;
};

type PodStatusView = {
  readonly phase?: string;
  readonly conditions?: readonly Cond[];
  readonly podIP?: string;
  readonly startTime?: string;
  readonly containerStatuses?: readonly {
    readonly name: string;
    readonly ready: boolean;
    readonly restartCount: number;
    readonly state?: {
      readonly terminated?: { readonly exitCode: number; readonly finishedAt?: string };
    };
  }[];
  readonly nominatedNodeName?: string;
};

export type PodView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: PodSpecView;
  readonly status?: PodStatusView;
};

export type NodeView = KubeObject & {
  readonly metadata: Meta;
  readonly spec?: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly TaintView[];
  };
  readonly status?: {
    readonly conditions?: readonly Cond[];
    readonly allocatable?: Labels;
    readonly capacity?: Labels;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Labels;
  };
};

export type PodTemplate = {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec: PodSpecView;
};

export type ReplicaSetView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly replicas?: number;
    readonly selector: Selector;
    readonly template: PodTemplate;
    readonly minReadySeconds?: number;
  };
  readonly status?: {
    readonly replicas?: number;
    readonly fullyLabeledReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly observedGeneration?: number;
  };
};

export type DeploymentView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly replicas?: number;
    readonly selector: Selector;
    readonly template: PodTemplate;
    readonly minReadySeconds?: number;
    readonly paused?: boolean;
    readonly revisionHistoryLimit?: number;
    readonly progressDeadlineSeconds?: number;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly maxSurge?: number | string;
        readonly maxUnavailable?: number | string;
      };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly Cond[];
    readonly collisionCount?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly unavailableReplicas?: number;
  };
};

export type DaemonSetView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly selector: Selector;
    readonly template: PodTemplate;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
    };
  };
  readonly status?: { readonly [field: string]: number | undefined };
};

export type BudgetView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: Selector;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly disruptedPods?: Labels;
    readonly conditions?: readonly Cond[];
  };
};

export type ServiceView = KubeObject & {
  readonly metadata: Meta;
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly loadBalancerClass?: string;
    readonly selector?: Labels;
    readonly publishNotReadyAddresses?: boolean;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly protocol?: string;
      readonly targetPort?: number | string;
      readonly nodePort?: number;
    }[];
  };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname?: string }[] };
  };
};

export type LeaseView = KubeObject & {
  readonly spec?: { readonly renewTime?: string; readonly holderIdentity?: string };
};

export type NamespaceView = KubeObject & {
  readonly metadata: Meta;
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string };
};

export const asPod = (object: KubeObject): PodView => object as PodView;
export const asNode = (object: KubeObject): NodeView => object as NodeView;
export const asReplicaSet = (object: KubeObject): ReplicaSetView => object as ReplicaSetView;
export const asDeployment = (object: KubeObject): DeploymentView => object as DeploymentView;
export const asDaemonSet = (object: KubeObject): DaemonSetView => object as DaemonSetView;
export const asBudget = (object: KubeObject): BudgetView => object as BudgetView;
export const asService = (object: KubeObject): ServiceView => object as ServiceView;
export const asLease = (object: KubeObject): LeaseView => object as LeaseView;
export const asNamespace = (object: KubeObject): NamespaceView => object as NamespaceView;
export const metaOf = (object: KubeObject): Meta => object.metadata as Meta;
