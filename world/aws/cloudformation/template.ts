// A template as the stack engine reads it: validated completely, with the service's messages,
// before anything is created. Evaluates only conditions.
import { isObject, type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { parseTemplateText } from '../../../src/formats/index.ts';
import { refuse, validationError } from '../scope.ts';
import { evaluate, type Lookup, namesIn } from './intrinsics.ts';

export interface TemplateResource {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: JsonObject;
  /** The condition that it names, if any. */
  readonly condition: string | undefined;
  readonly dependsOn: readonly string[];
}

const formatError = (text: string) => validationError(`Template format error: ${text}`);

export const readTemplate = (body: string): JsonObject => {
  let template: JsonObject;
  try {
    template = parseTemplateText(body);
  } catch (error) {
    throw formatError(error instanceof Error ? error.message : String(error));
  }
  const unknown = Object.keys(template).filter((key) => !sections.has(key));
  if (unknown.length > 0) {
    throw validationError(`Invalid template property or properties [${unknown.join(', ')}]`);
  }
  return template;
};

const sections = new Set([
  ...['AWSTemplateFormatVersion', 'Description', 'Metadata', 'Parameters', 'Rules', 'Mappings'],
  ...['Conditions', 'Resources', 'Outputs'],
]);

/**
 * The validated resources: types, names, conditions, cycles. `knows` returns whether a type exists.
 */
export const resourcesOf = (
  template: JsonObject,
  knows: (type: string) => boolean,
): readonly TemplateResource[] => {
  const given = objectOr(template.Resources);
  const names = Object.keys(given);
  if (names.length === 0) throw formatError('At least one Resources member must be defined.');
  const resources = names.map((name) => readResource(name, given[name] ?? null));
  const foreign = [...new Set(resources.map((one) => one.type).filter((type) => !knows(type)))];
  if (foreign.length > 0) {
    throw formatError(`Unrecognized resource types: [${foreign.join(', ')}]`);
  }
  checkNames(template, resources);
  checkCircles(resources);
  return resources;
};

const readResource = (logicalId: string, value: Json): TemplateResource => {
  if (!/^[A-Za-z0-9]+$/.test(logicalId)) {
    throw formatError(`Resource name ${logicalId} is non alphanumeric.`);
  }
  if (!isObject(value) || typeof value.Type !== 'string') {
    throw formatError(
      `[/Resources/${logicalId}] Every Resources object must contain a Type member.`,
    );
  }
  const properties = objectOr(value.Properties);
  const explicit = [value.DependsOn ?? []].flat().map(String);
  return {
    logicalId,
    type: value.Type,
    properties,
    condition: typeof value.Condition === 'string' ? value.Condition : undefined,
    dependsOn: [...new Set([...explicit, ...namesIn(properties).refs])],
  };
};

const checkNames = (template: JsonObject, resources: readonly TemplateResource[]): void => {
  const parameters = Object.keys(objectOr(template.Parameters));
  const known = new Set([...parameters, ...resources.map((one) => one.logicalId)]);
  const missing = resources.flatMap((one) => one.dependsOn.filter((name) => !known.has(name)));
  if (missing.length > 0) {
    const names = [...new Set(missing)].join(', ');
    throw formatError(
      `Unresolved resource dependencies [${names}] in the Resources block of the template`,
    );
  }
  const outputs = namesIn(template.Outputs ?? null).refs;
  const lost = [...outputs].filter((name) => !known.has(name));
  if (lost.length > 0) {
    throw formatError(
      `Unresolved resource dependencies [${lost.join(', ')}] in the Outputs block of the template`,
    );
  }
  const conditions = objectOr(template.Conditions);
  const own = resources.flatMap((one) => one.condition ?? []);
  const used = [...own, ...namesIn(template.Resources ?? null).conditions];
  const undefinedName = used.find((name) => !Object.hasOwn(conditions, name));
  if (undefinedName !== undefined) {
    throw formatError(
      `Unresolved condition dependency ${undefinedName} in the Resources block of the template`,
    );
  }
};

const checkCircles = (resources: readonly TemplateResource[]): void => {
  const left = new Map(resources.map((one) => [one.logicalId, one]));
  for (let found = true; found; ) {
    found = false;
    for (const [name, one] of left) {
      if (one.dependsOn.some((other) => left.has(other))) continue;
      left.delete(name);
      found = true;
    }
  }
  if (left.size === 0) return;
  const names = [...left.keys()].join(', ');
  throw validationError(`Circular dependency between resources: [${names}]`);
};

/** Every condition of the template; a cyclic condition is an error. */
export const conditionsOf = (
  template: JsonObject,
  lookup: Omit<Lookup, 'condition'>,
): ((name: string) => boolean) => {
  const given = objectOr(template.Conditions);
  const known = new Map<string, boolean>();
  const open = new Set<string>();
  const condition = (name: string): boolean => {
    const before = known.get(name);
    if (before !== undefined) return before;
    if (!Object.hasOwn(given, name) || open.has(name)) {
      throw formatError(
        `Unresolved condition dependency ${name} in the Resources block of the template`,
      );
    }
    open.add(name);
    const value = evaluate(given[name], { ...lookup, condition }) === true;
    open.delete(name);
    known.set(name, value);
    return value;
  };
  return condition;
};

export interface ParameterNeeds {
  /** The public parameter of that name in Systems Manager, or undefined. */
  readonly published: (name: string) => string | undefined;
}

/** The value of `Ref` for each parameter, including defaults and published values. */
export const parametersOf = (
  template: JsonObject,
  given: Readonly<Record<string, string>>,
  needs: ParameterNeeds,
): Readonly<Record<string, string>> => {
  const declared = objectOr(template.Parameters);
  const foreign = Object.keys(given).filter((name) => !Object.hasOwn(declared, name));
  if (foreign.length > 0) {
    throw validationError(`Parameters: [${foreign.join(', ')}] do not exist in the template`);
  }
  const missing: string[] = [];
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(declared)) {
    const parameter = objectOr(value);
    const chosen = given[name] ?? parameter.Default;
    if (chosen === undefined) {
      missing.push(name);
      continue;
    }
    values[name] = checkedParameter(name, parameter, String(chosen), needs);
  }
  if (missing.length > 0) {
    throw validationError(`Parameters: [${missing.join(', ')}] must have values`);
  }
  return values;
};

