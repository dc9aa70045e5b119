// Changes a stack in place, resource by resource in the order of dependencies, and puts everything
// back when one fails. Only what a resource's type can change is changed: nothing is replaced,
// added or taken away, which is refused before anything begins. All waiting is durable kernel
// events.
import { defined } from '../../../src/api/defined.ts';
import { notImplemented } from '../../../src/aws-wire/index.ts';
import type { WorldEvent } from '../../kernel/index.ts';
import { type Scope, type Span, validationError } from '../scope.ts';
import type { StackLookups } from './lookups.ts';
import type { StackResource, StackRow, StackStatus } from './rows.ts';
import { StackValues } from './stack-values.ts';
import { resourceOf, type Stacks } from './store.ts';
import type { LocalType, ResourceTypes } from './types/resource-type.ts';

const component = 'aws.cloudformation.updates';
const stepMs: Span = [300, 900];
const pollMs: Span = [2000, 3000];

const updatable: ReadonlySet<StackStatus> = new Set([
  'CREATE_COMPLETE',
  'UPDATE_COMPLETE',
  'UPDATE_ROLLBACK_COMPLETE',
]);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export type StackChange = Pick<StackRow, 'template' | 'body' | 'parameters' | 'tags'>;

export class StackUpdates {
  readonly #scope: Scope;
  readonly #stacks: Stacks;
  readonly #values: StackValues;
  readonly #types: ResourceTypes;

  constructor(
    parts: { readonly scope: Scope; readonly stacks: Stacks; readonly lookups: StackLookups },
    types: ResourceTypes,
  ) {
    this.#scope = parts.scope;
    this.#stacks = parts.stacks;
    this.#values = new StackValues(parts);
    this.#types = types;
    this.#scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  /**
   * Throws what CloudFormation refuses, and what the world cannot change, before anything changes.
   */
  begin(stack: StackRow, change: StackChange, wanted: readonly StackResource[]): void {
    if (!updatable.has(stack.status)) {
      throw validationError(
        `Stack:${stack.id} is in ${stack.status} state and can not be updated.`,
      );
    }
    const shapeOf = (all: readonly { readonly logicalId: string; readonly type: string }[]) =>
      all.map(({ logicalId, type }) => `${logicalId} ${type}`).toSorted();
    if (!isSame(shapeOf(stack.resources), shapeOf(wanted))) {
      throw notImplemented(`Adding, removing or retyping resources of a stack (${stack.name})`);
    }
    const after: StackRow = { ...stack, ...change };
    const changed = stack.resources.filter((one) => this.#isChanged(after, one));
    const isSameOutside =
      isSame(change.tags, stack.tags) && isSame(this.#outputs(after), stack.outputs);
    if (changed.length === 0 && isSameOutside) {
      throw validationError('No updates are to be performed.');
    }
    for (const { type, logicalId } of changed) {
      if (this.#updateOf(type) !== undefined) continue;
      throw notImplemented(`Changing ${type} in place (${logicalId} of stack ${stack.name})`);
    }
    const { template, body, parameters, tags } = stack;
    this.#stacks.put({ ...after, previous: { template, body, parameters, tags } });
    this.#moveStack(stack.id, 'UPDATE_IN_PROGRESS', 'User Initiated');
    this.#later(stack.id, stepMs);
  }

  #outputs(stack: StackRow): StackRow['outputs'] {
    return this.#values.outputs(stack);
  }

  #isChanged(stack: StackRow, one: StackResource): boolean {
    return !isSame(this.#values.properties(stack, one), one.properties);
  }

  #updateOf(type: string): LocalType['update'] {
    const found = this.#types[type];
    return found?.kind === 'local' ? found.update : undefined;
  }

  #handle(event: WorldEvent): void {
    const stack = this.#stacks.find(String(event.args.stackId));
    if (stack === undefined) return;
    if (stack.status === 'UPDATE_IN_PROGRESS') this.#step(stack, false);
    else if (stack.status === 'UPDATE_ROLLBACK_IN_PROGRESS') this.#step(stack, true);
    else if (stack.status.endsWith('_CLEANUP_IN_PROGRESS')) {
      const { previous: _, ...rest } = stack;
      this.#stacks.put(rest);
      this.#moveStack(
        stack.id,
        stack.status.startsWith('UPDATE_ROLLBACK') ? 'UPDATE_ROLLBACK_COMPLETE' : 'UPDATE_COMPLETE',
      );
    }
  }

