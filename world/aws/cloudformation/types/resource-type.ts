// What the stack engine asks of a resource type. Types only.
import type { JsonObject } from '../../../../src/api/json.ts';
import type { ServiceCall } from '../../calls.ts';
import type { Tags } from '../../filters.ts';
import type { SavedCall, StackResource, StepResult } from '../rows.ts';

export interface TypeContext {
  readonly stackId: string;
  readonly stackName: string;
  readonly logicalId: string;
  /** The stack's own tags, which CloudFormation puts on what it makes. */
  readonly tags: Tags;
  readonly createdBy: string;
  /** `<stack>-<logical id>-<13 characters>`, cut to `max`. */
  physicalName(max?: number): string;
}

export type Progress =
  | { readonly kind: 'pending' }
  | { readonly kind: 'done'; readonly attributes?: Readonly<Record<string, string>> }
  | { readonly kind: 'failed'; readonly reason: string };

export const pending: Progress = { kind: 'pending' };
export const done: Progress = { kind: 'done' };

/** A resource of a service that the world answers itself. Each function may throw AwsError. */
export interface LocalType {
  readonly kind: 'local';
  create(
    properties: JsonObject,
    context: TypeContext,
  ): { readonly physicalId: string; readonly attributes?: Readonly<Record<string, string>> };
  /** Default: at once. */
  ready?(resource: StackResource): Progress;
  /** Properties whose change makes another resource. */
  readonly replacing?: ReadonlySet<string>;
  /** To these properties, in place; the attributes that change. Absent: it cannot be changed. */
  update?(
    resource: StackResource,
    properties: JsonObject,
    context: TypeContext,
  ): Readonly<Record<string, string>>;
  remove(resource: StackResource): void;
  /** Default: at once. */
  gone?(resource: StackResource): Progress;
}

/** One call of an update, and what the resource has once it has ended well. */
export interface UpdateStep {
  readonly call: ServiceCall;
  readonly result: StepResult;
}

/** A resource behind the port: calls are data, the engine sends them and waits. */
export interface RemoteType {
  readonly kind: 'remote';
  physicalId(properties: JsonObject, context: TypeContext): string;
  create(resource: StackResource, context: TypeContext): ServiceCall;
  describe(resource: StackResource): ServiceCall;
  /** Of an answer to `describe`, while the resource is made or removed. */
  progress(answer: Readonly<Record<string, unknown>>, removing: boolean): Progress;
  remove(resource: StackResource): ServiceCall;
  /** Properties whose change makes another resource. */
  readonly replacing: ReadonlySet<string>;
  /**
   * The next call from what the resource has to what is wanted, or undefined when none is left. A
   * call with the same token that was sent before is not carried out again.
   */
  nextStep(resource: StackResource, wanted: StepResult, token: string): UpdateStep | undefined;
  /** How to look at what the answer to a step says has begun; undefined: it has ended already. */
  look(resource: StackResource, answer: Readonly<Record<string, unknown>>): SavedCall | undefined;
  /** Of an answer to that look. */
  stepProgress(answer: Readonly<Record<string, unknown>>): Progress;
}

export type ResourceType = LocalType | RemoteType;
export type ResourceTypes = Readonly<Record<string, ResourceType>>;
