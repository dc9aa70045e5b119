// Creates and deletes a stack, resource by resource in the order of dependencies, with rollback.
// All waiting is durable kernel events; calls behind the port are repeated after a restart.
// Resource types define the resources, not the engine.
import { defined } from '../../../src/api/defined.ts';
import { objectOr } from '../../../src/api/json.ts';
import type { WorldEvent } from '../../kernel/index.ts';
import type { ServiceCalls } from '../calls.ts';
import type { Scope, Span } from '../scope.ts';
import type { StackLookups } from './lookups.ts';
import { PortCalls } from './port-calls.ts';
import type { ResourceStatus, StackResource, StackRow, StackStatus } from './rows.ts';
import { StackValues } from './stack-values.ts';
import { component, resourceOf, type Stacks } from './store.ts';
import type { Progress, RemoteType, ResourceTypes } from './types/resource-type.ts';

/** Time between two steps of a resource; real stacks take about as long per resource. */
const stepMs: Span = [300, 900];
/** Interval between two checks of a resource that is not ready. */
const pollMs: Span = [2000, 3000];

const removable: ReadonlySet<ResourceStatus> = new Set([
  'CREATE_COMPLETE',
  'CREATE_FAILED',
  'CREATE_IN_PROGRESS',
  'UPDATE_COMPLETE',
  'UPDATE_FAILED',
]);
const isEnded = (status: ResourceStatus): boolean =>
  status === 'DELETE_COMPLETE' || status === 'DELETE_SKIPPED' || status === 'NOT_STARTED';

export interface EngineParts {
  readonly scope: Scope;
  readonly stacks: Stacks;
  readonly calls: ServiceCalls;
  readonly lookups: StackLookups;
}

export class StackEngine {
  readonly types: ResourceTypes;
  readonly #scope: Scope;
  readonly #stacks: Stacks;
  readonly #values: StackValues;
  readonly #port: PortCalls;

  constructor(parts: EngineParts, types: ResourceTypes) {
    this.types = types;
    this.#scope = parts.scope;
    this.#stacks = parts.stacks;
    this.#values = new StackValues(parts);
    this.#port = new PortCalls(parts.scope.kernel, parts.calls);
    this.#scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  /** Starts a stack whose row has the status CREATE_IN_PROGRESS. */
  begin(stack: StackRow): void {
    this.#stacks.put(stack);
    this.#stacks.tellStack(stack);
    this.#later('advance', { stackId: stack.id }, stepMs);
  }

  remove(stack: StackRow, reason?: string): void {
    const user = this.#importerOf(stack);
    if (user !== undefined) {
      this.#moveStack(stack.id, 'DELETE_IN_PROGRESS', reason);
      this.#moveStack(stack.id, 'DELETE_FAILED', user);
      return;
    }
    for (const one of stack.resources) {
      if (one.status !== 'DELETE_FAILED') continue;
      this.#stacks.replaceResource(stack.id, { ...one, status: 'CREATE_COMPLETE' });
    }
    this.#moveStack(stack.id, 'DELETE_IN_PROGRESS', reason);
    this.#later('advance', { stackId: stack.id }, stepMs);
  }

  /** Why the stack cannot be deleted: another one imports one of its exports. */
  #importerOf(stack: StackRow): string | undefined {
    for (const { exportName } of stack.outputs) {
      if (exportName === undefined) continue;
      const users = this.#stacks.live().filter((one) => one.imports.includes(exportName));
      const names = users.map((one) => one.name).join(', ');
      if (names !== '') return `Export ${exportName} cannot be deleted as it is in use by ${names}`;
    }
    return undefined;
  }

  // ---- events ----

