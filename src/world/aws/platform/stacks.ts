// CloudFormation stacks as records: what eksctl's stacks would show. Stacks are only read; nothing
// is created from a template here.
import { type AwsInput, optionalText, text, texts } from '../../../wire/index.ts';
import { hexString, type Table } from '../../kernel/index.ts';
import { type Tags, tagList } from '../filters.ts';
import { pageOf } from '../paging.ts';
import { type Scope, type ServiceHandlers, validationError } from '../scope.ts';

export type StackResource = {
  readonly logicalId: string;
  readonly physicalId: string;
  readonly type: string;
};

export type StackRow = {
  readonly name: string;
  readonly id: string;
  readonly description: string;
  readonly createdAt: number;
  readonly status: string;
  readonly tags: Tags;
  readonly outputs: Readonly<Record<string, string>>;
  readonly resources: readonly StackResource[];
};

const component = 'aws.cloudformation';
const pageSize = 100;

export class Stacks {
  readonly #scope: Scope;
  readonly #rows: Table<StackRow>;

  constructor(scope: Scope) {
    this.#scope = scope;
    this.#rows = scope.kernel.tables.open<StackRow>('aws/cloudformation/stacks');
  }

  all(): readonly StackRow[] {
    return [...this.#rows.values()];
  }

  add(stack: Omit<StackRow, 'id' | 'createdAt' | 'status'>): StackRow {
    const scope = this.#scope;
    const suffix = hexString(scope.kernel.random(component), 12);
    const guid = `${scope.uuid(component).slice(0, 23)}-${suffix}`;
    const row: StackRow = {
      ...stack,
      id: scope.arn('cloudformation', `stack/${stack.name}/${guid}`),
      createdAt: scope.now(),
      status: 'CREATE_COMPLETE',
    };
    this.#rows.put(row.name, row);
    return row;
  }

  /** By name or id; throws as CloudFormation does. */
  need(nameOrId: string): StackRow {
    const row = this.#rows.get(nameOrId) ?? this.all().find((stack) => stack.id === nameOrId);
    if (row !== undefined) return row;
    throw validationError(`Stack with id ${nameOrId} does not exist`);
  }
}

const notChecked = { StackResourceDriftStatus: 'NOT_CHECKED' };
const invalidToken = () => validationError('NextToken is invalid');

export const stackHandlers = (stacks: Stacks): ServiceHandlers => ({
  DescribeStacks: (input) => {
    const name = optionalText(input, 'StackName');
    const page = paged(
      name === undefined ? stacks.all() : [stacks.need(name)],
      input,
      (row) => row.id,
    );
    return { Stacks: page.items.map(renderStack), ...page.next };
  },
  ListStacks: (input) => {
    const statuses = texts(input, 'StackStatusFilter');
    const found = stacks
      .all()
      .filter((row) => statuses.length === 0 || statuses.includes(row.status));
    const page = paged(found, input, (row) => row.id);
    return { StackSummaries: page.items.map(renderSummary), ...page.next };
  },
  ListStackResources: (input) => {
    const stack = stacks.need(text(input, 'StackName'));
    const page = paged(stack.resources, input, (resource) => resource.logicalId);
    return {
      StackResourceSummaries: page.items.map((resource) => ({
        LogicalResourceId: resource.logicalId,
        PhysicalResourceId: resource.physicalId,
        ResourceType: resource.type,
        LastUpdatedTimestamp: stack.createdAt,
        ResourceStatus: stack.status,
        DriftInformation: notChecked,
      })),
      ...page.next,
    };
  },
  DescribeStackResources: (input) => {
    const stack = stackOf(stacks, input);
    const wanted = optionalText(input, 'LogicalResourceId');
    return {
      StackResources: stack.resources
        .filter((resource) => wanted === undefined || resource.logicalId === wanted)
        .map((resource) => ({
          ...renderResource(stack, resource),
          Timestamp: stack.createdAt,
        })),
    };
  },
  DescribeStackResource: (input) => {
    const stack = stacks.need(text(input, 'StackName'));
    const wanted = text(input, 'LogicalResourceId');
    const resource = stack.resources.find((one) => one.logicalId === wanted);
    if (resource === undefined) {
      throw validationError(`Resource ${wanted} does not exist for stack ${stack.name}`);
    }
    const detail = { ...renderResource(stack, resource), LastUpdatedTimestamp: stack.createdAt };
    return { StackResourceDetail: detail };
  },
  GetTemplate: (input) => ({
    TemplateBody: templateOf(stacks.need(optionalText(input, 'StackName') ?? '')),
    StagesAvailable: ['Original', 'Processed'],
  }),
});

const stackOf = (stacks: Stacks, input: AwsInput): StackRow => {
  const physicalId = optionalText(input, 'PhysicalResourceId');
  if (physicalId === undefined) return stacks.need(optionalText(input, 'StackName') ?? '');
  const owner = stacks
    .all()
    .find((stack) => stack.resources.some((one) => one.physicalId === physicalId));
  if (owner !== undefined) return owner;
  throw validationError(`Stack for ${physicalId} does not exist`);
};

const paged = <T>(all: readonly T[], input: AwsInput, keyOf: (item: T) => string) => {
  const token = optionalText(input, 'NextToken');
  const page = pageOf(all, { max: pageSize, token, keyOf, invalid: invalidToken });
  const next = page.nextToken === undefined ? {} : { NextToken: page.nextToken };
  return { items: page.items, next };
};

const renderStack = (row: StackRow) => ({
  StackId: row.id,
  StackName: row.name,
  Description: row.description,
  CreationTime: row.createdAt,
  RollbackConfiguration: {},
  StackStatus: row.status,
  DisableRollback: false,
  NotificationARNs: [],
  Capabilities: ['CAPABILITY_IAM'],
  Outputs: Object.entries(row.outputs).map(([OutputKey, OutputValue]) => ({
    OutputKey,
    OutputValue,
    ExportName: `${row.name}::${OutputKey}`,
  })),
  Tags: tagList(row.tags),
  EnableTerminationProtection: false,
  DriftInformation: { StackDriftStatus: 'NOT_CHECKED' },
});

const renderSummary = (row: StackRow) => ({
  StackId: row.id,
  StackName: row.name,
  TemplateDescription: row.description,
  CreationTime: row.createdAt,
  StackStatus: row.status,
  DriftInformation: { StackDriftStatus: 'NOT_CHECKED' },
});

const renderResource = (stack: StackRow, resource: StackResource) => ({
  StackName: stack.name,
  StackId: stack.id,
  LogicalResourceId: resource.logicalId,
  PhysicalResourceId: resource.physicalId,
  ResourceType: resource.type,
  ResourceStatus: stack.status,
  DriftInformation: notChecked,
});

/** Logical ids and types only: the world has no templates to keep. */
const templateOf = (stack: StackRow): string =>
  JSON.stringify({
    AWSTemplateFormatVersion: '2010-09-09',
    Description: stack.description,
    Resources: Object.fromEntries(
      stack.resources.map((resource) => [resource.logicalId, { Type: resource.type }]),
    ),
  });
