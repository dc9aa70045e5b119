// The input of one pass over a node group, and the memory that passes of one process share. No
// behaviour.
import type { EpochMs } from '../../api/brand.ts';
import type { ScalingGroup } from '../../api/cloud.ts';
import type { HealthIssue, NodeGroup } from '../../api/nodegroup.ts';
import type { ProbeResult } from '../../api/update-pacing.ts';
import type { HookLack, Made } from '../../core/nodegroup/index.ts';
import type { HookRun } from '../../core/update/index.ts';
import type { AdoptedMemory } from './lifecycle/adopted.ts';
import type { HeldMemory } from './lifecycle/deletion-issues.ts';
import type { ActivityMemory } from './nodes/activities.ts';
import type { ModeMemory, NodeRoles } from './nodes/node-roles.ts';
import type { LateFindings } from './nodes/observe.ts';
import type { LeftMemory } from './size/left.ts';
import type { LateMemory } from './update/late-processes.ts';
import type { GateMemory } from './update/pods.ts';
import type { WindowsMemory } from './update/windows.ts';

/** Effects that are tried independently: the success of one says nothing about another. */
export type Effect =
  | 'adopt'
  | 'marks'
  | 'create'
  | 'identity'
  | 'template'
  | 'sizes'
  | 'update'
  | 'release';

/** Ended hooks, and webhooks that were called and have not ended. */
export interface HookMemory {
  readonly uid: string;
  readonly ended: Map<string, HookRun>;
  readonly asked: Map<string, HookRun>;
}

/** The last read of the group's lifecycle hooks, and why terminations cannot be seen. */
export interface HooksMemory {
  hooks?: { readonly lookedAt: EpochMs; readonly generation: number; readonly lack?: HookLack };
}

/** Known only to this process; a restart costs an extra read or call. */
export interface PassMemory extends AdoptedMemory, ModeMemory, HooksMemory {
  /** Drover's last change of the cloud; earlier observations are stale. */
  actedAt: number;
  /** When the owner's tag of a group that is being adopted was set, or first read. */
  markedAt?: number;
  /** The last read that bypassed the shared ones. */
  lookedAt: number;
  /** Why the last try of an effect was refused for good. */
  readonly trouble: Map<Effect, HealthIssue>;
  /** Latest results of an update's health probes. */
  probed?: { readonly uid: string; readonly results: readonly ProbeResult[] };
  /** Hooks of an update, by the names of their calls. */
  hooked?: HookMemory;
  made?: Made;
  /** Latest findings about instances that are late to join. */
  late?: LateFindings;
  /** Input of the last decision about an update's gate. */
  gate?: GateMemory;
  /** Scaling activities of the last read. */
  activities?: ActivityMemory;
  /** Since when every answer of the cloud lacked a group of this name. */
  missingSince?: EpochMs;
  /** The Auto Scaling group was never requested, or Drover deleted it. Undefined: it may exist. */
  absence?: 'never-made' | 'deleted';
  /** An update launches or terminates instances: the cloud is read more often. */
  isMoving?: boolean;
  /** The uid of each instance's current or last Node. */
  readonly nodeUids: Map<string, string>;
  /** What the cluster lacked for Windows nodes at the last read. */
  windows?: WindowsMemory;
  /** The update record that was last written, and how often it was written. */
  noting?: { readonly text: string; readonly times: number };
  /** Instances that an update terminated: whether the group shrank by each. */
  readonly left: LeftMemory;
  /** Pods that budgets hold in a group that is being deleted. */
  readonly held: HeldMemory;
  /** Late suspensions by earlier leaders. */
  readonly lateCall: LateMemory;
  /** Since when a part of a group that is being deleted cannot be deleted. */
  inUseSince?: number;
}

export interface PassInput {
  readonly group: NodeGroup;
  /** Undefined: the cloud has no group of this name. */
  readonly scaling: ScalingGroup | undefined;
  readonly memory: PassMemory;
  readonly roles: NodeRoles;
  readonly signal: AbortSignal;
}
