// The table of change sets. An executed change set follows its stack and ends with it; a change
// from elsewhere makes the stack's other change sets obsolete. Decides nothing about resources.
import type { Table } from '../../kernel/index.ts';
import { refuse, type Scope, validationError } from '../scope.ts';
import type { ChangeSetRow, ExecutionStatus, StackRow, StackStatus } from './rows.ts';
import { component, type Stacks } from './store.ts';

/** Status of the executing change set, by the status of its stack. */
const executionAt: Partial<Readonly<Record<StackStatus, ExecutionStatus>>> = {
  CREATE_COMPLETE: 'EXECUTE_COMPLETE',
  UPDATE_COMPLETE: 'EXECUTE_COMPLETE',
  CREATE_FAILED: 'EXECUTE_FAILED',
  ROLLBACK_COMPLETE: 'EXECUTE_FAILED',
  ROLLBACK_FAILED: 'EXECUTE_FAILED',
  UPDATE_ROLLBACK_COMPLETE: 'EXECUTE_FAILED',
  UPDATE_ROLLBACK_FAILED: 'EXECUTE_FAILED',
};

export class ChangeSets {
  readonly #scope: Scope;
  readonly #stacks: Stacks;
  readonly #rows: Table<ChangeSetRow>;

  constructor(scope: Scope, stacks: Stacks) {
    this.#scope = scope;
    this.#stacks = stacks;
    this.#rows = scope.kernel.tables.open<ChangeSetRow>('aws/cloudformation/change-sets');
    stacks.whenTold = (stack) => this.#follow(stack);
  }

  newId(name: string): string {
    return this.#scope.arn('cloudformation', `changeSet/${name}/${this.#scope.uuid(component)}`);
  }

  put(row: ChangeSetRow): void {
    this.#rows.put(row.id, row);
  }

  of(stackId: string): readonly ChangeSetRow[] {
    return [...this.#rows.values()].filter((row) => row.stackId === stackId);
  }

  /**
   * By its ARN, or by its name and that of its stack; undefined if the stack has no such change
   * set.
   */
  find(nameOrId: string, stackName: string | undefined): ChangeSetRow | undefined {
    if (nameOrId.startsWith('arn:')) return this.#rows.get(nameOrId);
    if (stackName === undefined) {
      throw validationError(
        'StackName must be specified if ChangeSetName is not specified as an ARN.',
      );
    }
    const stack = this.#stacks.find(stackName);
    if (stack === undefined) throw validationError(`Stack [${stackName}] does not exist`);
    return this.of(stack.id).find((row) => row.name === nameOrId);
  }

  need(nameOrId: string, stackName: string | undefined): ChangeSetRow {
    const row = this.find(nameOrId, stackName);
    if (row !== undefined) return row;
    throw refuse('ChangeSetNotFound', `ChangeSet [${nameOrId}] does not exist`, 404);
  }

  remove(id: string): void {
    this.#rows.delete(id);
  }

  /** Executing one deletes the others of its stack (API reference, ExecuteChangeSet). */
  begun(row: ChangeSetRow): void {
    for (const { id } of this.of(row.stackId)) if (id !== row.id) this.remove(id);
    this.put({ ...row, execution: 'EXECUTE_IN_PROGRESS' });
  }

  /** Marks the stack's change sets obsolete: the stack changes by other means. */
  outdate(stackId: string): void {
    for (const row of this.of(stackId)) {
      if (row.execution === 'AVAILABLE') this.put({ ...row, execution: 'OBSOLETE' });
    }
  }

  forget(stackId: string): void {
    for (const { id } of this.of(stackId)) this.remove(id);
  }

  #follow({ id, status }: StackRow): void {
    const execution = executionAt[status];
    if (execution === undefined) return;
    const row = this.of(id).find((one) => one.execution === 'EXECUTE_IN_PROGRESS');
    if (row !== undefined) this.put({ ...row, execution });
  }
}
