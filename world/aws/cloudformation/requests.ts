// The input of a stack request: template, parameters, tags, capabilities. Validates it completely,
// with the service's messages, before anything is created or changed.
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
import { refuse, sentence, validationError } from '../scope.ts';
import type { StackEngine } from './engine.ts';
import { evaluateText, importsIn } from './intrinsics.ts';
import type { StackLookups } from './lookups.ts';
import type { OnFailure, StackChange, StackResource, StackRow } from './rows.ts';
import type { Stacks } from './store.ts';
import {
  checkCapabilities,
  conditionsOf,
  parametersOf,
  readTemplate,
  resourcesOf,
  type TemplateResource,
} from './template.ts';

export interface RequestParts {
  readonly stacks: Stacks;
  readonly stackEngine: StackEngine;
  readonly lookups: StackLookups;
  readonly images: Images;
}

export type ReadRequest = Omit<StackChange, 'imports'>;

/** `previous`: the stack to change. */
export const readRequest = (
  { stackEngine, images }: RequestParts,
  input: AwsInput,
  previous?: StackRow,
): ReadRequest => {
  refuseUnsupported(input);
  const keeps = optionalFlag(input, 'UsePreviousTemplate') ?? false;
  if (keeps && previous === undefined) {
    throw validationError('Cannot use previous template for a stack that does not exist');
  }
  const body = keeps && previous !== undefined ? previous.body : bodyOf(input);
  const template = readTemplate(body);
  const capabilities = texts(input, 'Capabilities');
  const knows = (type: string): boolean => Object.hasOwn(stackEngine.types, type);
  checkCapabilities(resourcesOf(template, knows), capabilities);
  const published = (parameter: string): string | undefined =>
    images.parameters().find((one) => one.name === parameter)?.value;
  const parameters = parametersOf(template, readParameters(input, previous), { published });
  const keepsTags = previous !== undefined && structures(input, 'Tags').length === 0;
  const tags = keepsTags ? previous.tags : tagsOf(input);
  return { template, body, parameters, tags, capabilities };
};

export const bodyOf = (input: AwsInput): string => {
  const body = optionalText(input, 'TemplateBody');
  if (body !== undefined) return body;
  if (optionalText(input, 'TemplateURL') !== undefined) {
    throw validationError("TemplateURL is not supported by Drover's world: pass TemplateBody");
  }
  throw validationError('Either Template URL or Template Body must be specified.');
};

const readParameters = (input: AwsInput, previous?: StackRow): Readonly<Record<string, string>> =>
  Object.fromEntries(
    structures(input, 'Parameters').map((one) => {
      const key = text(one, 'ParameterKey');
      const kept = optionalFlag(one, 'UsePreviousValue') ? previous?.parameters[key] : undefined;
      return [key, kept ?? optionalText(one, 'ParameterValue') ?? ''];
    }),
  );

/** Refuses options that would change behaviour and that the world does not model. */
const unsupported = [
  'NotificationARNs',
  'StackPolicyBody',
  'StackPolicyURL',
  'RollbackConfiguration',
  'ResourcesToImport',
];

export const refuseUnsupported = (input: AwsInput): void => {
  const foreign = unsupported.find((one) => input[one] !== undefined);
  if (foreign === undefined) return;
  throw validationError(`${foreign} is not supported by Drover's world`);
};

/** The world always rolls a failed change back. */
export const refuseKeptFailure = (input: AwsInput): void => {
  const flag = ['DisableRollback', 'RetainExceptOnCreate'].find(
    (name) => optionalFlag(input, name) === true,
  );
  if (flag !== undefined) throw notImplemented(`${flag} of a change of a stack`);
};

export const onFailureOf = (input: AwsInput): OnFailure => {
  const given = optionalText(input, 'OnFailure') ?? optionalText(input, 'OnStackFailure');
  const disabled = optionalFlag(input, 'DisableRollback');
  if (given !== undefined && disabled !== undefined) {
    throw validationError('Either DisableRollback or OnFailure can be specified, not both.');
  }
  if (given === 'DELETE' || given === 'DO_NOTHING') return given;
  return disabled === true ? 'DO_NOTHING' : 'ROLLBACK';
};

export const checkedName = (input: AwsInput): string => {
  const name = text(input, 'StackName');
  if (/^[a-zA-Z][-a-zA-Z0-9]{0,127}$/.test(name)) return name;
  throw validationError(
    sentence(
      `1 validation error detected: Value '${name}' at 'stackName' failed to satisfy`,
      'constraint: Member must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*',
    ),
  );
};

export const newNameOf = (stacks: Stacks, input: AwsInput): string => {
  const name = checkedName(input);
  if (stacks.find(name) === undefined) return name;
  throw refuse('AlreadyExistsException', `Stack [${name}] already exists`);
};

/** A stack without resources. */
export const newStack = (
  stacks: Stacks,
  name: string,
  request: ReadRequest,
  more: Pick<StackRow, 'status' | 'onFailure' | 'isProtected'>,
): StackRow => ({
  id: stacks.newId(name),
  name,
  createdAt: stacks.scope.now(),
  reason: 'User Initiated',
  ...request,
  ...more,
  outputs: [],
  resources: [],
  imports: [],
});

/** The resources whose conditions hold, not started, and the imports of the template. */
export const plannedOf = (
  { stacks, stackEngine, lookups }: Omit<RequestParts, 'images'>,
  row: StackRow,
): Pick<StackRow, 'resources' | 'imports'> => {
  const all: readonly TemplateResource[] = resourcesOf(row.template, (type) =>
    Object.hasOwn(stackEngine.types, type),
  );
  const lookup = lookups.of(row);
  const condition = conditionsOf(row.template, lookup);
  const wanted = all.filter((one) => one.condition === undefined || condition(one.condition));
  const names = new Set(wanted.map((one) => one.logicalId));
  const resources = wanted.map(
    ({ logicalId, type, dependsOn }): StackResource => ({
      logicalId,
      physicalId: '',
      type,
      status: 'NOT_STARTED',
      updatedAt: stacks.scope.now(),
      attributes: {},
      properties: {},
      dependsOn: dependsOn.filter((other) => names.has(other)),
    }),
  );
  const imports = importsIn(row.template).flatMap((value) => {
    try {
      return evaluateText(value, { ...lookup, condition });
    } catch {
      // CloudFormation refuses a name that depends on a resource; here the resource fails.
      return [];
    }
  });
  return { resources, imports };
};
