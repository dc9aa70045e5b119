// CloudTrail: a bounded history of management calls in the form of real records, and LookupEvents
// over it. Data calls (messages of SQS and SNS) are not management events and are not kept.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type AwsCallRecord,
  type AwsInput,
  optionalNumber,
  optionalText,
  structures,
  text,
} from '../../../src/aws-wire/index.ts';
import type { Table } from '../../kernel/index.ts';
import { pageOf } from '../paging.ts';
import { isoSeconds, refuse, type Scope, type ServiceHandlers } from '../scope.ts';
import { toParameters } from './parameters.ts';

export type TrailRow = {
  readonly seq: number;
  readonly time: number;
  readonly isReadOnly: boolean;
  readonly username: string;
  readonly resources: readonly { readonly type: string; readonly name: string }[];
  readonly event: JsonObject;
};

/** CloudTrail keeps 90 days; the world keeps this many calls, separately for reads and writes. */
const maxKept = { write: 5000, read: 1000 };
const component = 'aws.cloudtrail';

const dataCalls = /^(?:(?:Send|Receive|Delete)Message|ChangeMessageVisibility|Publish)/;
const readCalls = /^(?:Describe|List|Get|Lookup|Assume)/;

export class CloudTrail {
  readonly #scope: Scope;
  readonly #rows: Table<TrailRow>;
  readonly #kept: { readonly write: number[]; readonly read: number[] } = { write: [], read: [] };
  readonly #isOn: boolean;
  #seq = 0;

