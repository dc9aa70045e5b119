// What one pass over a node group begins with, and what passes of one process remember. No
// behaviour.
import type { EpochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import type { HealthIssue, NodeGroup } from '../../api/nodegroup.ts';
import type { ProbeResult } from '../../api/update-pacing.ts';
import type { HookRun } from '../../core/update/index.ts';
import type { AdoptedMemory } from './lifecycle/adopted.ts';
import type { AdoptionMemory } from './lifecycle/adoption.ts';
import type { Made } from './lifecycle/create.ts';
import type { HooksMemory } from './lifecycle/hooks.ts';
import type { HeldMemory } from './lifecycle/leaving-issues.ts';
import type { ActivityMemory } from './nodes/activities.ts';
import type { ModeMemory, NodeRoles } from './nodes/node-roles.ts';
import type { LateFindings } from './nodes/observe.ts';
import type { LeftMemory } from './size/left.ts';
import type { LateMemory } from './update/late-processes.ts';
import type { GateMemory } from './update/pods.ts';
import type { WindowsMemory } from './update/windows.ts';

/** What is tried each for itself: that one succeeds says nothing about another. */
export type Effect =
  | 'adopt'
  | 'marks'
  | 'create'
  | 'identity'
  | 'template'
  | 'sizes'
  | 'update'
  | 'release';

/** Those that are over, and webhooks that were asked and are not. */
export interface HookMemory {
  readonly uid: string;
  readonly ended: Map<string, HookRun>;
  readonly asked: Map<string, HookRun>;
}

/** Known to this process alone; a restart costs a look or a call more. */
export interface PassMemory extends AdoptionMemory, AdoptedMemory, ModeMemory, HooksMemory {
  /** Our last change of the cloud: what was seen before it is not believed after it. */
  actedAt: number;
  /** The last look past the shared ones. */
  lookedAt: number;
  /** Why the last try of an effect was refused for good. */
  readonly trouble: Map<Effect, HealthIssue>;
  /** What the health probes of an update found last. */
  probed?: { readonly uid: string; readonly results: readonly ProbeResult[] };
  /** Hooks of an update, by the names of their calls. */
  hooked?: HookMemory;
  made?: Made;
  /** What was found out last about instances that are late to join. */
  late?: LateFindings;
  /** What an update's gate was last decided on. */
  gate?: GateMemory;
  /** What Auto Scaling told of its launches when it was last asked. */
  activities?: ActivityMemory;
  /** The cloud knows no group of this name, look after look, since then. */
  missingSince?: EpochMs;
  /**
   * Nobody has asked for its Auto Scaling group yet, or we had it deleted. Undefined: it may stand.
   */
  absence?: 'never-made' | 'deleted';
  /** Instances come or go by an update: the cloud is looked at more often. */
  isMoving?: boolean;
  /** The uid of the Node that each instance has, or had last. */
  readonly nodeUids: Map<string, string>;
  /** What the cluster lacked for Windows nodes by the last look. */
  windows?: WindowsMemory;
  /** The note of an update that was last to be written, and how often it was. */
  noting?: { readonly text: string; readonly times: number };
  /** Instances that an update ended: whether the group became smaller by each. */
  readonly left: LeftMemory;
  /** What budgets hold of the pods of a group that is being deleted. */
  readonly held: HeldMemory;
  /** Of what an earlier leader has suspended late. */
  readonly lateCall: LateMemory;
  /** What a release waits for, a sentence. */
  releasing?: string | undefined;
  /** Since when something of a group that ends cannot be deleted. */
  inUseSince?: number;
}

export interface PassInput {
  readonly group: NodeGroup;
  /** Undefined: the cloud knows no group of this name. */
  readonly scaling: ScalingGroup | undefined;
  readonly memory: PassMemory;
  readonly roles: NodeRoles;
  readonly signal: AbortSignal;
}
