// The tables of CloudFormation with their look-ups. Decides nothing.
import { defined } from '../../../src/api/defined.ts';
import { hexString, type Table } from '../../kernel/index.ts';
import { isoMillis, type Scope, validationError } from '../scope.ts';
import {
  type StackEventRow,
  type StackOutput,
  type StackResource,
  type StackRow,
  stackType,
} from './rows.ts';

export const component = 'aws.cloudformation';

export class Stacks {
  readonly scope: Scope;
  /** Called with each state of a stack. */
  whenTold: (stack: StackRow) => void = () => {};
  readonly #rows: Table<StackRow>;
  readonly #events: Table<StackEventRow>;
  /** Derived: stack id -> keys of its events, oldest first. */
  readonly #eventsOf = new Map<string, string[]>();

  constructor(scope: Scope) {
    this.scope = scope;
    this.#rows = scope.kernel.tables.open<StackRow>('aws/cloudformation/stacks');
    this.#events = scope.kernel.tables.open<StackEventRow>('aws/cloudformation/events');
    const events = [...this.#events.entries()].sort(([, a], [, b]) => a.at - b.at);
    for (const [key, row] of events) this.#indexEvent(key, row);
  }

  /** Including deleted stacks. */
  all(): readonly StackRow[] {
    return [...this.#rows.values()];
  }

  live(): readonly StackRow[] {
    return this.all().filter((row) => row.status !== 'DELETE_COMPLETE');
  }

  /** By id, deleted or not, or by the name of an existing stack. */
  find(nameOrId: string): StackRow | undefined {
    return this.#rows.get(nameOrId) ?? this.live().find((row) => row.name === nameOrId);
  }

  /** By name or id; throws CloudFormation's error. */
  need(nameOrId: string): StackRow {
    const row = this.find(nameOrId);
    if (row !== undefined) return row;
    throw validationError(`Stack with id ${nameOrId} does not exist`);
  }

  newId(name: string): string {
    const suffix = hexString(this.scope.kernel.random(component), 12);
    const guid = `${this.scope.uuid(component).slice(0, 23)}-${suffix}`;
    return this.scope.arn('cloudformation', `stack/${name}/${guid}`);
  }

  put(row: StackRow): void {
    this.#rows.put(row.id, row);
  }

  patch(id: string, change: Partial<StackRow>): StackRow {
    const row = { ...this.need(id), ...change };
    this.#rows.put(id, row);
    return row;
  }

  replaceResource(id: string, resource: StackResource): StackResource {
    const stack = this.need(id);
    const before = resourceOf(stack, resource.logicalId);
    const after = { ...resource, updatedAt: this.scope.now() };
    this.patch(id, { resources: stack.resources.map((one) => (one === before ? after : one)) });
    return after;
  }

  exports(): readonly (StackOutput & { readonly stack: StackRow })[] {
    return this.live().flatMap((stack) =>
      stack.outputs
        .filter((output) => output.exportName !== undefined)
        .map((output) => ({ ...output, stack })),
    );
  }

  // ---- events ----

  /** Oldest first. */
  events(stackId: string): readonly StackEventRow[] {
    return (this.#eventsOf.get(stackId) ?? []).flatMap((key) => this.#events.get(key) ?? []);
  }

  tellStack(stack: StackRow): void {
    this.#tell(stack, {
      id: this.scope.uuid(component),
      logicalId: stack.name,
      physicalId: stack.id,
      type: stackType,
      status: stack.status,
      ...defined({ reason: stack.reason }),
    });
    this.whenTold(stack);
  }

  tellResource(stack: StackRow, resource: StackResource): void {
    const { logicalId, physicalId, type, status, reason, properties } = resource;
    this.#tell(stack, {
      id: `${logicalId}-${status}-${isoMillis(this.scope.now())}`,
      logicalId,
      physicalId,
      type,
      status,
      ...defined({ reason }),
      ...(Object.keys(properties).length === 0 ? {} : { properties: JSON.stringify(properties) }),
    });
  }

  #tell(stack: StackRow, facts: Omit<StackEventRow, 'stackId' | 'stackName' | 'at'>): void {
    const row: StackEventRow = {
      ...facts,
      stackId: stack.id,
      stackName: stack.name,
      at: this.scope.now(),
    };
    const count = this.#eventsOf.get(stack.id)?.length ?? 0;
    const key = `${stack.id}/${count}`;
    this.#events.put(key, row);
    this.#indexEvent(key, row);
  }

  #indexEvent(key: string, row: StackEventRow): void {
    const keys = this.#eventsOf.get(row.stackId) ?? [];
    this.#eventsOf.set(row.stackId, keys);
    keys.push(key);
  }
}

export const resourceOf = (stack: StackRow, logicalId: string): StackResource => {
  const found = stack.resources.find((one) => one.logicalId === logicalId);
  if (found !== undefined) return found;
  throw new Error(`stack ${stack.name} has no resource ${logicalId}`);
};