  #handle(event: WorldEvent): void {
    const stack = this.#stacks.find(String(event.args.stackId));
    if (stack === undefined) return;
    if (event.kind === 'advance') {
      this.#advance(stack);
      return;
    }
    const resource = resourceOf(stack, String(event.args.logicalId));
    switch (event.kind) {
      case 'make':
        if (resource.status === 'CREATE_IN_PROGRESS' && isCreating(stack))
          this.#make(stack, resource);
        break;
      case 'check':
        if (resource.status === 'CREATE_IN_PROGRESS' && isCreating(stack))
          this.#check(stack, resource);
        break;
      case 'unmake':
        if (resource.status === 'DELETE_IN_PROGRESS') this.#unmake(stack, resource);
        break;
      case 'gone':
        if (resource.status === 'DELETE_IN_PROGRESS') this.#checkGone(stack, resource);
        break;
      default:
        throw new Error(`${component}: unknown event ${event.kind}`);
    }
  }

  #advance(stack: StackRow): void {
    if (isCreating(stack)) this.#advanceCreation(stack);
    else if (isRemoving(stack)) this.#advanceRemoval(stack);
  }

  #advanceCreation(stack: StackRow): void {
    const isMade = (name: string): boolean =>
      stack.resources.every((one) => one.logicalId !== name || one.status === 'CREATE_COMPLETE');
    for (const one of stack.resources) {
      if (one.status !== 'NOT_STARTED' || !one.dependsOn.every(isMade)) continue;
      const { logicalId } = one;
      this.#moveResource(stack.id, logicalId, { status: 'CREATE_IN_PROGRESS' });
      this.#later('make', { stackId: stack.id, logicalId }, stepMs);
    }
    if (!stack.resources.every((one) => one.status === 'CREATE_COMPLETE')) return;
    this.#attempt(
      () => {
        const outputs = this.#values.outputs(stack);
        this.#stacks.patch(stack.id, { outputs });
        this.#moveStack(stack.id, 'CREATE_COMPLETE');
      },
      (reason) => this.#rollBack(stack.id, reason),
    );
  }

  #advanceRemoval(stack: StackRow): void {
    const isFree = (one: StackResource): boolean =>
      stack.resources.every(
        (other) => !other.dependsOn.includes(one.logicalId) || isEnded(other.status),
      );
    const startable = stack.resources.filter((one) => removable.has(one.status) && isFree(one));
    for (const one of startable) {
      const { logicalId } = one;
      if (one.physicalId === '') {
        this.#moveResource(stack.id, logicalId, { status: 'DELETE_COMPLETE' });
        continue;
      }
      this.#moveResource(stack.id, logicalId, { status: 'DELETE_IN_PROGRESS' });
      this.#later('unmake', { stackId: stack.id, logicalId }, stepMs);
    }
    if (startable.some((one) => one.physicalId === '')) {
      this.#advanceRemoval(this.#stacks.need(stack.id));
      return;
    }
    const now = this.#stacks.need(stack.id).resources;
    if (now.some((one) => one.status === 'DELETE_IN_PROGRESS')) return;
    const isRollback = stack.status === 'ROLLBACK_IN_PROGRESS';
    const failed = now.filter((one) => one.status === 'DELETE_FAILED').map((one) => one.logicalId);
    if (failed.length > 0) {
      const reason = `The following resource(s) failed to delete: [${failed.join(', ')}].`;
      this.#moveStack(stack.id, isRollback ? 'ROLLBACK_FAILED' : 'DELETE_FAILED', reason);
      return;
    }
    if (!isRollback) this.#stacks.patch(stack.id, { deletedAt: this.#scope.now(), outputs: [] });
    this.#moveStack(stack.id, isRollback ? 'ROLLBACK_COMPLETE' : 'DELETE_COMPLETE');
  }

  // ---- creation of a resource ----

  #make(stack: StackRow, resource: StackResource): void {
    const { logicalId } = resource;
    const type = this.#typeOf(resource);
    this.#attempt(
      () => {
        const properties = this.#values.properties(stack, resource);
        const context = this.#values.context(stack, logicalId);
        const made =
          type.kind === 'local'
            ? type.create(properties, context)
            : { physicalId: type.physicalId(properties, context) };
        this.#moveResource(stack.id, logicalId, {
          attributes: {},
          ...made,
          ...(type.kind === 'remote' ? { stackTags: stack.tags } : {}),
          properties,
          reason: 'Resource creation Initiated',
        });
        if (type.kind === 'remote') this.#sendCreate(stack.id, logicalId, type);
        this.#later('check', { stackId: stack.id, logicalId }, stepMs);
      },
      (reason) => this.#failed(stack.id, logicalId, reason),
    );
  }

  #sendCreate(stackId: string, logicalId: string, type: RemoteType): void {
    const stack = this.#stacks.need(stackId);
    const call = type.create(resourceOf(stack, logicalId), this.#values.context(stack, logicalId));
    this.#port.ask(`${stackId}/${logicalId}`, call, (outcome) => {
      if (outcome.kind === 'refused') this.#failed(stackId, logicalId, outcome.reason);
    });
  }

  #check(stack: StackRow, resource: StackResource): void {
    const { logicalId } = resource;
    const type = this.#typeOf(resource);
    if (type.kind === 'local') {
      this.#attempt(
        () => this.#progressed(stack.id, logicalId, type.ready?.(resource) ?? { kind: 'done' }),
        (reason) => this.#failed(stack.id, logicalId, reason),
      );
      return;
    }
    this.#later('check', { stackId: stack.id, logicalId }, pollMs);
    this.#port.ask(`${stack.id}/${logicalId}`, type.describe(resource), (outcome) => {
      if (outcome.kind === 'answered') {
        const progress = type.progress(outcome.answer, false);
        if (progress.kind !== 'pending') this.#progressed(stack.id, logicalId, progress);
      } else if (outcome.kind === 'absent') {
        // The process ended before the call that creates it completed.
        this.#sendCreate(stack.id, logicalId, type);
      }
    });
  }

  #progressed(stackId: string, logicalId: string, progress: Progress): void {
    const stack = this.#stacks.need(stackId);
    const resource = resourceOf(stack, logicalId);
    if (resource.status !== 'CREATE_IN_PROGRESS' || !isCreating(stack)) return;
    if (progress.kind === 'pending') {
      this.#later('check', { stackId, logicalId }, pollMs);
    } else if (progress.kind === 'failed') {
      this.#failed(stackId, logicalId, progress.reason);
    } else {
      const attributes = { ...resource.attributes, ...progress.attributes };
      this.#moveResource(stackId, logicalId, { status: 'CREATE_COMPLETE', attributes });
      this.#later('advance', { stackId }, stepMs);
    }
  }

  #failed(stackId: string, logicalId: string, reason: string): void {
    const stack = this.#stacks.need(stackId);
    if (!isCreating(stack) || resourceOf(stack, logicalId).status !== 'CREATE_IN_PROGRESS') return;
    this.#moveResource(stackId, logicalId, { status: 'CREATE_FAILED', reason });
    const cancelled = stack.resources.filter(
      (one) => one.status === 'CREATE_IN_PROGRESS' && one.logicalId !== logicalId,
    );
    for (const one of cancelled) {
      const told = { status: 'CREATE_FAILED', reason: 'Resource creation cancelled' } as const;
      this.#moveResource(stackId, one.logicalId, told);
    }
    const names = [logicalId, ...cancelled.map((one) => one.logicalId)].join(', ');
    this.#rollBack(stackId, `The following resource(s) failed to create: [${names}].`);
  }

  #rollBack(stackId: string, reason: string): void {
    const { onFailure } = this.#stacks.need(stackId);
    if (onFailure === 'DO_NOTHING') {
      this.#moveStack(stackId, 'CREATE_FAILED', reason);
      return;
    }
    const ended = reason.endsWith('.') ? reason : `${reason}.`;
    if (onFailure === 'DELETE') {
      this.#moveStack(stackId, 'DELETE_IN_PROGRESS', `${ended} Delete requested by user.`);
    } else {
      this.#moveStack(stackId, 'ROLLBACK_IN_PROGRESS', `${ended} Rollback requested by user.`);
    }
    this.#later('advance', { stackId }, stepMs);
  }

  // ---- deletion of a resource ----

  #unmake(stack: StackRow, resource: StackResource): void {
    const { logicalId } = resource;
    const stackId = stack.id;
    if (isRetained(stack, logicalId) && stack.status === 'DELETE_IN_PROGRESS') {
      this.#moveResource(stackId, logicalId, { status: 'DELETE_SKIPPED' });
      this.#later('advance', { stackId }, stepMs);
      return;
    }
    const type = this.#typeOf(resource);
    if (type.kind === 'local') {
      this.#attempt(
        () => {
          type.remove(resource);
          this.#later('gone', { stackId, logicalId }, stepMs);
        },
        (reason) => this.#removed(stackId, logicalId, { kind: 'failed', reason }),
      );
      return;
    }
    this.#later('gone', { stackId, logicalId }, pollMs);
    this.#port.ask(`${stackId}/${logicalId}`, type.remove(resource), (outcome) => {
      if (outcome.kind === 'refused') {
        this.#removed(stackId, logicalId, { kind: 'failed', reason: outcome.reason });
      } else if (outcome.kind === 'absent') this.#removed(stackId, logicalId, { kind: 'done' });
    });
  }

  #checkGone(stack: StackRow, resource: StackResource): void {
    const { logicalId } = resource;
    const stackId = stack.id;
    const type = this.#typeOf(resource);
    if (type.kind === 'local') {
      this.#attempt(
        () => {
          const progress = type.gone?.(resource) ?? { kind: 'done' };
          if (progress.kind === 'pending') this.#later('gone', { stackId, logicalId }, pollMs);
          else this.#removed(stackId, logicalId, progress);
        },
        (reason) => this.#removed(stackId, logicalId, { kind: 'failed', reason }),
      );
      return;
    }
    this.#later('gone', { stackId, logicalId }, pollMs);
    this.#port.ask(`${stackId}/${logicalId}`, type.describe(resource), (outcome) => {
      if (outcome.kind === 'absent') this.#removed(stackId, logicalId, { kind: 'done' });
      else if (outcome.kind === 'answered') {
        const progress = type.progress(outcome.answer, true);
        // The resource still exists and is not being deleted: the delete call was lost or refused.
        if (progress.kind === 'done') this.#unmakeAgain(stackId, resource, type);
        else if (progress.kind === 'failed') this.#removed(stackId, logicalId, progress);
      }
    });
  }

  #unmakeAgain(stackId: string, resource: StackResource, type: RemoteType): void {
    const { logicalId } = resource;
    this.#port.ask(`${stackId}/${logicalId}`, type.remove(resource), (outcome) => {
      if (outcome.kind !== 'refused') return;
      this.#removed(stackId, logicalId, { kind: 'failed', reason: outcome.reason });
    });
  }

  #removed(stackId: string, logicalId: string, progress: Progress): void {
    const resource = resourceOf(this.#stacks.need(stackId), logicalId);
    if (resource.status !== 'DELETE_IN_PROGRESS') return;
    const change =
      progress.kind === 'failed'
        ? ({ status: 'DELETE_FAILED', reason: progress.reason } as const)
        : ({ status: 'DELETE_COMPLETE' } as const);
    this.#moveResource(stackId, logicalId, change);
    this.#later('advance', { stackId }, stepMs);
  }

  // ---- tools ----

  #typeOf(resource: StackResource) {
    const type = this.types[resource.type];
    if (type !== undefined) return type;
    throw new Error(`no resource type ${resource.type}`);
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
    this.#stacks.tellResource(this.#stacks.need(stackId), resource);
  }

  /**
   * Runs `act`; passes its error to `failed` as a reason instead of throwing: the stack fails, the
   * world does not.
   */
  #attempt(act: () => void, failed: (reason: string) => void): void {
    try {
      act();
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error));
    }
  }

  #later(kind: string, args: Readonly<Record<string, string>>, span: Span): void {
    const afterMicros = this.#scope.delay(component, span);
    this.#scope.kernel.schedule({ afterMicros, actor: component, kind, args });
  }
}

const isCreating = (stack: StackRow): boolean => stack.status === 'CREATE_IN_PROGRESS';
const isRemoving = (stack: StackRow): boolean =>
  stack.status === 'ROLLBACK_IN_PROGRESS' || stack.status === 'DELETE_IN_PROGRESS';

const isRetained = ({ template }: StackRow, logicalId: string): boolean => {
  const policy = objectOr(objectOr(template.Resources)[logicalId]).DeletionPolicy;
  return String(policy).startsWith('Retain');
};
