// Changes a stack in place, resource by resource in the order of dependencies, and rolls everything
// back if one fails. Changes only what a resource's type can change; replacing, adding or removing
// resources is refused before anything begins. All waiting is durable kernel events.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import { notImplemented } from '../../../src/aws-wire/index.ts';
import type { WorldEvent } from '../../kernel/index.ts';
import type { ServiceCalls } from '../calls.ts';
import { type Scope, type Span, validationError } from '../scope.ts';
import type { StackLookups } from './lookups.ts';
import { type StackPlan, StackPlans } from './plan.ts';
import { PortCalls } from './port-calls.ts';
import type {
  ResourceChange,
  StackChange,
  StackResource,
  StackRow,
  StackStatus,
  StepResult,
} from './rows.ts';
import { StackValues } from './stack-values.ts';
import { resourceOf, type Stacks } from './store.ts';
import type {
  LocalType,
  Progress,
  RemoteType,
  ResourceType,
  ResourceTypes,
} from './types/resource-type.ts';
import { sameValue } from './types/values.ts';

const component = 'aws.cloudformation.updates';
const stepMs: Span = [300, 900];
const pollMs: Span = [2000, 3000];

const updatable: ReadonlySet<StackStatus> = new Set([
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
]);

interface UpdateParts {
  readonly scope: Scope;
  readonly stacks: Stacks;
  readonly calls: ServiceCalls;
  readonly lookups: StackLookups;
}

export class StackUpdates {
  readonly #scope: Scope;
  readonly #stacks: Stacks;
  readonly #values: StackValues;
  readonly #plans: StackPlans;
  readonly #port: PortCalls;
  readonly #types: ResourceTypes;

  constructor(parts: UpdateParts, types: ResourceTypes) {
    this.#scope = parts.scope;
    this.#stacks = parts.stacks;
    this.#values = new StackValues(parts);
    this.#plans = new StackPlans(this.#values, types);
    this.#port = new PortCalls(parts.scope.kernel, parts.calls);
    this.#types = types;
    this.#scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  /** Throws unless the stack is in a state from which it can be changed. */
  check({ id, status }: StackRow): void {
    if (updatable.has(status)) return;
    throw validationError(`Stack:${id} is in ${status} state and can not be updated.`);
  }

  planOf(stack: StackRow, change: StackChange, wanted: readonly StackResource[]): StackPlan {
    return this.#plans.planOf(stack, change, wanted);
  }

  /**
   * Throws, before anything changes, for a change that CloudFormation refuses or the world does not
   * model.
   */
  begin(stack: StackRow, change: StackChange, changes: readonly ResourceChange[]): void {
    this.check(stack);
    for (const one of changes) this.#refuse(stack, one);
    const { template, body, parameters, tags, capabilities, imports } = stack;
    const previous = { template, body, parameters, tags, capabilities, imports };
    const updateToken = this.#scope.uuid(component);
    this.#stacks.put({ ...stack, ...change, previous, updateToken });
    this.#moveStack(stack.id, 'UPDATE_IN_PROGRESS', 'User Initiated');
    this.#later(stack.id, stepMs);
  }

  #refuse({ name }: StackRow, { action, type, logicalId, properties }: ResourceChange): void {
    if (action !== 'Modify') {
      throw notImplemented(`Adding, removing or retyping resources of a stack (${name})`);
    }
    // The value of another resource's attribute is known only after that resource has changed.
    const known = properties.filter((one) => one.source !== 'ResourceAttribute');
    const replaced = known.find((one) => one.recreation === 'Always');
    if (replaced !== undefined) {
      throw notImplemented(
        `${replacingWords(type, replaced.name)} (${logicalId} of stack ${name})`,
      );
    }
    if (known.every((one) => one.recreation === 'Never')) return;
    throw notImplemented(`Changing ${type} in place (${logicalId} of stack ${name})`);
  }

