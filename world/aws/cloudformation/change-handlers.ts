// CloudFormation's changing operations: a template is checked as a whole before a stack exists or
// is changed; what follows is the engine's.
import { objectOr } from '../../../src/api/json.ts';
import {
  type AwsInput,
  notImplemented,
  optionalFlag,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { Images } from '../ec2/images.ts';
import { tagsOf } from '../filters.ts';
import { refuse, type ServiceHandlers, sentence, validationError } from '../scope.ts';
import type { StackEngine } from './engine.ts';
import { evaluateText, importsIn } from './intrinsics.ts';
import type { StackLookups } from './lookups.ts';
import type { OnFailure, StackRow } from './rows.ts';
import type { Stacks } from './store.ts';
import {
  checkCapabilities,
  conditionsOf,
  parametersOf,
  readTemplate,
  resourcesOf,
  type TemplateResource,
} from './template.ts';
import type { StackUpdates } from './updates.ts';

export interface StackParts {
  readonly stacks: Stacks;
  readonly stackEngine: StackEngine;
  readonly stackUpdates: StackUpdates;
  readonly lookups: StackLookups;
  readonly images: Images;
}

export const stackChangeHandlers = (parts: StackParts): ServiceHandlers => ({
  CreateStack: (input) => createStack(parts, input),
  DeleteStack: (input) => deleteStack(parts, input),
  UpdateStack: (input) => updateStack(parts, input),
  UpdateTerminationProtection: (input) => {
    const isProtected = optionalFlag(input, 'EnableTerminationProtection') ?? false;
    const { id } = parts.stacks.need(text(input, 'StackName'));
    parts.stacks.patch(id, { isProtected });
    return { StackId: id };
  },
  ValidateTemplate: (input) => {
    const { template, capabilities } = summaryOf(parts, bodyOf(input));
    return {
      Parameters: Object.entries(objectOr(template.Parameters)).map(([ParameterKey, value]) => ({
        ParameterKey,
        DefaultValue: optionalString(objectOr(value).Default),
        NoEcho: objectOr(value).NoEcho === true,
        Description: optionalString(objectOr(value).Description),
      })),
      Description: optionalString(template.Description),
      Capabilities: capabilities,
    };
  },
  GetTemplateSummary: (input) => {
    const name = optionalText(input, 'StackName');
    const body = name === undefined ? bodyOf(input) : parts.stacks.need(name).body;
    const { template, capabilities, types } = summaryOf(parts, body);
    return {
      Parameters: Object.entries(objectOr(template.Parameters)).map(([ParameterKey, value]) => ({
        ParameterKey,
        DefaultValue: optionalString(objectOr(value).Default),
        ParameterType: optionalString(objectOr(value).Type),
        NoEcho: objectOr(value).NoEcho === true,
        Description: optionalString(objectOr(value).Description),
      })),
      Description: optionalString(template.Description),
      Capabilities: capabilities,
      ResourceTypes: types,
      Version: optionalString(template.AWSTemplateFormatVersion),
    };
  },
});

const optionalString = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : String(value);

const bodyOf = (input: AwsInput): string => {
  const body = optionalText(input, 'TemplateBody');
  if (body !== undefined) return body;
  if (optionalText(input, 'TemplateURL') !== undefined) {
    throw validationError("TemplateURL is not supported by Drover's world: pass TemplateBody");
  }
  throw validationError('Either Template URL or Template Body must be specified.');
};

const summaryOf = ({ stackEngine }: StackParts, body: string) => {
  const template = readTemplate(body);
  const resources = resourcesOf(template, (type) => Object.hasOwn(stackEngine.types, type));
  const types = [...new Set(resources.map((one) => one.type))];
  const hasIam = types.some((type) => type.startsWith('AWS::IAM::'));
  return { template, types, capabilities: hasIam ? ['CAPABILITY_IAM'] : [] };
};

const readParameters = (input: AwsInput, previous?: StackRow): Readonly<Record<string, string>> =>
  Object.fromEntries(
    structures(input, 'Parameters').map((one) => {
      const key = text(one, 'ParameterKey');
      const kept = optionalFlag(one, 'UsePreviousValue') ? previous?.parameters[key] : undefined;
      return [key, kept ?? optionalText(one, 'ParameterValue') ?? ''];
    }),
  );

const onFailureOf = (input: AwsInput): OnFailure => {
  const given = optionalText(input, 'OnFailure');
  const disabled = optionalFlag(input, 'DisableRollback');
  if (given !== undefined && disabled !== undefined) {
    throw validationError('Either DisableRollback or OnFailure can be specified, not both.');
  }
  if (given === 'DELETE' || given === 'DO_NOTHING') return given;
  return disabled === true ? 'DO_NOTHING' : 'ROLLBACK';
};

/** What would change behaviour that the world does not have is refused, never ignored. */
const unsupported = [
  'NotificationARNs',
  'StackPolicyBody',
  'StackPolicyURL',
  'RollbackConfiguration',
];

const createStack = (parts: StackParts, input: AwsInput) => {
  const { stacks, stackEngine, images } = parts;
  const name = checkedName(stacks, input);
  const body = bodyOf(input);
  const template = readTemplate(body);
  const all = resourcesOf(template, (type) => Object.hasOwn(stackEngine.types, type));
  const capabilities = texts(input, 'Capabilities');
  checkCapabilities(all, capabilities);
  const published = (parameter: string): string | undefined =>
    images.parameters().find((one) => one.name === parameter)?.value;
  const row: StackRow = {
    id: stacks.newId(name),
    name,
    description: optionalString(template.Description) ?? '',
    createdAt: stacks.scope.now(),
    status: 'CREATE_IN_PROGRESS',
    reason: 'User Initiated',
    tags: tagsOf(input),
    capabilities,
    onFailure: onFailureOf(input),
    isProtected: optionalFlag(input, 'EnableTerminationProtection') ?? false,
    parameters: parametersOf(template, readParameters(input), { published }),
    template,
    body,
    outputs: [],
    resources: [],
    imports: [],
  };
  stackEngine.begin({ ...row, ...plannedOf(parts, row, all) });
  return { StackId: row.id };
};

const updateStack = (parts: StackParts, input: AwsInput) => {
  const { stacks, stackEngine, stackUpdates, images } = parts;
  refuseUnsupported(input);
  const stack = stacks.need(text(input, 'StackName'));
  const keeps = optionalFlag(input, 'UsePreviousTemplate') ?? false;
  const body = keeps ? stack.body : bodyOf(input);
  if (stack.body === '') {
    throw notImplemented(`Changing a stack that the world began with (${stack.name})`);
  }
  const template = readTemplate(body);
  const all = resourcesOf(template, (type) => Object.hasOwn(stackEngine.types, type));
  checkCapabilities(all, texts(input, 'Capabilities'));
  const published = (parameter: string): string | undefined =>
    images.parameters().find((one) => one.name === parameter)?.value;
  const parameters = parametersOf(template, readParameters(input, stack), { published });
  const tags = structures(input, 'Tags').length > 0 ? tagsOf(input) : stack.tags;
  const change = { template, body, parameters, tags };
  const wanted = plannedOf(parts, { ...stack, ...change }, all).resources;
  stackUpdates.begin(stack, change, wanted);
  return { StackId: stack.id };
};

const refuseUnsupported = (input: AwsInput): void => {
  const foreign = unsupported.find((one) => input[one] !== undefined);
  if (foreign === undefined) return;
  throw validationError(`${foreign} is not supported by Drover's world`);
};

const checkedName = (stacks: Stacks, input: AwsInput): string => {
  refuseUnsupported(input);
  const name = text(input, 'StackName');
  if (!/^[a-zA-Z][-a-zA-Z0-9]{0,127}$/.test(name)) {
    throw validationError(
      sentence(
        `1 validation error detected: Value '${name}' at 'stackName' failed to satisfy`,
        'constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*',
      ),
    );
  }
  if (stacks.find(name) !== undefined) {
    throw refuse('AlreadyExistsException', `Stack [${name}] already exists`);
  }
  return name;
};

/** The resources whose conditions hold, not begun, and the imports that the template names. */
const plannedOf = (
  { stacks, lookups }: StackParts,
  row: StackRow,
  all: readonly TemplateResource[],
): Pick<StackRow, 'resources' | 'imports'> => {
  const lookup = lookups.of(row);
  const condition = conditionsOf(row.template, lookup);
  const wanted = all.filter((one) => one.condition === undefined || condition(one.condition));
  const names = new Set(wanted.map((one) => one.logicalId));
  const resources = wanted.map(({ logicalId, type, dependsOn }) => ({
    logicalId,
    physicalId: '',
    type,
    status: 'NOT_STARTED' as const,
    updatedAt: stacks.scope.now(),
    attributes: {},
    properties: {},
    dependsOn: dependsOn.filter((other) => names.has(other)),
  }));
  const imports = importsIn(row.template).flatMap((value) => {
    try {
      return evaluateText(value, { ...lookup, condition });
    } catch {
      // A name that depends on a resource: CloudFormation refuses these; here it fails the
      // resource.
      return [];
    }
  });
  return { resources, imports };
};

const deleteStack = ({ stacks, stackEngine }: StackParts, input: AwsInput): void => {
  // A stack that is not there is deleted already (API reference): no error.
  const stack = stacks.find(text(input, 'StackName'));
  if (stack === undefined || stack.status === 'DELETE_COMPLETE') return;
  if (stack.status === 'DELETE_IN_PROGRESS') return;
  if (stack.isProtected) {
    throw validationError(
      `Stack [${stack.name}] cannot be deleted while TerminationProtection is enabled`,
    );
  }
  if (stack.status.startsWith('UPDATE_') && stack.status.endsWith('_IN_PROGRESS')) {
    throw validationError(
      `Stack [${stack.name}] cannot be deleted while in status ${stack.status}`,
    );
  }
  if (stack.status === 'ROLLBACK_IN_PROGRESS') {
    throw validationError(
      `Stack:${stack.id} is in ROLLBACK_IN_PROGRESS state and can not be deleted.`,
    );
  }
  const retained = texts(input, 'RetainResources');
  if (retained.length > 0 && stack.status !== 'DELETE_FAILED') {
    throw validationError(
      sentence(
        'Invalid operation on stack',
        `[${stack.id}]. The RetainResources parameter is only valid for stacks in the`,
        'DELETE_FAILED state.',
      ),
    );
  }
  for (const one of stack.resources) {
    if (retained.includes(one.logicalId)) {
      stacks.replaceResource(stack.id, { ...one, status: 'DELETE_SKIPPED' });
    }
  }
  stackEngine.remove(stacks.need(stack.id), 'User Initiated');
};
