// Resources that commands need besides clusters: subnets, zones, quotas, images, key pairs, stacks.
// Never waits for the operations that a call starts.

import type { StackState } from '../api/cloud-provisioning.ts';
import { isObject, type JsonObject, objectOr } from '../api/json.ts';
import type { Clock, ProvisioningApi } from '../ports/index.ts';
import { AwsCalls } from './calls.ts';
import { addonCalls, clusterCalls } from './clusters.ts';
import { entryCalls } from './entries.ts';
import type { AwsRefusal, AwsTransport } from './transport.ts';
import { maybeText, objects, tagList, tagsOf, textMapOf, textOf } from './values.ts';

const isCode =
  (code: string) =>
  ({ codes }: AwsRefusal): boolean =>
    codes.includes(code);

const networkCalls = (
  calls: AwsCalls,
): Pick<
  ProvisioningApi,
  'availabilityZones' | 'createKeyPair' | 'describeSubnets' | 'imageParameter' | 'keyPairExists'
> => ({
  describeSubnets: async (which, options = {}) => {
    const filter =
      'ids' in which
        ? { Name: 'subnet-id', Values: which.ids }
        : { Name: 'vpc-id', Values: [which.vpcId] };
    if (filter.Values.length === 0) return [];
    const input = { Filters: [filter] };
    const subnets = await calls.all('ec2', 'DescribeSubnets', input, 'Subnets', options);
    return subnets.map((subnet) => ({
      id: textOf(subnet.SubnetId),
      zone: textOf(subnet.AvailabilityZone),
      vpcId: textOf(subnet.VpcId),
      isPublic: subnet.MapPublicIpOnLaunch === true,
    }));
  },
  availabilityZones: async (options = {}) => {
    const output = await calls.send('ec2', 'DescribeAvailabilityZones', {}, options);
    return objects(output.AvailabilityZones)
      .filter((zone) => zone.State === 'available' && zone.ZoneType !== 'local-zone')
      .flatMap((zone) => maybeText(zone.ZoneName) ?? []);
  },
  createKeyPair: async (name, options = {}) => {
    await calls.send('ec2', 'CreateKeyPair', { KeyName: name }, options);
  },
  keyPairExists: async (name, options = {}) => {
    const input = { Filters: [{ Name: 'key-name', Values: [name] }] };
    const output = await calls.send('ec2', 'DescribeKeyPairs', input, options);
    return objects(output.KeyPairs).some(({ KeyName }) => KeyName === name);
  },
  imageParameter: async (name, options = {}) => {
    const isMissing = isCode('ParameterNotFound');
    const output = await calls.maybe('ssm', 'GetParameter', { Name: name }, options, isMissing);
    return maybeText(objectOr(output?.Parameter).Value);
  },
});

/** Instances on dedicated hosts and in capacity blocks count against other quotas. */
const isCounted = ({ InstanceLifecycle, Placement }: JsonObject): boolean =>
  objectOr(Placement).Tenancy !== 'host' &&
  (maybeText(InstanceLifecycle) === undefined || InstanceLifecycle === 'spot');

const accountCalls = (
  calls: AwsCalls,
): Pick<ProvisioningApi, 'callerAccount' | 'countedInstances' | 'serviceQuota'> => ({
  callerAccount: async (options = {}) => {
    const { Account } = await calls.send('sts', 'GetCallerIdentity', {}, options);
    return maybeText(Account);
  },
  serviceQuota: async ({ service, code }, options = {}) => {
    const input = { ServiceCode: service, QuotaCode: code };
    const operation = 'GetServiceQuota';
    const isMissing = isCode('NoSuchResourceException');
    const output = await calls.maybe('service-quotas', operation, input, options, isMissing);
    const quota = output?.Quota;
    if (!isObject(quota) || typeof quota.Value !== 'number') return undefined;
    return { code, name: textOf(quota.QuotaName), value: quota.Value };
  },
  countedInstances: async (options = {}) => {
    const states = { Name: 'instance-state-name', Values: ['pending', 'running'] };
    const input = { Filters: [states] };
    const found = await calls.all('ec2', 'DescribeInstances', input, 'Reservations', options);
    return found
      .flatMap(({ Instances }) => objects(Instances))
      .filter(isCounted)
      .map(({ InstanceType, InstanceLifecycle }) => ({
        instanceType: textOf(InstanceType),
        isSpot: InstanceLifecycle === 'spot',
      }));
  },
});

