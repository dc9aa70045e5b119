// CloudFormation's read operations: stacks, resources, events, exports, templates. Shapes only.
import { defined } from '../../../src/api/defined.ts';
import { type AwsInput, optionalText, text, texts } from '../../../src/aws-wire/index.ts';
import { tagList } from '../filters.ts';
import { pageOf } from '../paging.ts';
import { type ServiceHandlers, validationError } from '../scope.ts';
import type { StackEventRow, StackResource, StackRow } from './rows.ts';
import type { Stacks } from './store.ts';

const pageSize = 100;
const notChecked = { StackResourceDriftStatus: 'NOT_CHECKED' };
const invalidToken = () => validationError('NextToken is invalid');

export const stackReadHandlers = (stacks: Stacks): ServiceHandlers => ({
  DescribeStacks: (input) => {
    const name = optionalText(input, 'StackName');
    const page = paged(
      name === undefined ? stacks.live() : [stacks.need(name)],
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
    const page = paged(shown(stack), input, (resource) => resource.logicalId);
    return {
      StackResourceSummaries: page.items.map((resource) => ({
        LogicalResourceId: resource.logicalId,
        PhysicalResourceId: resource.physicalId,
        ResourceType: resource.type,
        LastUpdatedTimestamp: resource.updatedAt,
        ResourceStatus: resource.status,
        ...reasonOf(resource),
        DriftInformation: notChecked,
      })),
      ...page.next,
    };
  },
  DescribeStackResources: (input) => {
    const stack = stackOf(stacks, input);
    const wanted = optionalText(input, 'LogicalResourceId');
    return {
      StackResources: shown(stack)
        .filter((resource) => wanted === undefined || resource.logicalId === wanted)
        .map((resource) => ({
          ...renderResource(stack, resource),
          Timestamp: resource.updatedAt,
        })),
    };
  },
  DescribeStackResource: (input) => {
    const stack = stacks.need(text(input, 'StackName'));
    const wanted = text(input, 'LogicalResourceId');
    const resource = shown(stack).find((one) => one.logicalId === wanted);
    if (resource === undefined) {
      throw validationError(`Resource ${wanted} does not exist for stack ${stack.name}`);
    }
    const detail = { ...renderResource(stack, resource), LastUpdatedTimestamp: resource.updatedAt };
    return { StackResourceDetail: detail };
  },
  DescribeStackEvents: (input) => {
    const stack = stacks.need(optionalText(input, 'StackName') ?? '');
    const events = stacks.events(stack.id).toReversed();
    const page = paged(events, input, (event) => `${event.id}/${event.at}/${event.status}`);
    return { StackEvents: page.items.map(renderEvent), ...page.next };
  },
  ListExports: (input) => {
    const page = paged(stacks.exports(), input, (one) => one.exportName ?? '');
    return {
      Exports: page.items.map(({ stack, exportName, value }) => ({
        ExportingStackId: stack.id,
        Name: exportName,
        Value: value,
      })),
      ...page.next,
    };
  },
  GetTemplate: (input) => ({
    TemplateBody: stacks.need(optionalText(input, 'StackName') ?? '').body,
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

/** Resources that the service lists: those whose creation has begun. */
const shown = (stack: StackRow): readonly StackResource[] =>
  stack.resources.filter((one) => one.status !== 'NOT_STARTED');

const reasonOf = (one: { readonly reason?: string }) =>
  one.reason === undefined ? {} : { ResourceStatusReason: one.reason };

const stackReasonOf = (row: StackRow) =>
  row.reason === undefined ? {} : { StackStatusReason: row.reason };

const deletionOf = (row: StackRow) =>
  row.deletedAt === undefined ? {} : { DeletionTime: row.deletedAt };

const renderStack = (row: StackRow) => ({
  StackId: row.id,
  StackName: row.name,
  Description: descriptionOf(row),
  Parameters: Object.entries(row.parameters).map(([ParameterKey, ParameterValue]) => ({
    ParameterKey,
    ParameterValue,
  })),
  CreationTime: row.createdAt,
  ...deletionOf(row),
  ...(row.changeSetId === undefined ? {} : { ChangeSetId: row.changeSetId }),
  RollbackConfiguration: {},
  StackStatus: row.status,
  ...stackReasonOf(row),
  DisableRollback: row.onFailure === 'DO_NOTHING',
  NotificationARNs: [],
  Capabilities: row.capabilities,
  Outputs: row.outputs.map((output) => ({
    OutputKey: output.key,
    OutputValue: output.value,
    ...defined({ Description: output.description, ExportName: output.exportName }),
  })),
  Tags: tagList(row.tags),
  EnableTerminationProtection: row.isProtected,
  DriftInformation: { StackDriftStatus: 'NOT_CHECKED' },
});

const renderSummary = (row: StackRow) => ({
  StackId: row.id,
  StackName: row.name,
  TemplateDescription: descriptionOf(row),
  CreationTime: row.createdAt,
  ...deletionOf(row),
  StackStatus: row.status,
  ...stackReasonOf(row),
  DriftInformation: { StackDriftStatus: 'NOT_CHECKED' },
});

const renderResource = (stack: StackRow, resource: StackResource) => ({
  StackName: stack.name,
  StackId: stack.id,
  LogicalResourceId: resource.logicalId,
  PhysicalResourceId: resource.physicalId,
  ResourceType: resource.type,
  ResourceStatus: resource.status,
  ...reasonOf(resource),
  DriftInformation: notChecked,
});

const renderEvent = (row: StackEventRow) => ({
  StackId: row.stackId,
  EventId: row.id,
  StackName: row.stackName,
  LogicalResourceId: row.logicalId,
  PhysicalResourceId: row.physicalId,
  ResourceType: row.type,
  Timestamp: row.at,
  ResourceStatus: row.status,
  ...reasonOf(row),
  ...defined({ ResourceProperties: row.properties }),
});

/** Empty if the template has none. */
const descriptionOf = ({ template }: StackRow): string =>
  typeof template.Description === 'string' ? template.Description : '';
