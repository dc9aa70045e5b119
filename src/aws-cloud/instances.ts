// EC2 instances: description, scheduled events, console output.

import type { CloudInstance, ImpairedInstance, ScheduledEvent } from '../api/cloud.ts';
import { defined } from '../api/defined.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import type { CloudApi } from '../ports/index.ts';
import type { AwsCalls } from './calls.ts';
import { impairedRequest, isOverEvent, scheduledEventsRequest, statusChecks } from './requests.ts';
import { batchesOf, maybeText, maybeTime, objects, textOf } from './values.ts';

/** EC2 accepts 200 values per filter. */
const instanceIdsAtOnce = 200;
const instancesPerPage = 1000;

/** The instance's own addresses: those of its other interfaces belong to pods. */
const addressesOf = (instance: JsonObject): CloudInstance['addresses'] => {
  const { PrivateIpAddress, PublicIpAddress, Ipv6Address } = instance;
  const addresses = [PrivateIpAddress, PublicIpAddress, Ipv6Address].flatMap(
    (one) => maybeText(one) ?? [],
  );
  return addresses.length === 0 ? undefined : addresses;
};

const networkOf = (instance: JsonObject): CloudInstance['network'] => {
  const [subnetId, vpcId] = [maybeText(instance.SubnetId), maybeText(instance.VpcId)];
  const privateAddress = maybeText(instance.PrivateIpAddress);
  if (subnetId === undefined || vpcId === undefined || privateAddress === undefined) {
    return undefined;
  }
  return {
    subnetId,
    vpcId,
    securityGroups: objects(instance.SecurityGroups).flatMap(
      ({ GroupId }) => maybeText(GroupId) ?? [],
    ),
    privateAddress,
    ...defined({ publicAddress: maybeText(instance.PublicIpAddress) }),
  };
};

const instanceOf = (instance: JsonObject): CloudInstance => ({
  instanceId: textOf(instance.InstanceId),
  state: textOf(objectOr(instance.State).Name),
  privateDnsName: textOf(instance.PrivateDnsName),
  instanceType: textOf(instance.InstanceType),
  isSpot: instance.InstanceLifecycle === 'spot',
  imageId: textOf(instance.ImageId),
  availabilityZone: textOf(objectOr(instance.Placement).AvailabilityZone),
  ...defined({
    launchTime: maybeTime(instance.LaunchTime),
    addresses: addressesOf(instance),
    publicDnsName: maybeText(instance.PublicDnsName),
    network: networkOf(instance),
  }),
});

const eventsOf = (status: JsonObject): readonly ScheduledEvent[] =>
  objects(status.Events).map((event) => ({
    id: textOf(event.InstanceEventId),
    instanceId: textOf(status.InstanceId),
    code: textOf(event.Code),
    isOver: isOverEvent(textOf(event.Description)),
    ...defined({ notBefore: maybeTime(event.NotBefore) }),
  }));

const impairedOf = (status: JsonObject, check: ImpairedInstance['check']): ImpairedInstance => {
  const summary = objectOr(check === 'instance' ? status.InstanceStatus : status.SystemStatus);
  const since = objects(summary.Details).find((one) => one.ImpairedSince !== undefined);
  return {
    instanceId: textOf(status.InstanceId),
    check,
    ...defined({ since: maybeTime(since?.ImpairedSince) }),
  };
};

const service = 'ec2';

export const instanceCalls = (
  calls: AwsCalls,
): Pick<
  CloudApi,
  | 'consoleOutput'
  | 'describeImpairedInstances'
  | 'describeInstances'
  | 'describeScheduledEvents'
  | 'rebootInstance'
  | 'terminateInstance'
> => ({
  describeInstances: async (instanceIds, options = {}) => {
    const instances: CloudInstance[] = [];
    for (const batch of batchesOf(instanceIds, instanceIdsAtOnce)) {
      // A filter, because one unknown id in InstanceIds fails the call.
      const Filters = [{ Name: 'instance-id', Values: batch }];
      const input = { Filters, MaxResults: instancesPerPage };
      const operation = 'DescribeInstances';
      const found = await calls.all(service, operation, input, 'Reservations', options);
      for (const { Instances } of found) instances.push(...objects(Instances).map(instanceOf));
    }
    return instances;
  },
  describeScheduledEvents: async (options = {}) => {
    const input = { ...scheduledEventsRequest(), MaxResults: instancesPerPage };
    const operation = 'DescribeInstanceStatus';
    const statuses = await calls.all(service, operation, input, 'InstanceStatuses', options);
    return statuses.flatMap(eventsOf);
  },
  describeImpairedInstances: async (options = {}) => {
    const impaired: ImpairedInstance[] = [];
    for (const check of statusChecks) {
      const input = { ...impairedRequest(check), MaxResults: instancesPerPage };
      const operation = 'DescribeInstanceStatus';
      const statuses = await calls.all(service, operation, input, 'InstanceStatuses', options);
      impaired.push(...statuses.map((status) => impairedOf(status, check)));
    }
    return impaired;
  },
  rebootInstance: async (instanceId, options = {}) => {
    await calls.send(service, 'RebootInstances', { InstanceIds: [instanceId] }, options);
  },
  terminateInstance: async (instanceId, options = {}) => {
    await calls.send(service, 'TerminateInstances', { InstanceIds: [instanceId] }, options);
  },
  consoleOutput: async (instanceId, options = {}) => {
    const input = { InstanceId: instanceId };
    const output = await calls.send(service, 'GetConsoleOutput', input, options);
    const bytes = Uint8Array.from(atob(textOf(output.Output)), (char) => char.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  },
});