/** All other states are final: Successful, Failed, Cancelled and those of an ended rollback. */
const activeRefreshes = new Set(['Pending', 'InProgress', 'Cancelling', 'RollbackInProgress']);

const refreshCalls = (calls: AwsCalls): Pick<ProvisioningApi, 'activeRefresh'> => ({
  activeRefresh: async (name, options = {}) => {
    const input = { AutoScalingGroupName: name };
    const output = await calls.send('autoscaling', 'DescribeInstanceRefreshes', input, options);
    // Newest first; one runs at a time.
    const active = objects(output.InstanceRefreshes).find(({ Status }) =>
      activeRefreshes.has(textOf(Status)),
    );
    if (active === undefined) return undefined;
    const { Status, PercentageComplete } = active;
    return { status: textOf(Status), percentage: Number(PercentageComplete ?? 0) };
  },
});

/** CloudFormation has no specific error for a stack that does not exist. */
const isStackMissing = ({ codes, message }: AwsRefusal): boolean =>
  codes.includes('ValidationError') && /does not exist/.test(message);

const outputsOf = (stack: JsonObject): StackState['outputs'] =>
  textMapOf(
    Object.fromEntries(
      objects(stack.Outputs).map(({ OutputKey, OutputValue }) => [textOf(OutputKey), OutputValue]),
    ),
  );

const stackCalls = (
  calls: AwsCalls,
): Pick<ProvisioningApi, 'createStack' | 'deleteStack' | 'describeStack' | 'stackFailures'> => ({
  createStack: async (plan, options = {}) => {
    const input = {
      StackName: plan.name,
      TemplateBody: JSON.stringify(plan.template),
      Capabilities: ['CAPABILITY_IAM'],
      Tags: tagList(plan.tags),
    };
    await calls.send('cloudformation', 'CreateStack', input, options);
  },
  describeStack: async (name, options = {}) => {
    const input = { StackName: name };
    const operation = 'DescribeStacks';
    const output = await calls.maybe('cloudformation', operation, input, options, isStackMissing);
    const stack = objects(output?.Stacks)[0];
    if (stack === undefined) return undefined;
    return {
      name: textOf(stack.StackName),
      status: textOf(stack.StackStatus),
      statusReason: maybeText(stack.StackStatusReason),
      outputs: outputsOf(stack),
      tags: tagsOf(stack.Tags),
    };
  },
  stackFailures: async (name, options = {}) => {
    const input = { StackName: name };
    const operation = 'DescribeStackEvents';
    const events = await calls.all('cloudformation', operation, input, 'StackEvents', options);
    // Newest first; the earliest failure caused the others.
    return events
      .filter(
        (event) =>
          /_FAILED$/.test(textOf(event.ResourceStatus)) && event.LogicalResourceId !== name,
      )
      .map((event) => ({
        logicalId: textOf(event.LogicalResourceId),
        type: textOf(event.ResourceType),
        reason: textOf(event.ResourceStatusReason),
      }))
      .toReversed();
  },
  deleteStack: async (name, options = {}) => {
    await calls.send('cloudformation', 'DeleteStack', { StackName: name }, options);
  },
});

export const createProvisioning = (transport: AwsTransport, clock: Clock): ProvisioningApi => {
  const calls = new AwsCalls(transport);
  return {
    ...clusterCalls(calls),
    ...addonCalls(calls),
    ...entryCalls(calls, clock),
    ...networkCalls(calls),
    ...accountCalls(calls),
    ...refreshCalls(calls),
    ...stackCalls(calls),
  };
};
