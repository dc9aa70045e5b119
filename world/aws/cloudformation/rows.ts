// Rows of CloudFormation: stacks, their resources, their events, their change sets. Types only.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Tags } from '../filters.ts';

export type ResourceStatus =
  /** Not started: the service does not list such a resource. */
  | 'NOT_STARTED'
  | 'CREATE_IN_PROGRESS'
  | 'CREATE_COMPLETE'
  | 'CREATE_FAILED'
  | 'DELETE_IN_PROGRESS'
  | 'DELETE_COMPLETE'
  | 'DELETE_FAILED'
  | 'DELETE_SKIPPED'
  | 'UPDATE_IN_PROGRESS'
  | 'UPDATE_COMPLETE'
  | 'UPDATE_FAILED';

export type StackStatus =
  | Exclude<ResourceStatus, 'NOT_STARTED' | 'DELETE_SKIPPED' | 'UPDATE_FAILED'>
  /** Created by a change set that has not been executed: a name without resources. */
  | 'REVIEW_IN_PROGRESS'
  | 'ROLLBACK_IN_PROGRESS'
  | 'ROLLBACK_COMPLETE'
  | 'ROLLBACK_FAILED'
  | 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'
  | 'UPDATE_ROLLBACK_IN_PROGRESS'
  | 'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS'
  | 'UPDATE_ROLLBACK_COMPLETE'
  | 'UPDATE_ROLLBACK_FAILED';

export type StackResource = {
  readonly logicalId: string;
  /** Empty until the resource exists. */
  readonly physicalId: string;
  readonly type: string;
  readonly status: ResourceStatus;
  readonly reason?: string;
  readonly updatedAt: number;
  /** Values for Fn::GetAtt. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Evaluated, as sent to the service. */
  readonly properties: JsonObject;
  /** The stack's tags on the resource, for types that also take later changes of them. */
  readonly stackTags?: Tags;
  /** A step of its update that the service has begun. */
  readonly step?: ResourceStep;
  readonly dependsOn: readonly string[];
};

export type ResourceStep = {
  /** The call whose answer reports the progress of the step. */
  readonly look: SavedCall;
  /** The resource's values after the step has succeeded. */
  readonly result: StepResult;
};
export type SavedCall = {
  readonly service: string;
  readonly operation: string;
  readonly input: JsonObject;
};
export type StepResult = Pick<StackResource, 'properties' | 'stackTags'>;

export type StackOutput = {
  readonly key: string;
  readonly value: string;
  readonly description?: string;
  readonly exportName?: string;
};

export type OnFailure = 'ROLLBACK' | 'DELETE' | 'DO_NOTHING';

export type StackRow = {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly deletedAt?: number;
  readonly status: StackStatus;
  readonly reason?: string;
  readonly tags: Tags;
  readonly capabilities: readonly string[];
  readonly onFailure: OnFailure;
  readonly isProtected: boolean;
  /** The change set that created it, or that last changed it. */
  readonly changeSetId?: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** As parsed. */
  readonly template: JsonObject;
  /** As given. */
  readonly body: string;
  readonly outputs: readonly StackOutput[];
  readonly resources: readonly StackResource[];
  /** Names of other stacks' exports that this one uses. */
  readonly imports: readonly string[];
  /** During an update: the state to restore if it fails. */
  readonly previous?: StackChange;
  /** Unique for each update of the stack. */
  readonly updateToken?: string;
};

/** The parts of a stack that a request may change. */
export type StackChange = Pick<
  StackRow,
  'template' | 'body' | 'parameters' | 'tags' | 'capabilities' | 'imports'
>;

export type ChangeSetType = 'CREATE' | 'UPDATE';
export type ExecutionStatus =
  | 'UNAVAILABLE'
  | 'AVAILABLE'
  | 'EXECUTE_IN_PROGRESS'
  | 'EXECUTE_COMPLETE'
  | 'EXECUTE_FAILED'
  | 'OBSOLETE';

export type ChangeSetRow = {
  readonly id: string;
  readonly name: string;
  readonly stackId: string;
  readonly stackName: string;
  readonly type: ChangeSetType;
  readonly description?: string;
  readonly createdAt: number;
  readonly status: 'CREATE_COMPLETE' | 'FAILED';
  readonly reason?: string;
  readonly execution: ExecutionStatus;
  readonly change: StackChange;
  readonly onFailure: OnFailure;
  readonly changes: readonly ResourceChange[];
};

/** What a change does to one resource. */
export type ResourceChange = {
  readonly action: 'Add' | 'Modify' | 'Remove';
  readonly logicalId: string;
  readonly physicalId: string;
  readonly type: string;
  readonly properties: readonly PropertyChange[];
  /** The stack's tags on the resource change. */
  readonly isRetagged: boolean;
};

export type PropertyChange = {
  readonly name: string;
  /**
   * Always: the service needs a new resource for the value. Conditionally: the world does not know.
   */
  readonly recreation: 'Never' | 'Conditionally' | 'Always';
  readonly source: 'DirectModification' | 'ParameterReference' | 'ResourceAttribute';
  /** The parameter, or the resource with its attribute, that causes the change. */
  readonly cause?: string;
};

export type StackEventRow = {
  readonly id: string;
  readonly stackId: string;
  readonly stackName: string;
  readonly logicalId: string;
  readonly physicalId: string;
  readonly type: string;
  readonly at: number;
  readonly status: string;
  readonly reason?: string;
  readonly properties?: string;
};

export const stackType = 'AWS::CloudFormation::Stack';
