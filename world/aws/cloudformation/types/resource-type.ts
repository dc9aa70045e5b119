// The interface between the stack engine and a resource type. Types only.
import type { JsonObject } from '../../../../src/api/json.ts';
import type { ServiceCall } from '../../calls.ts';
import type { Tags } from '../../filters.ts';
import type { SavedCall, StackResource, StepResult } from '../rows.ts';

export interface TypeContext {
  readonly stackId: string;
  readonly stackName: string;
  readonly logicalId: string;
  /** The stack's own tags, which CloudFormation adds to its resources. */
  readonly tags: Tags;
  readonly createdBy: string;
  /** `<stack>-<logical id>-<13 characters>`, truncated to `max`. */
  physicalName(max?: number): string;
}

export type Progress =
  | { readonly kind: 'pending' }
  | { readonly kind: 'done'; readonly attributes?: Readonly<Record<string, string>> }
  | { readonly kind: 'failed'; readonly reason: string };

export const pending: Progress = { kind: 'pending' };
export const done: Progress = { kind: 'done' };

/** A resource of a service that the world itself provides. Each function may throw AwsError. */
export interface LocalType {
  readonly kind: 'local';
  create(
    properties: JsonObject,
    context: TypeContext,
  ): { readonly physicalId: string; readonly attributes?: Readonly<Record<string, string>> };
  /** Default: ready immediately. */
  ready?(resource: StackResource): Progress;
  /** Properties whose change needs a new resource. */
  readonly replacing?: ReadonlySet<string>;
  /**
   * Changes the resource in place to these properties; returns the changed attributes. Absent: the
   * type cannot be changed.
   */
  update?(
    resource: StackResource,
    properties: JsonObject,
    context: TypeContext,
  ): Readonly<Record<string, string>>;
  remove(resource: StackResource): void;
  /** Default: gone immediately. */
  gone?(resource: StackResource): Progress;
}

/** One call of an update, and the resource's values after it has succeeded. */
export interface UpdateStep {
  readonly call: ServiceCall;
  readonly result: StepResult;
}

/** A resource behind the port: calls are data; the engine sends them and waits. */
export interface RemoteType {
  readonly kind: 'remote';
  physicalId(properties: JsonObject, context: TypeContext): string;
  create(resource: StackResource, context: TypeContext): ServiceCall;
  describe(resource: StackResource): ServiceCall;
  /** Progress from an answer to `describe`, while the resource is created or deleted. */
  progress(answer: Readonly<Record<string, unknown>>, removing: boolean): Progress;
  remove(resource: StackResource): ServiceCall;
  /** Properties whose change needs a new resource. */
  readonly replacing: ReadonlySet<string>;
  /**
   * The next call from the current to the requested values; undefined if none is left. A call with
   * a token that was sent before is not carried out again.
   */
  nextStep(resource: StackResource, wanted: StepResult, token: string): UpdateStep | undefined;
  /** The call that reports the progress of a step; undefined: the step has ended already. */
  look(resource: StackResource, answer: Readonly<Record<string, unknown>>): SavedCall | undefined;
  /** Progress from an answer to that call. */
  stepProgress(answer: Readonly<Record<string, unknown>>): Progress;
}

export type ResourceType = LocalType | RemoteType;
export type ResourceTypes = Readonly<Record<string, ResourceType>>;
