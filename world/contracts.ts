// What the parts of the world promise each other: the Kubernetes API as its own controllers and
// callers use it, machines between the cloud and the kubelets, addresses, faults. Types only.
import type { Json, JsonObject } from '../src/api/json.ts';
import type { KubeObject } from '../src/api/kube.ts';

// ---- the Kubernetes API server, seen by everything that calls it ----

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One API request with its body already decoded. Entry for the HTTP listener and for sim alike. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Decoded path, e.g. /api/v1/namespaces/demo/pods/x/eviction. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly accept: string;
  /** Parsed JSON body (YAML and protobuf are turned into JSON before). */
  readonly body?: Json;
  readonly user: UserInfo;
  readonly userAgent: string;
  readonly sourceIp: string;
  /** How the body came over the wire; undefined for callers in this process. */
  readonly sent?: SentBody;
}

/**
 * Members that an object of the body has twice: their paths in JSON, sentences with lines in YAML.
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
      /** Defaults to application/json; discovery and Table answers carry their own. */
      readonly contentType?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'text';
      readonly status: number;
      readonly body: string;
      /** Defaults to plain text. */
      readonly contentType?: string;
    }
  | {
      readonly kind: 'watch';
      /**
       * Starts the stream: frames are delivered synchronously at commit; `end` is called once when
       * the server closes it. The returned function stops it from the client's side.
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
 * In-world client with an identity: same validation, admission and audit as a request over HTTP.
 */
export interface WorldClient {
  /** `pods/binding` and `pods/eviction` are resources here too: the object names its pod. */
  create(resource: GroupResource, namespace: string | undefined, object: JsonObject): Result;
  /** PUT; `object.metadata.resourceVersion` is checked when present. */
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

/** What the world's own controllers, scheduler and kubelets see of the API server. */
export interface WorldKube {
  /** Full request path: REST, watch, Table, audit, admission. */
  handle(request: ApiRequest): ApiResponse;
  as(identity: { readonly user: UserInfo; readonly userAgent: string }): WorldClient;
  /** Reads without request, audit or copy. Objects are immutable. */
  read(
    resource: GroupResource,
    name: { readonly namespace?: string; readonly name: string },
  ): (KubeObject & JsonObject) | undefined;
  readAll(resource: GroupResource, namespace?: string): Iterable<KubeObject & JsonObject>;
  /** Indexed: pods bound to a node, without walking the others. */
  podsOnNode(nodeName: string): Iterable<KubeObject & JsonObject>;
  /** Indexed: objects whose controller or owner has this uid. */
  ownedBy(ownerUid: string, only?: GroupResource): Iterable<KubeObject & JsonObject>;
  /** Called synchronously after each commit. A listener only marks keys and schedules events. */
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
  /** e.g. ip-192-168-18-230.eu-west-1.compute.internal: becomes the node's name. */
  readonly privateDnsName: string;
  readonly capacityType: 'ON_DEMAND' | 'SPOT';
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly maxPods: number;
  /** Labels given with --node-labels in the machine's user data. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly nodeTaints: readonly {
    readonly key: string;
    readonly value?: string;
    readonly effect: string;
  }[];
  /** False for a machine whose bootstrap fails: it runs but never becomes a node. */
  readonly joins: boolean;
  /** What is wrong in its user data, where that is why: a rule of docs/rules and a sentence. */
  readonly bootstrapFault?: string;
}

/** Why a machine does not become a node, or is one no longer. */
export type JoinRefusal =
  /** Its user data starts no kubelet that runs. */
  | { readonly kind: 'userData'; readonly fault: string }
  /** EKS knows no cluster of the name in its user data. */
  | { readonly kind: 'unknownCluster'; readonly cluster: string }
  | { readonly kind: 'endpoint'; readonly endpoint: string }
  /** Security groups or the endpoint's access keep its packets out. */
  | { readonly kind: 'unreachable'; readonly endpoint: string }
  | { readonly kind: 'noCredentials' }
  /** The cluster does not know its role. */
  | { readonly kind: 'unauthorized' }
  /** The cluster knows its role as somebody who is no node. */
  | { readonly kind: 'forbidden'; readonly user: string };

/** Undefined: it is let in. */
export type JoinGate = (instanceId: string) => JoinRefusal | undefined;

/** Implemented by the Kubernetes side (simulated kubelets); called by EC2. */
export interface MachineHost {
  powerOn(machine: Machine): void;
  /** Orderly stop: the kubelet dies now, the node object stays until the cloud controller acts. */
  powerOff(instanceId: string): void;
  reboot(instanceId: string): void;
  /** Boot messages so far. */
  consoleOutput(instanceId: string): string;
}

/** Implemented by EC2; called by the Kubernetes side. */
export interface MachineRegistry {
  /** For the cloud node lifecycle: a node whose instance is gone is deleted. */
  instanceState(
    instanceId: string,
  ): 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated' | 'unknown';
  /** A pod address from the instance's subnet; undefined when the subnet has none left. */
  allocatePodAddress(instanceId: string): string | undefined;
  releasePodAddress(instanceId: string, address: string): void;
}

/** What the cloud is to make of one Service of type LoadBalancer. */
export interface WantedLoadBalancer {
  /** Unique in the account: made from the Service's uid. */
  readonly name: string;
  /** namespace/name of the Service, as tags tell it. */
  readonly service: string;
  readonly isInternal: boolean;
  readonly ports: readonly {
    readonly port: number;
    readonly nodePort: number;
    readonly protocol: string;
  }[];
  /** Instance ids of the nodes that traffic may come in by. */
  readonly instances: readonly string[];
}

/** Implemented by Elastic Load Balancing; called by the cloud controller manager. */
export interface ServiceBalancers {
  /** Makes the load balancer, or changes it to what is wanted now. */
  ensure(wanted: WantedLoadBalancer): { readonly hostname: string };
  /** Nothing happens when there is none of that name. */
  remove(name: string): void;
}

// ---- audit and CloudTrail sinks ----

/** Receives one audit.k8s.io/v1 event at stage ResponseComplete. Must not throw. */
export type AuditSink = (event: JsonObject) => void;

/**
 * The audit log as it was written, JSON lines, by position in bytes. A position means the same line
 * as long as the process runs; what is no longer kept is gone from the front.
 */
export interface KeptLog {
  /** The first byte that is still there, and the one after the last. */
  extent(): { readonly start: number; readonly end: number };
  /** At most `length` bytes from there on; fewer at the end. The memory is the reader's. */
  read(from: number, length: number): Uint8Array;
}

/**
 * A write as it was asked for and answered; `body` is left out where the audit log leaves it out.
 */
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

// ---- faults that `drover world inject` and the simulation switch on ----

export interface Fault extends JsonObject {
  readonly id: string;
  readonly kind: string;
  readonly target: Readonly<Record<string, string>>;
  readonly since: number;
}
