// The values around a stack's template: pseudo parameters, its own resources, exports of other
// stacks, zones. Reads only.
import { type Json, objectOr } from '../../../src/api/json.ts';
import type { Network } from '../ec2/network.ts';
import { type Scope, validationError } from '../scope.ts';
import type { Lookup } from './intrinsics.ts';
import type { StackRow } from './rows.ts';
import type { Stacks } from './store.ts';
import { isListParameter } from './template.ts';

/** Zones of a region without subnets. */
const zoneLetters = ['a', 'b', 'c'];

export class StackLookups {
  readonly #scope: Scope;
  readonly #stacks: Stacks;
  readonly #network: Network;

  constructor(scope: Scope, stacks: Stacks, network: Network) {
    this.#scope = scope;
    this.#stacks = stacks;
    this.#network = network;
  }

  of(stack: StackRow): Omit<Lookup, 'condition'> {
    return {
      ref: (name) => this.#ref(stack, name),
      attribute: (logicalId, name) => attributeOf(stack, logicalId, name),
      importValue: (name) => this.#importValue(name),
      mapping: (map, top, second) => mappingOf(stack, map, top, second),
      zones: () => this.#zones(),
    };
  }

  #ref(stack: StackRow, name: string): Json | undefined {
    if (name.startsWith('AWS::')) return this.#pseudo(stack, name);
    const parameter = stack.parameters[name];
    if (parameter !== undefined) {
      return isListParameter(stack.template, name)
        ? parameter.split(',').map((one) => one.trim())
        : parameter;
    }
    const resource = stack.resources.find((one) => one.logicalId === name);
    if (resource !== undefined) return resource.physicalId;
    throw validationError(`Template error: unresolved reference to ${name}`);
  }

  #pseudo(stack: StackRow, name: string): Json | undefined {
    const values: Readonly<Record<string, Json>> = {
      'AWS::AccountId': this.#scope.account,
      'AWS::Region': this.#scope.region,
      'AWS::StackName': stack.name,
      'AWS::StackId': stack.id,
      'AWS::Partition': 'aws',
      'AWS::URLSuffix': 'amazonaws.com',
      'AWS::NotificationARNs': [],
    };
    if (name === 'AWS::NoValue') return undefined;
    const value = values[name];
    if (value !== undefined) return value;
    throw validationError(`Template format error: Unresolved resource dependencies [${name}]`);
  }

  #importValue(name: string): string {
    const found = this.#stacks.exports().find((one) => one.exportName === name);
    if (found !== undefined) return found.value;
    throw validationError(`No export named ${name} found.`);
  }

  #zones(): readonly string[] {
    const known = this.#network.zones().map((one) => one.zone);
    return known.length > 0 ? known : zoneLetters.map((one) => this.#scope.region + one);
  }
}

const attributeOf = (stack: StackRow, logicalId: string, name: string): Json => {
  const resource = stack.resources.find((one) => one.logicalId === logicalId);
  const value = resource?.attributes[name];
  if (value !== undefined) return value;
  throw validationError(
    `Template error: resource ${logicalId} does not support attribute type ${name} in Fn::GetAtt`,
  );
};

const mappingOf = (stack: StackRow, map: string, top: string, second: string): Json => {
  const value = objectOr(objectOr(objectOr(stack.template.Mappings)[map])[top])[second];
  if (value !== undefined) return value;
  throw validationError(`Template error: Unable to get mapping for ${map}::${top}::${second}`);
};