  #handle(event: WorldEvent): void {
    const stack = this.#stacks.find(String(event.args.stackId));
    if (stack === undefined) return;
    if (stack.status === 'UPDATE_IN_PROGRESS') this.#step(stack, false);
    else if (stack.status === 'UPDATE_ROLLBACK_IN_PROGRESS') this.#step(stack, true);
    else if (stack.status.endsWith('_CLEANUP_IN_PROGRESS')) {
      const { previous: _, updateToken: _none, ...rest } = stack;
      this.#stacks.put(rest);
      this.#moveStack(
        stack.id,
        stack.status.startsWith('UPDATE_ROLLBACK') ? 'UPDATE_ROLLBACK_COMPLETE' : 'UPDATE_COMPLETE',
      );
    }
  }

  /**
   * Advances one resource. Later resources evaluate the new values of changed ones in their turn.
   */
  #step(stack: StackRow, isRollback: boolean): void {
    const busy = stack.resources.find((one) => one.status === 'UPDATE_IN_PROGRESS');
    if (busy !== undefined) {
      this.#settle(stack, busy, isRollback);
      return;
    }
    this.#later(stack.id, stepMs);
    const next = this.#next(stack, isRollback);
    if (next === undefined) {
      this.#complete(stack);
      return;
    }
    this.#moveResource(stack.id, next.logicalId, { status: 'UPDATE_IN_PROGRESS' });
    const type = this.#types[next.type];
    if (type?.kind !== 'local' || !this.#plans.isDue(stack, next)) return;
    this.#attempt(stack.id, next.logicalId, () => this.#changeLocal(stack, next, type));
  }

  /**
   * The first resource that differs and depends on no other such resource; a rollback also includes
   * failed resources.
   */
  #next(stack: StackRow, isRollback: boolean): StackResource | undefined {
    const due = stack.resources.filter(
      (one) => this.#plans.isDue(stack, one) || (isRollback && one.status === 'UPDATE_FAILED'),
    );
    const names = new Set(due.map((one) => one.logicalId));
    return due.find((one) => !one.dependsOn.some((name) => names.has(name)));
  }

  #complete(stack: StackRow): void {
    try {
      this.#stacks.patch(stack.id, { outputs: this.#values.outputs(stack) });
    } catch (error) {
      this.#rollBack(stack.id, messageOf(error));
      return;
    }
    const cleaning =
      stack.status === 'UPDATE_IN_PROGRESS'
        ? 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'
        : 'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS';
    this.#moveStack(stack.id, cleaning);
  }

  // ---- a resource of the world ----

  #changeLocal(stack: StackRow, resource: StackResource, type: LocalType): void {
    const { update } = type;
    if (update === undefined) throw new Error(`${resource.type} cannot be changed in place`);
    const properties = this.#properties(stack, resource, type);
    const context = this.#values.context(stack, resource.logicalId);
    const attributes = update(resource, properties, context);
    this.#moveResource(stack.id, resource.logicalId, {
      properties,
      attributes: { ...resource.attributes, ...attributes },
    });
  }

  #settle(stack: StackRow, resource: StackResource, isRollback: boolean): void {
    const type = this.#types[resource.type];
    this.#later(stack.id, pollMs);
    if (type?.kind === 'remote') {
      this.#attempt(stack.id, resource.logicalId, () => this.#further(stack, resource, type));
      return;
    }
    const progress = type?.ready?.(resource);
    if (progress?.kind === 'failed' && !isRollback) {
      this.#failed(stack.id, resource.logicalId, progress.reason);
    } else if (progress?.kind !== 'pending') {
      this.#moveResource(stack.id, resource.logicalId, { status: 'UPDATE_COMPLETE' });
    }
  }

  // ---- a resource behind the port ----

  /** Sends the next call of its update, or polls the step in progress. */
  #further(stack: StackRow, resource: StackResource, type: RemoteType): void {
    const key = `${stack.id}/${resource.logicalId}`;
    const { step } = resource;
    if (step !== undefined) {
      this.#port.ask(key, step.look, (outcome) => {
        if (outcome.kind === 'answered') {
          this.#stepped(stack.id, resource.logicalId, {
            progress: type.stepProgress(outcome.answer),
            result: step.result,
          });
        } else this.#refused(stack.id, resource.logicalId, outcome);
      });
      return;
    }
    const wanted = { properties: this.#properties(stack, resource, type), stackTags: stack.tags };
    const isRollback = stack.status === 'UPDATE_ROLLBACK_IN_PROGRESS';
    const token = `cfn-${stack.updateToken ?? ''}${isRollback ? '-back' : ''}`;
    const next = type.nextStep(resource, wanted, token);
    if (next === undefined) {
      this.#moveResource(stack.id, resource.logicalId, { ...wanted, status: 'UPDATE_COMPLETE' });
      return;
    }
    this.#port.ask(key, next.call, (outcome) => {
      if (outcome.kind !== 'answered') {
        this.#refused(stack.id, resource.logicalId, outcome);
        return;
      }
      const look = type.look(resource, outcome.answer);
      const { result } = next;
      if (look !== undefined)
        this.#change(stack.id, resource.logicalId, { step: { look, result } });
      else this.#stepped(stack.id, resource.logicalId, { progress: { kind: 'done' }, result });
    });
  }

  #stepped(
    stackId: string,
    logicalId: string,
    { progress, result }: { readonly progress: Progress; readonly result: StepResult },
  ): void {
    if (progress.kind === 'failed') this.#failed(stackId, logicalId, progress.reason);
    else if (progress.kind === 'done') this.#change(stackId, logicalId, result);
  }

  #refused(
    stackId: string,
    logicalId: string,
    outcome: { readonly kind: 'absent' | 'lost' | 'refused'; readonly reason?: string },
  ): void {
    // The next check repeats a lost call.
    if (outcome.kind === 'lost') return;
    this.#failed(stackId, logicalId, outcome.reason ?? 'The resource does not exist any more');
  }

  // ---- tools ----

  /** The properties from the template; throws if the service would need a new resource for them. */
  #properties(stack: StackRow, resource: StackResource, type: ResourceType): JsonObject {
    const properties = this.#values.properties(stack, resource);
    const replaced = [...(type.replacing ?? [])].find(
      (name) => !sameValue(properties[name], resource.properties[name]),
    );
    if (replaced === undefined) return properties;
    throw new Error(`${replacingWords(resource.type, replaced)} is not part of Drover's world`);
  }

  #attempt(stackId: string, logicalId: string, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#failed(stackId, logicalId, messageOf(error));
    }
  }

  #failed(stackId: string, logicalId: string, reason: string): void {
    if (resourceOf(this.#stacks.need(stackId), logicalId).status !== 'UPDATE_IN_PROGRESS') return;
    this.#change(stackId, logicalId, {});
    this.#moveResource(stackId, logicalId, { status: 'UPDATE_FAILED', reason });
    this.#rollBack(stackId, `The following resource(s) failed to update: [${logicalId}]. `, reason);
  }

  #rollBack(stackId: string, told: string, reason = told): void {
    const { previous, status } = this.#stacks.need(stackId);
    if (status === 'UPDATE_ROLLBACK_IN_PROGRESS' || previous === undefined) {
      this.#moveStack(stackId, 'UPDATE_ROLLBACK_FAILED', reason);
      return;
    }
    this.#stacks.patch(stackId, previous);
    this.#moveStack(stackId, 'UPDATE_ROLLBACK_IN_PROGRESS', told);
  }

  #moveStack(stackId: string, status: StackStatus, reason?: string): void {
    const { reason: _, ...before } = this.#stacks.need(stackId);
    const after = { ...before, status, ...defined({ reason }) };
    this.#stacks.put(after);
    this.#stacks.tellStack(after);
  }

  #moveResource(stackId: string, logicalId: string, change: Partial<StackResource>): void {
    const { reason: _, ...before } = resourceOf(this.#stacks.need(stackId), logicalId);
    const resource = this.#stacks.replaceResource(stackId, { ...before, ...change });
    if (change.status === undefined) return;
    this.#stacks.tellResource(this.#stacks.need(stackId), resource);
  }

  /** Changes its record, whatever step it was at; emits no event. */
  #change(stackId: string, logicalId: string, change: Partial<StackResource>): void {
    const { step: _, ...before } = resourceOf(this.#stacks.need(stackId), logicalId);
    if (before.status !== 'UPDATE_IN_PROGRESS') return;
    this.#stacks.replaceResource(stackId, { ...before, ...change });
  }

  #later(stackId: string, span: Span): void {
    const afterMicros = this.#scope.delay(component, span);
    this.#scope.kernel.schedule({ afterMicros, actor: component, kind: 'step', args: { stackId } });
  }
}

const replacingWords = (type: string, property: string): string =>
  `Replacing ${type} for another ${property}`;

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
