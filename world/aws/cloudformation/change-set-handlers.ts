// Change sets over the API: plans a change immediately and carries it out only on execution, by the
// engine for creation or the one for updates.
import { defined } from '../../../src/api/defined.ts';
import { type AwsInput, optionalText, text } from '../../../src/aws-wire/index.ts';
import { tagList } from '../filters.ts';
import { pageOf } from '../paging.ts';
import { refuse, type ServiceHandlers, validationError } from '../scope.ts';
import type { StackParts } from './change-handlers.ts';
import {
  checkedName,
  newStack,
  onFailureOf,
  plannedOf,
  readRequest,
  refuseKeptFailure,
} from './requests.ts';
import type { ChangeSetRow, PropertyChange, ResourceChange, StackRow } from './rows.ts';

const pageSize = 100;
const noChanges =
  "The submitted information didn't contain changes. Submit different information to create " +
  'a change set.';

export const changeSetHandlers = (parts: StackParts): ServiceHandlers => ({
  CreateChangeSet: (input) => create(parts, input),
  DescribeChangeSet: (input) => describe(named(parts, input), input),
  ExecuteChangeSet: (input) => {
    refuseKeptFailure(input);
    execute(parts, named(parts, input));
    return {};
  },
  DeleteChangeSet: (input) => {
    // A change set that does not exist counts as deleted.
    const row = parts.changeSets.find(text(input, 'ChangeSetName'), stackNameIn(input));
    if (row === undefined) return {};
    if (row.execution === 'EXECUTE_IN_PROGRESS') throw wrongStatus(row, 'deleted');
    parts.changeSets.remove(row.id);
    return {};
  },
  ListChangeSets: (input) => {
    const stackName = text(input, 'StackName');
    const stack = parts.stacks.find(stackName);
    if (stack === undefined) throw validationError(`Stack [${stackName}] does not exist`);
    const page = paged(parts.changeSets.of(stack.id), input, (row) => row.id);
    return { Summaries: page.items.map(renderSummary), ...page.next };
  },
});

const stackNameIn = (input: AwsInput): string | undefined => optionalText(input, 'StackName');

const named = ({ changeSets }: StackParts, input: AwsInput): ChangeSetRow =>
  changeSets.need(text(input, 'ChangeSetName'), stackNameIn(input));

const wrongStatus = ({ id, status, execution }: ChangeSetRow, done: string) =>
  refuse(
    'InvalidChangeSetStatus',
    `ChangeSet [${id}] cannot be ${done} in its current ` +
      `${status === 'FAILED' ? `status of [${status}]` : `execution status of [${execution}]`}`,
  );

// ---- create ----

const create = (parts: StackParts, input: AwsInput) => {
  const type = optionalText(input, 'ChangeSetType') ?? 'UPDATE';
  if (type !== 'CREATE' && type !== 'UPDATE') {
    throw validationError(`ChangeSetType ${type} is not supported by Drover's world`);
  }
  const stack = type === 'CREATE' ? reviewedStack(parts, input) : changedStack(parts, input);
  const { changeSets, stackUpdates, stacks } = parts;
  const name = text(input, 'ChangeSetName');
  if (changeSets.of(stack.id).some((row) => row.name === name)) {
    throw refuse('AlreadyExistsException', `ChangeSet [${name}] already exists`);
  }
  const request = readRequest(parts, input, type === 'CREATE' ? undefined : stack);
  const { resources, imports } = plannedOf(parts, { ...stack, ...request });
  const change = { ...request, imports };
  const plan = stackUpdates.planOf(stack, change, resources);
  const isEmpty = plan.isEmpty && type === 'UPDATE';
  const row: ChangeSetRow = {
    id: changeSets.newId(name),
    name,
    stackId: stack.id,
    stackName: stack.name,
    type,
    ...defined({ description: optionalText(input, 'Description') }),
    createdAt: stacks.scope.now(),
    ...(isEmpty
      ? { status: 'FAILED', reason: noChanges, execution: 'UNAVAILABLE' }
      : { status: 'CREATE_COMPLETE', execution: 'AVAILABLE' }),
    change,
    onFailure: onFailureOf(input),
    changes: plan.changes,
  };
  if (type === 'CREATE' && stacks.find(stack.id) === undefined) {
    stacks.put(stack);
    stacks.tellStack(stack);
  }
  changeSets.put(row);
  return { Id: row.id, StackId: stack.id };
};

const changedStack = ({ stacks, stackUpdates }: StackParts, input: AwsInput): StackRow => {
  const name = text(input, 'StackName');
  const stack = stacks.find(name);
  if (stack === undefined) throw validationError(`Stack [${name}] does not exist`);
  stackUpdates.check(stack);
  return stack;
};

