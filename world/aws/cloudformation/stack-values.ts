// The current values of a stack's template: properties of a resource, outputs, and the context of a
// resource type. Changes nothing.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { type Scope, upperSuffix } from '../scope.ts';
import { evaluate, evaluateText, type Lookup } from './intrinsics.ts';
import type { StackLookups } from './lookups.ts';
import type { StackOutput, StackResource, StackRow } from './rows.ts';
import { component, type Stacks } from './store.ts';
import { conditionsOf } from './template.ts';
import type { TypeContext } from './types/resource-type.ts';

export class StackValues {
  readonly #scope: Scope;
  readonly #stacks: Stacks;
  readonly #lookups: StackLookups;

  constructor(parts: {
    readonly scope: Scope;
    readonly stacks: Stacks;
    readonly lookups: StackLookups;
  }) {
    this.#scope = parts.scope;
    this.#stacks = parts.stacks;
    this.#lookups = parts.lookups;
  }

  context(stack: StackRow, logicalId: string): TypeContext {
    return {
      stackId: stack.id,
      stackName: stack.name,
      logicalId,
      tags: stack.tags,
      createdBy: `arn:aws:iam::${this.#scope.account}:user/cli`,
      physicalName: (max = 255) => {
        const suffix = upperSuffix(this.#scope.kernel.random(component), 13);
        const room = max - suffix.length - logicalId.length - 2;
        return `${stack.name.slice(0, Math.max(0, room))}-${logicalId}-${suffix}`;
      },
    };
  }

  #lookup(stack: StackRow): Lookup {
    const lookup = this.#lookups.of(stack);
    return { ...lookup, condition: conditionsOf(stack.template, lookup) };
  }

  properties(stack: StackRow, { logicalId }: StackResource): JsonObject {
    const given = objectOr(objectOr(objectOr(stack.template.Resources)[logicalId]).Properties);
    const value = evaluate(given, this.#lookup(stack));
    return isObject(value) ? value : {};
  }

  value(stack: StackRow, raw: Json | undefined): Json | undefined {
    return evaluate(raw, this.#lookup(stack));
  }

  /** Throws if another stack already exports the name of an output. */
  outputs(stack: StackRow): readonly StackOutput[] {
    const lookup = this.#lookup(stack);
    return Object.entries(objectOr(stack.template.Outputs)).flatMap(([key, value]) => {
      const output = objectOr(value);
      if (typeof output.Condition === 'string' && !lookup.condition(output.Condition)) return [];
      const name = objectOr(output.Export).Name as Json | undefined;
      return [
        {
          key,
          value: evaluateText(output.Value ?? null, lookup),
          ...(typeof output.Description === 'string' ? { description: output.Description } : {}),
          ...(name === undefined ? {} : { exportName: this.#exportName(stack, name, lookup) }),
        },
      ];
    });
  }

  #exportName(stack: StackRow, name: Json, lookup: Lookup): string {
    const exportName = evaluateText(name, lookup);
    const other = this.#stacks
      .exports()
      .find((one) => one.exportName === exportName && one.stack.id !== stack.id);
    if (other === undefined) return exportName;
    throw new Error(
      `Export with name ${exportName} is already exported by stack ${other.stack.name}`,
    );
  }
}
