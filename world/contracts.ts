// The interfaces between the parts of the world: the Kubernetes API for its own controllers and
// callers, machines between the cloud and the kubelets, addresses, faults. Types only.
import type { Json, JsonObject } from '../src/api/json.ts';
import type { KubeObject } from '../src/api/kube.ts';

// ---- the Kubernetes API server, as its callers use it ----

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One API request with its body already decoded, from the HTTP listener or from the simulation. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Decoded path, e.g. /api/v1/namespaces/demo/pods/x/eviction. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly accept: string;
  /** The body as JSON; YAML and protobuf are converted to JSON earlier. */
  readonly body?: Json;
  readonly user: UserInfo;
  readonly userAgent: string;
  readonly sourceIp: string;
  /** The form in which the body arrived; undefined for callers in this process. */
  readonly sent?: SentBody;
}

/**
 * Members that an object of the body contains twice: their paths for JSON, sentences with lines for
 * YAML.
 */
export interface SentBody {
  readonly form: 'json' | 'yaml';
  readonly duplicates: readonly string[];
}

export interface WatchFrame {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: JsonObject;
}

export type ApiResponse =
  | {
      readonly kind: 'object';
      readonly status: number;
      readonly body: JsonObject;
      /** Default: application/json; discovery and Table answers have their own type. */
      readonly contentType?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'text';
      readonly status: number;
      readonly body: string;
      /** Default: text/plain. */
      readonly contentType?: string;
    }
  | {
      readonly kind: 'watch';
      /**
       * Starts the stream. Frames are delivered synchronously at commit; `end` is called once when
       * the server closes it. The returned function closes the stream for the client.
       */
      readonly open: (on: {
        readonly frame: (frame: WatchFrame) => void;
        readonly end: () => void;
      }) => () => void;
    };

/** Status object of a failed request, as the API server sends it. */
export interface ApiStatus extends JsonObject {
  readonly kind: 'Status';
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
}

export type Result =
  | { readonly kind: 'ok'; readonly object: KubeObject & JsonObject }
  | { readonly kind: 'error'; readonly status: ApiStatus };

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface StoreChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: GroupResource;
  readonly object: KubeObject & JsonObject;
  readonly previous: (KubeObject & JsonObject) | undefined;
}

/**
 * A client in this process with an identity: same validation, admission and audit as for a request
 * over HTTP.
 */
export interface WorldClient {
  /** `pods/binding` and `pods/eviction` are also resources here; the object's name is the pod's. */
  create(resource: GroupResource, namespace: string | undefined, object: JsonObject): Result;
  /** PUT; checks `object.metadata.resourceVersion` if present. */
  update(
    resource: GroupResource,
    object: JsonObject,
    subresource?: 'status' | 'scale' | 'finalize' | 'approval',
  ): Result;
  patch(
    resource: GroupResource,
    name: { readonly namespace?: string; readonly name: string },
    patch: {
      readonly type: 'json' | 'merge' | 'strategic';
      readonly body: Json;
      readonly subresource?: string;
    },
  ): Result;
  delete(
    resource: GroupResource,
    name: { readonly namespace?: string; readonly name: string },
    options?: {
      readonly uid?: string;
      readonly gracePeriodSeconds?: number;
      readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
    },
  ): Result;
}

/** The API server as the world's own controllers, scheduler and kubelets use it. */
export interface WorldKube {
  /** The complete request path: REST, watch, Table, audit, admission. */
  handle(request: ApiRequest): ApiResponse;
  as(identity: { readonly user: UserInfo; readonly userAgent: string }): WorldClient;
  /** Reads without request, audit or copy. Objects are immutable. */
  read(
    resource: GroupResource,
    name: { readonly namespace?: string; readonly name: string },
  ): (KubeObject & JsonObject) | undefined;
  readAll(resource: GroupResource, namespace?: string): Iterable<KubeObject & JsonObject>;
  /** Pods bound to a node, by an index. */
  podsOnNode(nodeName: string): Iterable<KubeObject & JsonObject>;
  /** Objects whose controller or owner has this uid, by an index. */
  ownedBy(ownerUid: string, only?: GroupResource): Iterable<KubeObject & JsonObject>;
  /** Called synchronously after each commit. A listener only records keys and schedules events. */
  onChange(resource: GroupResource, listener: (change: StoreChange) => void): void;
  readonly revision: number;
}

// ---- machines: the cloud starts and stops them, the Kubernetes side runs kubelets on them ----