const checkedParameter = (
  name: string,
  parameter: JsonObject,
  value: string,
  { published }: ParameterNeeds,
): string => {
  const allowed = parameter.AllowedValues;
  if (Array.isArray(allowed) && !allowed.map(String).includes(value)) {
    throw validationError(
      `Parameter '${name}' must be one of AllowedValues: [${allowed.map(String).join(', ')}]`,
    );
  }
  const pattern = parameter.AllowedPattern;
  if (typeof pattern === 'string' && !new RegExp(`^(?:${pattern})$`).test(value)) {
    throw validationError(
      `Parameter ${name} failed to satisfy constraint: ` +
        `${parameter.ConstraintDescription ?? `must match pattern ${pattern}`}`,
    );
  }
  const type = String(parameter.Type);
  if (type === 'Number' && !Number.isFinite(Number(value))) {
    throw validationError(`Parameter '${name}' must be a number.`);
  }
  if (!type.startsWith('AWS::SSM::Parameter::Value<')) return value;
  const found = published(value);
  if (found !== undefined) return found;
  throw validationError(
    `Unable to fetch parameters [${value}] from parameter store for this account.`,
  );
};

/** Whether a parameter's value is a list in the template. */
export const isListParameter = (template: JsonObject, name: string): boolean => {
  const type = String(objectOr(objectOr(template.Parameters)[name]).Type);
  return type === 'CommaDelimitedList' || type.startsWith('List<');
};

const iamNames = ['RoleName', 'InstanceProfileName'];

/** Refuses a template with IAM resources unless the caller acknowledges them by a capability. */
export const checkCapabilities = (
  resources: readonly TemplateResource[],
  capabilities: readonly string[],
): void => {
  const iam = resources.filter((one) => one.type.startsWith('AWS::IAM::'));
  if (iam.length === 0 || capabilities.includes('CAPABILITY_NAMED_IAM')) return;
  const isNamed = iam.some((one) => iamNames.some((name) => name in one.properties));
  if (!isNamed && capabilities.includes('CAPABILITY_IAM')) return;
  const needed = isNamed ? 'CAPABILITY_NAMED_IAM' : 'CAPABILITY_IAM';
  throw refuse('InsufficientCapabilitiesException', `Requires capabilities : [${needed}]`);
};
