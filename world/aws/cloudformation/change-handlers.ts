// CloudFormation's write operations: checks the complete template before a stack is created or
// changed; the engine does the rest.
import { objectOr } from '../../../src/api/json.ts';
import {
  type AwsInput,
  optionalFlag,
  optionalText,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import { type ServiceHandlers, sentence, validationError } from '../scope.ts';
import type { ChangeSets } from './change-sets.ts';
import {
  bodyOf,
  newNameOf,
  newStack,
  onFailureOf,
  plannedOf,
  type RequestParts,
  readRequest,
  refuseKeptFailure,
} from './requests.ts';
import { readTemplate, resourcesOf } from './template.ts';
import type { StackUpdates } from './updates.ts';

export interface StackParts extends RequestParts {
  readonly stackUpdates: StackUpdates;
  readonly changeSets: ChangeSets;
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

const summaryOf = ({ stackEngine }: StackParts, body: string) => {
  const template = readTemplate(body);
  const resources = resourcesOf(template, (type) => Object.hasOwn(stackEngine.types, type));
  const types = [...new Set(resources.map((one) => one.type))];
  const hasIam = types.some((type) => type.startsWith('AWS::IAM::'));
  return { template, types, capabilities: hasIam ? ['CAPABILITY_IAM'] : [] };
};

const createStack = (parts: StackParts, input: AwsInput) => {
  const { stacks, stackEngine } = parts;
  const name = newNameOf(stacks, input);
  const row = newStack(stacks, name, readRequest(parts, input), {
    status: 'CREATE_IN_PROGRESS',
    onFailure: onFailureOf(input),
    isProtected: optionalFlag(input, 'EnableTerminationProtection') ?? false,
  });
  stackEngine.begin({ ...row, ...plannedOf(parts, row) });
  return { StackId: row.id };
};

const updateStack = (parts: StackParts, input: AwsInput) => {
  const { stacks, stackUpdates, changeSets } = parts;
  refuseKeptFailure(input);
  const stack = stacks.need(text(input, 'StackName'));
  const request = readRequest(parts, input, stack);
  stackUpdates.check(stack);
  const { resources, imports } = plannedOf(parts, { ...stack, ...request });
  const change = { ...request, imports };
  const plan = stackUpdates.planOf(stack, change, resources);
  if (plan.isEmpty) throw validationError('No updates are to be performed.');
  stackUpdates.begin(stack, change, plan.changes);
  changeSets.outdate(stack.id);
  return { StackId: stack.id };
};

const deleteStack = ({ stacks, stackEngine, changeSets }: StackParts, input: AwsInput): void => {
  // A stack that does not exist counts as deleted (API reference): no error.
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
  changeSets.forget(stack.id);
};
