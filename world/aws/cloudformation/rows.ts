// Rows of CloudFormation: stacks, their resources, their events. Types only.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Tags } from '../filters.ts';

export type ResourceStatus =
  /** Not begun: the service does not list such a resource. */
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
  /** Empty until the resource is there. */
  readonly physicalId: string;
  readonly type: string;
  readonly status: ResourceStatus;
  readonly reason?: string;
  readonly updatedAt: number;
  /** What Fn::GetAtt reads. */
  readonly attributes: Readonly<Record<string, string>>;
  /** As sent to the service, once evaluated. */
  readonly properties: JsonObject;
  readonly dependsOn: readonly string[];
};

/** What a world's first stacks tell of a resource: it stands. */
export type StandingResource = Pick<StackResource, 'logicalId' | 'physicalId' | 'type'> & {
  /** Resources that it refers to, which go after it when the stack goes. */
  readonly dependsOn?: readonly string[];
  /** What its template says of it, where a client or its removal reads that. */
  readonly properties?: JsonObject;
};

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
  readonly description: string;
  readonly createdAt: number;
  readonly deletedAt?: number;
  readonly status: StackStatus;
  readonly reason?: string;
  readonly tags: Tags;
  readonly capabilities: readonly string[];
  readonly onFailure: OnFailure;
  readonly isProtected: boolean;
  readonly parameters: Readonly<Record<string, string>>;
  /** As parsed; empty for the stacks that a world begins with. */
  readonly template: JsonObject;
  /** As given. */
  readonly body: string;
  readonly outputs: readonly StackOutput[];
  readonly resources: readonly StackResource[];
  /** Names of other stacks' exports that this one uses. */
  readonly imports: readonly string[];
  /** While it is changed in place: what to put back when that fails. */
  readonly previous?: Pick<StackRow, 'template' | 'body' | 'parameters' | 'tags'>;
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