export interface Machine extends JsonObject {
  readonly instanceId: string;
  readonly instanceType: string;
  readonly imageId: string;
  readonly region: string;
  readonly zone: string;
  readonly subnetId: string;
  readonly privateIp: string;
  /** The node's name, e.g. ip-192-168-18-230.eu-west-1.compute.internal. */
  readonly privateDnsName: string;
  readonly capacityType: 'ON_DEMAND' | 'SPOT';
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly maxPods: number;
  /** Labels of --node-labels in the machine's user data. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly nodeTaints: readonly {
    readonly key: string;
    readonly value?: string;
    readonly effect: string;
  }[];
  /** False for a machine whose bootstrap fails: it runs but never becomes a node. */
  readonly joins: boolean;
  /**
   * The fault in its user data that prevents the bootstrap: a rule of docs/rules and a sentence.
   */
  readonly bootstrapFault?: string;
}

/** Why a machine does not become a node, or is not one any more. */
export type JoinRefusal =
  /** Its user data starts no kubelet, or one that exits. */
  | { readonly kind: 'userData'; readonly fault: string }
  /** EKS has no cluster with the name in its user data. */
  | { readonly kind: 'unknownCluster'; readonly cluster: string }
  | { readonly kind: 'endpoint'; readonly endpoint: string }
  /** Security groups or the endpoint's access block its packets. */
  | { readonly kind: 'unreachable'; readonly endpoint: string }
  | { readonly kind: 'noCredentials' }
  /** The cluster does not authorize its role. */
  | { readonly kind: 'unauthorized' }
  /** The cluster maps its role to a user that is not a node. */
  | { readonly kind: 'forbidden'; readonly user: string };

/** Undefined if the cluster authorizes the instance. */
export type JoinGate = (instanceId: string) => JoinRefusal | undefined;

/** Implemented by the Kubernetes side (simulated kubelets); called by EC2. */
export interface MachineHost {
  powerOn(machine: Machine): void;
  /**
   * Stops the machine: the kubelet stops at once, and the node object stays until the cloud
   * controller deletes it.
   */
  powerOff(instanceId: string): void;
  reboot(instanceId: string): void;
  /** The boot messages up to now. */
  consoleOutput(instanceId: string): string;
}

/** Implemented by EC2; called by the Kubernetes side. */
export interface MachineRegistry {
  /**
   * For the cloud node lifecycle controller, which deletes a node whose instance does not exist any
   * more.
   */
  instanceState(
    instanceId: string,
  ): 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated' | 'unknown';
  /** A pod address from the instance's subnet; undefined if the subnet has none left. */
  allocatePodAddress(instanceId: string): string | undefined;
  releasePodAddress(instanceId: string, address: string): void;
}

/** The requested load balancer of one Service of type LoadBalancer. */
export interface WantedLoadBalancer {
  /** Unique in the account; derived from the Service's uid. */
  readonly name: string;
  /** namespace/name of the Service, for the tags. */
  readonly service: string;
  readonly isInternal: boolean;
  readonly ports: readonly {
    readonly port: number;
    readonly nodePort: number;
    readonly protocol: string;
  }[];
  /** Ids of the instances that receive the traffic. */
  readonly instances: readonly string[];
}

/** Implemented by Elastic Load Balancing; called by the cloud controller manager. */
export interface ServiceBalancers {
  /** Creates the load balancer, or changes it to match the request. */
  ensure(wanted: WantedLoadBalancer): { readonly hostname: string };
  /** No-op if there is none of that name. */
  remove(name: string): void;
}

// ---- receivers of audit and CloudTrail records ----

/** Receives one audit.k8s.io/v1 event at stage ResponseComplete. Must not throw. */
export type AuditSink = (event: JsonObject) => void;

/**
 * The audit log as JSON lines, by position in bytes. A position refers to the same line as long as
 * the process runs. The oldest lines are dropped from the front.
 */
export interface KeptLog {
  /** Positions of the first byte that is kept and of the end. */
  extent(): { readonly start: number; readonly end: number };
  /** At most `length` bytes from a position; fewer at the end. The caller owns the memory. */
  read(from: number, length: number): Uint8Array;
}

/** A write with its request and its answer. `body` is omitted where the audit log omits it. */
export interface WriteRecord {
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly username: string;
  readonly userAgent: string;
  readonly code: number;
  readonly dryRun: boolean;
  readonly body: Json | undefined;
}

// ---- faults that `drover world inject` and the simulation turn on ----

export interface Fault extends JsonObject {
  readonly id: string;
  readonly kind: string;
  readonly target: Readonly<Record<string, string>>;
  readonly since: number;
}
