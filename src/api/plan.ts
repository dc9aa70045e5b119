// Plan: what core decides, runtime runs, `plan`, `explain` and `--dry-run` print, oracles check.
// Every step is concrete, idempotent and carries its own precondition; no choice is left open.
import type { NodeDisruptionStatus, WaitingOn } from './disruption.ts';
import type { Json } from './json.ts';

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export type Step =
  | {
      readonly kind: 'PatchNode';
      readonly node: string;
      /** Compared with the cache just before; inside the body too where the mode allows it. */
      readonly uid: string;
      readonly resourceVersion: string;
      readonly patch: 'merge' | 'json' | 'strategic';
      readonly body: Json;
      readonly why: string;
    }
  | {
      readonly kind: 'Evict';
      readonly node: string;
      readonly pod: PodRef;
      /** The budget whose token this eviction takes; absent when it needs none. */
      readonly budget?: string;
    }
  | {
      readonly kind: 'DeletePod';
      readonly node: string;
      readonly pod: PodRef;
      /** Absent = the pod's own. */
      readonly graceSeconds?: number;
      /** Beside the uid, where the decision rests on exactly this version of the pod. */
      readonly resourceVersion?: string;
      readonly why: string;
    }
  | {
      readonly kind: 'HeartbeatHook' | 'CompleteHook';
      readonly autoScalingGroupName: string;
      readonly hookName: string;
      readonly instanceId: string;
      readonly result?: 'CONTINUE' | 'ABANDON';
    }
  | {
      readonly kind: 'TerminateInstance';
      readonly instanceId: string;
      readonly decrementDesired: boolean;
    }
  | { readonly kind: 'RebootInstance'; readonly instanceId: string }
  | {
      readonly kind: 'WriteStatus';
      readonly disruption: string;
      readonly resourceVersion: string;
      readonly status: NodeDisruptionStatus;
    }
  | {
      /** A read past every cache, on whose answer the next pass decides. Changes nothing. */
      readonly kind: 'Confirm';
      readonly what: 'nodeEmpty' | 'noNode' | 'instance' | 'leaving' | 'replacement';
      /** Node name for nodeEmpty, else the instance id. */
      readonly subject: string;
      /** For leaving, where it is known; for replacement. */
      readonly autoScalingGroupName?: string;
    }
  | {
      /** Withdraws a cause that has lost its reason: what was done for it is undone. */
      readonly kind: 'WithdrawCause';
      readonly disruption: string;
      readonly causeId: string;
    }
  | {
      /** Removes the journal of a disruption that ended long ago. */
      readonly kind: 'DeleteDisruption';
      readonly disruption: string;
      readonly uid: string;
      readonly resourceVersion: string;
    };

export interface Plan {
  /** What the plan is for: the NodeDisruption's name. */
  readonly subject: string;
  /** In order; a failed step ends the pass, the next pass observes again. */
  readonly steps: readonly Step[];
  readonly waitingOn: readonly WaitingOn[];
  /** Epoch milliseconds of the next pass if nothing happens before; absent = only on change. */
  readonly nextCheckAt?: number;
}
