// Trace: the events of a world in order, as the oracles of world/check read them. Written by the
// simulation and by the end-to-end tests; holds facts only, no judgements.
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
      /** The label and field selectors of a list or watch, as a query string. */
      readonly selector?: string;
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
      /** For sqs DeleteMessage, where the world knows it: the body of the deleted message. */
      readonly message?: string;
    }
  /** EC2's state of an instance changed: pending, running, shutting-down, terminated, ... */
  | {
      readonly kind: 'instance';
      readonly at: number;
      readonly instanceId: string;
      readonly state: string;
      /** Undefined if the cloud's record was not available; likewise the next two fields. */
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
      /** How the hook ended, if it has; `timeout`: it was not completed in time. */
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
  /** Names of the lifecycle hooks that Drover has to complete; default: EKS' two names. */
  readonly ownHooks?: readonly string[];
  readonly compat: 'eks' | 'native';
  /**
   * Maximum error of our processes' clocks, microseconds; default 0. A process that acts at an
   * instant of its own clock may be that much early or late by the world's clock.
   */
  readonly clockSkew?: number;
  /** True when faults were off before the end for long enough that everything could finish. */
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
