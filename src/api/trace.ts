// Trace: what happened in a world, in order, as the oracles of world/check read it. Written by the
// simulation and by the end-to-end stories; holds facts only, never what anybody thought of them.
import type { Json, JsonObject } from './json.ts';

export type TraceEntry =
  /** One request to the Kubernetes API, after it was answered. */
  | {
      readonly kind: 'request';
      readonly at: number;
      readonly userAgent: string;
      readonly username: string;
      /** get, list, watch, create, update, patch, delete, deletecollection. */
      readonly verb: string;
      readonly resource: string;
      readonly subresource?: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly code: number;
      readonly dryRun: boolean;
      readonly body?: Json;
    }
  /** One committed change of an object. */
  | {
      readonly kind: 'object';
      readonly at: number;
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      readonly resource: string;
      readonly object: JsonObject;
    }
  /** One AWS call, after it was answered. */
  | {
      readonly kind: 'call';
      readonly at: number;
      readonly service: string;
      readonly operation: string;
      readonly userAgent: string;
      readonly input: JsonObject;
      /** Absent on success. */
      readonly error?: string;
      /** For sqs DeleteMessage, where the world knows it: the body of the message that went. */
      readonly message?: string;
    }
  /** EC2's own word for an instance changed: pending, running, shutting-down, terminated, ... */
  | {
      readonly kind: 'instance';
      readonly at: number;
      readonly instanceId: string;
      readonly state: string;
      /** Where the cloud's record was at hand, as the two below. */
      readonly market?: 'spot' | 'on-demand';
      readonly privateDnsName?: string;
      readonly addresses?: readonly string[];
    }
  /** An instance's lifecycle state in its Auto Scaling group changed. */
  | {
      readonly kind: 'lifecycle';
      readonly at: number;
      readonly instanceId: string;
      readonly autoScalingGroupName: string;
      readonly state: string;
      /** Set when a hook ended: how. `timeout` = nobody completed it. */
      readonly hookEnded?: {
        readonly name: string;
        readonly by: 'completed' | 'timeout';
        readonly result: string;
      };
    }
  /** An Auto Scaling group's own sizes and suspended processes changed. */
  | {
      readonly kind: 'scaling';
      readonly at: number;
      readonly autoScalingGroupName: string;
      readonly minSize: number;
      readonly maxSize: number;
      readonly desired: number;
      readonly suspended: readonly string[];
    }
  /** A fault that was switched on or off, or a process that was killed or started. */
  | {
      readonly kind: 'fault';
      readonly at: number;
      readonly fault: string;
      readonly what: 'on' | 'off' | 'fired';
      readonly facts?: JsonObject;
    };

export interface TraceFacts {
  /** User agents of Drover's own processes in this trace. */
  readonly ownAgents: readonly string[];
  /** Auto Scaling groups that Drover manages. */
  readonly managedGroups: readonly string[];
  /** Names of the lifecycle hooks that are Drover's to answer; EKS's two names unless given. */
  readonly ownHooks?: readonly string[];
  readonly compat: 'eks' | 'native';
  /**
   * How far the clocks of our processes are off at most, microseconds; 0 unless given. Who acts at
   * an instant of its own clock acts that much earlier or later by the world's.
   */
  readonly clockSkew?: number;
  /** True when the trace ends after faults were off long enough for everything to end. */
  readonly settled: boolean;
  readonly endedAt: number;
}

/** `at` everywhere: microseconds since the epoch, of the world's clock. */
export interface Trace {
  readonly facts: TraceFacts;
  readonly entries: readonly TraceEntry[];
}

export interface Violation {
  /** e.g. `marks-before-eviction`. */
  readonly oracle: string;
  readonly at: number;
  readonly subject: string;
  readonly message: string;
}