  /**
   * One resource further; whatever a changed one gives to others is seen when they are looked at.
   */
  #step(stack: StackRow, isRollback: boolean): void {
    const busy = stack.resources.find((one) => one.status === 'UPDATE_IN_PROGRESS');
    if (busy !== undefined) {
      this.#settle(stack, busy, isRollback);
      return;
    }
    const next = this.#next(stack);
    if (next === undefined) {
      this.#stacks.patch(stack.id, { outputs: this.#outputs(stack) });
      const { status } = stack;
      const cleaning =
        status === 'UPDATE_IN_PROGRESS'
          ? 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'
          : 'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS';
      this.#moveStack(stack.id, cleaning);
      this.#later(stack.id, stepMs);
      return;
    }
    const { logicalId } = next;
    this.#moveResource(stack.id, logicalId, { status: 'UPDATE_IN_PROGRESS' });
    try {
      const update = this.#updateOf(next.type);
      if (update === undefined) throw new Error(`${next.type} cannot be changed in place`);
      const properties = this.#values.properties(stack, next);
      const attributes = update(next, properties, this.#values.context(stack, logicalId));
      this.#moveResource(stack.id, logicalId, {
        properties,
        attributes: { ...next.attributes, ...attributes },
      });
      this.#later(stack.id, pollMs);
    } catch (error) {
      this.#failed(stack.id, logicalId, error instanceof Error ? error.message : String(error));
    }
  }

  /** The first changed one all of whose dependencies stand. */
  #next(stack: StackRow): StackResource | undefined {
    const changed = stack.resources.filter((one) => this.#isChanged(stack, one));
    const names = new Set(changed.map((one) => one.logicalId));
    return changed.find((one) => !one.dependsOn.some((name) => names.has(name)));
  }

  #settle(stack: StackRow, resource: StackResource, isRollback: boolean): void {
    const type = this.#types[resource.type];
    const progress = type?.kind === 'local' ? type.ready?.(resource) : undefined;
    if (progress?.kind === 'failed' && !isRollback) {
      this.#failed(stack.id, resource.logicalId, progress.reason);
      return;
    }
    if (progress?.kind === 'pending') {
      this.#later(stack.id, pollMs);
      return;
    }
    this.#moveResource(stack.id, resource.logicalId, { status: 'UPDATE_COMPLETE' });
    this.#later(stack.id, stepMs);
  }

  #failed(stackId: string, logicalId: string, reason: string): void {
    this.#moveResource(stackId, logicalId, { status: 'UPDATE_FAILED', reason });
    const { previous, status } = this.#stacks.need(stackId);
    if (status === 'UPDATE_ROLLBACK_IN_PROGRESS' || previous === undefined) {
      this.#moveStack(stackId, 'UPDATE_ROLLBACK_FAILED', reason);
      return;
    }
    this.#stacks.patch(stackId, previous);
    const told = `The following resource(s) failed to update: [${logicalId}]. `;
    this.#moveStack(stackId, 'UPDATE_ROLLBACK_IN_PROGRESS', told);
    this.#later(stackId, stepMs);
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

  #later(stackId: string, span: Span): void {
    const afterMicros = this.#scope.delay(component, span);
    this.#scope.kernel.schedule({ afterMicros, actor: component, kind: 'step', args: { stackId } });
  }
}