  constructor(scope: Scope, options: { readonly isOn: boolean } = { isOn: true }) {
    this.#scope = scope;
    this.#isOn = options.isOn;
    this.#rows = scope.kernel.tables.open<TrailRow>('aws/cloudtrail/events');
    for (const row of [...this.#rows.values()].sort((a, b) => a.seq - b.seq)) this.#keep(row);
  }

  record(call: AwsCallRecord): void {
    if (!this.#isOn) return;
    const isMessaging = call.service === 'sqs' || call.service === 'sns';
    if (isMessaging && dataCalls.test(call.operation)) return;
    const isReadOnly = readCalls.test(call.operation);
    // Services poll constantly: their reads would displace all other records.
    if (isReadOnly && callerOf(call).isService) return;
    const row: TrailRow = {
      seq: this.#seq + 1,
      time: call.time,
      isReadOnly,
      username: usernameOf(call),
      resources: resourcesOf(call),
      event: this.#event(call, isReadOnly),
    };
    this.#rows.put(String(row.seq), row);
    this.#keep(row);
  }

  /** Newest first. */
  all(): readonly TrailRow[] {
    return [...this.#rows.values()].sort((a, b) => b.seq - a.seq);
  }

  #keep(row: TrailRow): void {
    this.#seq = Math.max(this.#seq, row.seq);
    const kind = row.isReadOnly ? 'read' : 'write';
    this.#kept[kind].push(row.seq);
    while (this.#kept[kind].length > maxKept[kind]) {
      this.#rows.delete(String(this.#kept[kind].shift()));
    }
  }

  /** The record in the format of CloudTrail's event version 1.08, as in article 004. */
  #event(call: AwsCallRecord, isReadOnly: boolean): JsonObject {
    const { ctx, error } = call;
    const { service, isService } = callerOf(call);
    return {
      eventVersion: '1.08',
      userIdentity: userIdentity(call),
      eventTime: isoSeconds(call.time),
      eventSource: `${eventSources[call.service] ?? call.service}.amazonaws.com`,
      eventName: call.operation,
      awsRegion: ctx.region,
      sourceIPAddress: isService ? service : ctx.sourceIp,
      userAgent: isService ? service : ctx.userAgent,
      ...(error === undefined ? {} : { errorCode: error.code, errorMessage: error.message }),
      requestParameters: toParameters(call.input, 'request', call.moments?.input),
      responseElements:
        isReadOnly || error !== undefined
          ? null
          : toParameters(call.output, 'response', call.moments?.output),
      requestID: ctx.requestId,
      eventID: this.#scope.uuid(component),
      readOnly: isReadOnly,
      eventType: 'AwsApiCall',
      managementEvent: true,
      recipientAccountId: this.#scope.account,
      eventCategory: 'Management',
    };
  }
}

const eventSources: Readonly<Record<string, string>> = {
  elb: 'elasticloadbalancing',
  elbv2: 'elasticloadbalancing',
};

const sessionArn = /:assumed-role\/([^/]+)\/(.+)$/;

/** For a service-linked role, the service replaces address and user agent. */
const callerOf = ({ ctx }: AwsCallRecord) => {
  const role = sessionArn.exec(ctx.principal.arn)?.[1] ?? '';
  return { service: ctx.userAgent, isService: role.startsWith('AWSServiceRoleFor') };
};

const usernameOf = ({ ctx }: AwsCallRecord): string =>
  ctx.principal.userName ?? sessionArn.exec(ctx.principal.arn)?.[2] ?? 'root';

const userIdentity = (call: AwsCallRecord): JsonObject => {
  const { principal, accessKeyId } = call.ctx;
  const identity = {
    type: principal.type,
    principalId: principal.principalId,
    arn: principal.arn,
    accountId: principal.accountId,
    accessKeyId,
  };
  if (principal.type !== 'AssumedRole') {
    return principal.userName === undefined
      ? identity
      : { ...identity, userName: principal.userName };
  }
  const { service, isService } = callerOf(call);
  const userName = sessionArn.exec(principal.arn)?.[1] ?? '';
  const path = isService ? `aws-service-role/${service}/` : '';
  return {
    ...identity,
    sessionContext: {
      sessionIssuer: {
        type: 'Role',
        principalId: principal.principalId.split(':')[0] ?? '',
        arn: `arn:aws:iam::${principal.accountId}:role/${path}${userName}`,
        accountId: principal.accountId,
        userName,
      },
      webIdFederationData: {},
      attributes: { creationDate: isoSeconds(call.time), mfaAuthenticated: 'false' },
    },
    ...(isService ? { invokedBy: service } : {}),
  };
};

const resourceMembers: readonly (readonly [service: string, member: string, type: string])[] = [
  ['autoscaling', 'AutoScalingGroupName', 'AWS::AutoScaling::AutoScalingGroup'],
  ['autoscaling', 'InstanceId', 'AWS::EC2::Instance'],
  ['ec2', 'InstanceId', 'AWS::EC2::Instance'],
  ['ec2', 'InstanceIds', 'AWS::EC2::Instance'],
  ['ec2', 'LaunchTemplateId', 'AWS::EC2::LaunchTemplate'],
  ['ec2', 'LaunchTemplateName', 'AWS::EC2::LaunchTemplate'],
  ['eks', 'nodegroupName', 'AWS::EKS::Nodegroup'],
  ['eks', 'clusterName', 'AWS::EKS::Cluster'],
  ['eks', 'name', 'AWS::EKS::Cluster'],
  ['cloudformation', 'StackName', 'AWS::CloudFormation::Stack'],
  ['sqs', 'QueueName', 'AWS::SQS::Queue'],
  ['sns', 'TopicArn', 'AWS::SNS::Topic'],
];

const resourcesOf = (call: AwsCallRecord): TrailRow['resources'] =>
  resourceMembers
    .filter(([service]) => service === call.service)
    .flatMap(([, member, type]) =>
      [call.input[member] ?? []]
        .flat()
        .filter((name) => typeof name === 'string')
        .map((name) => ({ type, name })),
    );

type Reader = (row: TrailRow) => readonly unknown[];
const attributeReaders: Readonly<Record<string, Reader>> = {
  EventId: (row) => [row.event.eventID],
  EventName: (row) => [row.event.eventName],
  ReadOnly: (row) => [String(row.isReadOnly)],
  Username: (row) => [row.username],
  ResourceType: (row) => row.resources.map((one) => one.type),
  ResourceName: (row) => row.resources.map((one) => one.name),
  EventSource: (row) => [row.event.eventSource],
  AccessKeyId: (row) => [accessKeyOf(row)],
};

const accessKeyOf = (row: TrailRow): unknown => {
  const identity = row.event.userIdentity;
  return typeof identity === 'object' && identity !== null && 'accessKeyId' in identity
    ? identity.accessKeyId
    : undefined;
};

export const cloudTrailHandlers = (trail: CloudTrail): ServiceHandlers => ({
  LookupEvents: (input) => lookup(trail, input),
  DescribeTrails: () => ({ trailList: [] }),
  ListTrails: () => ({ Trails: [] }),
});

const lookup = (trail: CloudTrail, input: AwsInput) => {
  const start = optionalNumber(input, 'StartTime') ?? 0;
  const end = optionalNumber(input, 'EndTime') ?? Number.POSITIVE_INFINITY;
  if (start > end) {
    throw refuse('InvalidTimeRangeException', 'StartTime should not be later than EndTime.');
  }
  const attributes = structures(input, 'LookupAttributes').map((one) => ({
    read: attributeReaders[text(one, 'AttributeKey')],
    value: text(one, 'AttributeValue'),
  }));
  if (optionalText(input, 'EventCategory') !== undefined) return { Events: [] };
  const found = trail
    .all()
    .filter((row) => row.time >= start && row.time <= end)
    .filter((row) => attributes.every(({ read, value }) => read?.(row).includes(value) ?? false));
  const page = pageOf(found, {
    max: optionalNumber(input, 'MaxResults') ?? 50,
    token: optionalText(input, 'NextToken'),
    keyOf: (row) => String(row.seq),
    invalid: () => refuse('InvalidNextTokenException', 'Invalid token.'),
  });
  return {
    Events: page.items.map(renderEvent),
    ...defined({ NextToken: page.nextToken }),
  };
};

const renderEvent = (row: TrailRow) => ({
  EventId: String(row.event.eventID),
  EventName: String(row.event.eventName),
  ReadOnly: String(row.isReadOnly),
  AccessKeyId: String(accessKeyOf(row)),
  EventTime: row.time,
  EventSource: String(row.event.eventSource),
  Username: row.username,
  Resources: row.resources.map((one) => ({ ResourceType: one.type, ResourceName: one.name })),
  CloudTrailEvent: JSON.stringify(row.event),
});