/**
 * The stack that waits for the execution of its first change set; a new one is not in the table
 * yet.
 */
const reviewedStack = (parts: StackParts, input: AwsInput): StackRow => {
  const { stacks } = parts;
  const stack = stacks.find(text(input, 'StackName'));
  if (stack?.status === 'REVIEW_IN_PROGRESS') return stack;
  if (stack !== undefined) {
    throw validationError(
      `Stack [${stack.name}] already exists and cannot be created again with the changeSet ` +
        `[${text(input, 'ChangeSetName')}].`,
    );
  }
  const none = { template: {}, body: '', parameters: {}, tags: {}, capabilities: [] };
  return newStack(stacks, checkedName(input), none, {
    status: 'REVIEW_IN_PROGRESS',
    onFailure: 'ROLLBACK',
    isProtected: false,
  });
};

// ---- execute ----

const execute = (parts: StackParts, row: ChangeSetRow): void => {
  const { stacks, stackEngine, stackUpdates, changeSets } = parts;
  if (row.execution !== 'AVAILABLE') throw wrongStatus(row, 'executed');
  const stack = stacks.need(row.stackId);
  const { id: changeSetId, change, onFailure } = row;
  if (row.type === 'UPDATE') {
    stackUpdates.begin({ ...stack, changeSetId }, change, row.changes);
  } else {
    const status = 'CREATE_IN_PROGRESS';
    const reason = 'User Initiated';
    const begun: StackRow = { ...stack, ...change, changeSetId, onFailure, status, reason };
    stackEngine.begin({ ...begun, ...plannedOf(parts, begun) });
  }
  changeSets.begun(row);
};

// ---- shapes ----

const paged = <T>(all: readonly T[], input: AwsInput, keyOf: (item: T) => string) => {
  const token = optionalText(input, 'NextToken');
  const invalid = () => validationError('NextToken is invalid');
  const page = pageOf(all, { max: pageSize, token, keyOf, invalid });
  return { items: page.items, next: defined({ NextToken: page.nextToken }) };
};

const renderSummary = (row: ChangeSetRow) => ({
  StackId: row.stackId,
  StackName: row.stackName,
  ChangeSetId: row.id,
  ChangeSetName: row.name,
  ExecutionStatus: row.execution,
  Status: row.status,
  ...defined({ StatusReason: row.reason, Description: row.description }),
  CreationTime: row.createdAt,
  IncludeNestedStacks: false,
  ImportExistingResources: false,
});

const describe = (row: ChangeSetRow, input: AwsInput) => {
  const page = paged(row.changes, input, (one) => one.logicalId);
  const { change } = row;
  return {
    ...renderSummary(row),
    Parameters: Object.entries(change.parameters).map(([ParameterKey, ParameterValue]) => ({
      ParameterKey,
      ParameterValue,
    })),
    NotificationARNs: [],
    RollbackConfiguration: {},
    Capabilities: change.capabilities,
    Tags: tagList(change.tags),
    Changes: page.items.map((one) => ({ Type: 'Resource', ResourceChange: renderChange(one) })),
    ...page.next,
  };
};

const renderChange = (one: ResourceChange) => {
  const scope = [
    ...(one.properties.length === 0 ? [] : ['Properties']),
    ...(one.isRetagged ? ['Tags'] : []),
  ];
  return {
    Action: one.action,
    LogicalResourceId: one.logicalId,
    ...(one.physicalId === '' ? {} : { PhysicalResourceId: one.physicalId }),
    ResourceType: one.type,
    ...(one.action === 'Modify' ? { Replacement: replacementOf(one.properties) } : {}),
    Scope: scope,
    Details: [
      ...one.properties.map(renderProperty),
      ...(one.isRetagged ? [{ Target: { Attribute: 'Tags', RequiresRecreation: 'Never' } }] : []),
    ],
  };
};

const replacementOf = (properties: readonly PropertyChange[]): string => {
  const isStatic = ({ source }: PropertyChange): boolean => source !== 'ResourceAttribute';
  if (properties.some((one) => one.recreation === 'Always' && isStatic(one))) return 'True';
  return properties.some((one) => one.recreation !== 'Never') ? 'Conditional' : 'False';
};

const renderProperty = ({ name, recreation, source, cause }: PropertyChange) => ({
  Target: { Attribute: 'Properties', Name: name, RequiresRecreation: recreation },
  Evaluation: source === 'ResourceAttribute' ? 'Dynamic' : 'Static',
  ChangeSource: source,
  ...defined({ CausingEntity: cause }),
});
