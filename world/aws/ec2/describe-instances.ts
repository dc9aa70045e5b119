// DescribeInstances and related operations: rows of instances in EC2's shapes. Reads only.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalText,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import { microsPerMs } from '../../kernel/index.ts';
import { applyFilters, type FilterTable, readFilters, tagList } from '../filters.ts';
import { pageOf } from '../paging.ts';
import { isoSeconds, refuse, type Scope, type ServiceHandlers, sentence } from '../scope.ts';
import type { Images } from './images.ts';
import type { InstanceRow } from './instance-row.ts';
import { type Instances, stateCodes } from './instances.ts';
import type { Network } from './network.ts';
import type { ScheduledEvents } from './scheduled-events.ts';
import { encodeBase64 } from './user-data.ts';

interface StatusParts extends Ec2Parts {
  readonly scheduled: ScheduledEvents;
}

export interface Ec2Parts {
  readonly scope: Scope;
  readonly network: Network;
  readonly instances: Instances;
  readonly images: Images;
}

/** EC2's two status checks pass about this long after an instance is running. */
const checksPassAfterMs = 120_000;

export const invalidToken = () =>
  refuse('InvalidPaginationToken', 'The specified token is invalid');

export const notFound = (code: string, what: string, ids: readonly string[]) =>
  refuse(
    code,
    sentence(
      `The ${what} ID${ids.length > 1 ? 's' : ''} '${ids.join(', ')}'`,
      `do${ids.length > 1 ? '' : 'es'} not exist`,
    ),
  );

const instanceFilters: FilterTable<InstanceRow> = {
  'instance-id': (row) => row.instanceId,
  'instance-state-name': (row) => row.state,
  'instance-state-code': (row) => String(stateCodes[row.state]),
  'instance-type': (row) => row.instanceType,
  'image-id': (row) => row.imageId,
  'availability-zone': (row) => row.zone,
  'placement.availability-zone': (row) => row.zone,
  'subnet-id': (row) => row.subnetId,
  'network-interface.subnet-id': (row) => row.subnetId,
  'vpc-id': (row) => row.vpcId,
  'private-ip-address': (row) => row.privateIp,
  'network-interface.addresses.private-ip-address': (row) => row.privateIp,
  'private-dns-name': (row) => row.privateDnsName,
  'key-name': (row) => row.keyName,
  'instance-lifecycle': (row) => (row.capacityType === 'SPOT' ? 'spot' : undefined),
  'reservation-id': (row) => row.reservationId,
  'owner-id': () => undefined,
  'instance.group-id': (row) => row.securityGroupIds,
};

/** DescribeInstanceStatus has its own filters: the only instance properties are zone and state. */
const statusFilters = (parts: StatusParts): FilterTable<InstanceRow> => {
  const ofEvents =
    (read: (event: ReturnType<ScheduledEvents['describe']>) => string | undefined) =>
    (row: InstanceRow): readonly string[] =>
      parts.scheduled
        .of(row.instanceId)
        .flatMap((event) => read(parts.scheduled.describe(event)) ?? []);
  const time = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : isoSeconds(at).replace('Z', '.000Z');
  const status = (row: InstanceRow): string => renderStatus(parts, row).InstanceStatus.Status;
  const system = (row: InstanceRow): string => renderStatus(parts, row).SystemStatus.Status;
  const reachability = (row: InstanceRow): readonly string[] =>
    renderStatus(parts, row).InstanceStatus.Details.map((one) => one.Status);
  const systemReachability = (row: InstanceRow): readonly string[] =>
    renderStatus(parts, row).SystemStatus.Details.map((one) => one.Status);
  return {
    'availability-zone': (row) => row.zone,
    'event.code': ofEvents((event) => event.Code),
    'event.description': ofEvents((event) => event.Description),
    'event.instance-event-id': ofEvents((event) => event.InstanceEventId),
    'event.not-after': ofEvents((event) => time(event.NotAfter)),
    'event.not-before': ofEvents((event) => time(event.NotBefore)),
    'instance-state-name': (row) => row.state,
    'instance-state-code': (row) => String(stateCodes[row.state]),
    'instance-status.reachability': reachability,
    'instance-status.status': status,
    'system-status.reachability': systemReachability,
    'system-status.status': system,
  };
};

/** Throws EC2's error for the first unknown ids. */
export const needInstances = (
  instances: Instances,
  ids: readonly string[],
): readonly InstanceRow[] => {
  const malformed = ids.find((id) => !/^i-[0-9a-f]{8}(?:[0-9a-f]{9})?$/.test(id));
  if (malformed !== undefined) {
    throw refuse('InvalidInstanceID.Malformed', `Invalid id: "${malformed}"`);
  }
  const unknown = ids.filter((id) => instances.get(id) === undefined);
  if (unknown.length > 0) throw notFound('InvalidInstanceID.NotFound', 'instance', unknown);
  return ids.flatMap((id) => instances.get(id) ?? []);
};

export const instanceReadHandlers = (parts: StatusParts): ServiceHandlers => ({
  DescribeInstances: (input) => {
    const page = findInstances(parts, input, () => true, instanceFilters);
    return {
      Reservations: page.items.map((row) => ({
        ReservationId: row.reservationId,
        OwnerId: parts.scope.account,
        Groups: [],
        Instances: [renderInstance(parts, row)],
      })),
      ...defined({ NextToken: page.nextToken }),
    };
  },
  DescribeInstanceStatus: (input) => {
    const showsAll = optionalFlag(input, 'IncludeAllInstances') ?? false;
    const shown = (row: InstanceRow): boolean => showsAll || row.state === 'running';
    const page = findInstances(parts, input, shown, statusFilters(parts));
    return {
      InstanceStatuses: page.items.map((row) => renderStatus(parts, row)),
      ...defined({ NextToken: page.nextToken }),
    };
  },
  DescribeInstanceAttribute: (input) => {
    const attribute = text(input, 'Attribute');
    const [row] = needInstances(parts.instances, [text(input, 'InstanceId')]);
    const shown = row && attributesOf(row)[attribute];
    if (row !== undefined && shown !== undefined) return { InstanceId: row.instanceId, ...shown };
    throw refuse(
      'InvalidParameterValue',
      `Value (${attribute}) for parameter attribute is not answered by Drover's world.`,
    );
  },
  GetConsoleOutput: (input) => {
    const instanceId = text(input, 'InstanceId');
    needInstances(parts.instances, [instanceId]);
    const output = encodeBase64(parts.scope.host().consoleOutput(instanceId));
    return { InstanceId: instanceId, Timestamp: parts.scope.now(), Output: output };
  },
});

/** By the attribute's name in a request; an instance without user data has no such attribute. */
const attributesOf = (row: InstanceRow): Readonly<Record<string, object>> => ({
  instanceType: { InstanceType: { Value: row.instanceType } },
  userData: { UserData: row.userData === undefined ? {} : { Value: row.userData } },
  groupSet: { Groups: row.securityGroupIds.map((GroupId) => ({ GroupId })) },
  rootDeviceName: { RootDeviceName: { Value: '/dev/xvda' } },
  sourceDestCheck: { SourceDestCheck: { Value: true } },
  disableApiTermination: { DisableApiTermination: { Value: false } },
  instanceInitiatedShutdownBehavior: { InstanceInitiatedShutdownBehavior: { Value: 'stop' } },
});

const findInstances = (
  { instances }: Ec2Parts,
  input: AwsInput,
  passes: (row: InstanceRow) => boolean,
  filters: FilterTable<InstanceRow>,
) => {
  const ids = texts(input, 'InstanceIds');
  const named = ids.length > 0 ? needInstances(instances, ids) : [...instances.all()];
  const found = applyFilters(named.filter(passes), readFilters(input), filters, (row) => row.tags);
  return pageOf(found, {
    max: optionalNumber(input, 'MaxResults') ?? 1000,
    token: optionalText(input, 'NextToken'),
    keyOf: (row) => row.instanceId,
    invalid: invalidToken,
  });
};

export const renderState = (state: InstanceRow['state']) => ({
  Code: stateCodes[state],
  Name: state,
});

/** A launch template may give its profile by name instead of ARN. */
const profileArn = (parts: Ec2Parts, profile: string): string =>
  profile.startsWith('arn:')
    ? profile
    : `arn:aws:iam::${parts.scope.account}:instance-profile/${profile}`;

const renderInstance = (parts: Ec2Parts, row: InstanceRow) => {
  const type = parts.instances.typeOf(row);
  const isGone = row.state === 'terminated';
  const groups = parts.network
    .securityGroups()
    .filter((group) => row.securityGroupIds.includes(group.groupId))
    .map((group) => ({ GroupId: group.groupId, GroupName: group.name }));
  return {
    InstanceId: row.instanceId,
    ImageId: row.imageId,
    InstanceType: row.instanceType,
    State: renderState(row.state),
    StateTransitionReason: row.transitionReason,
    ...(row.stateReason === undefined
      ? {}
      : { StateReason: { Code: row.stateReason.code, Message: row.stateReason.message } }),
    LaunchTime: row.launchedAt,
    AmiLaunchIndex: 0,
    Architecture: type?.architecture ?? 'x86_64',
    BlockDeviceMappings: isGone ? [] : [{ DeviceName: '/dev/xvda', Ebs: rootVolume(row) }],
    EbsOptimized: false,
    EnaSupport: true,
    Hypervisor: 'xen',
    Monitoring: { State: 'disabled' },
    Placement: { AvailabilityZone: row.zone, GroupName: '', Tenancy: 'default' },
    PrivateDnsName: isGone ? '' : row.privateDnsName,
    PublicDnsName: '',
    ...(isGone ? {} : addressing(parts, row, groups)),
    ...defined({ KeyName: row.keyName }),
    ...(row.profileArn === undefined
      ? {}
      : {
          IamInstanceProfile: {
            Arn: profileArn(parts, row.profileArn),
            Id: `AIPA${row.instanceId.slice(-16).toUpperCase()}`,
          },
        }),
    ...(row.capacityType === 'SPOT' ? { InstanceLifecycle: 'spot' } : {}),
    RootDeviceName: '/dev/xvda',
    RootDeviceType: 'ebs',
    SecurityGroups: isGone ? [] : groups,
    SourceDestCheck: true,
    VirtualizationType: 'hvm',
    Tags: tagList(row.tags),
    MetadataOptions: {
      State: 'applied',
      HttpTokens: 'required',
      HttpPutResponseHopLimit: 2,
      HttpEndpoint: 'enabled',
    },
  };
};

const rootVolume = (row: InstanceRow) => ({
  AttachTime: row.launchedAt,
  DeleteOnTermination: true,
  Status: 'attached',
  VolumeId: `vol-${row.instanceId.slice(2)}`,
});

const addressing = (
  { scope, network }: Ec2Parts,
  row: InstanceRow,
  groups: readonly { readonly GroupId: string; readonly GroupName: string }[],
) => {
  const addresses = [
    row.privateIp,
    ...network.addressesOf(row.instanceId).filter((address) => address !== row.privateIp),
  ];
  return {
    PrivateIpAddress: row.privateIp,
    SubnetId: row.subnetId,
    VpcId: row.vpcId,
    NetworkInterfaces: [
      {
        NetworkInterfaceId: row.interfaceId,
        MacAddress: row.mac,
        OwnerId: scope.account,
        Status: 'in-use',
        InterfaceType: 'interface',
        SubnetId: row.subnetId,
        VpcId: row.vpcId,
        SourceDestCheck: true,
        PrivateDnsName: row.privateDnsName,
        PrivateIpAddress: row.privateIp,
        PrivateIpAddresses: addresses.map((address) => ({
          Primary: address === row.privateIp,
          PrivateIpAddress: address,
          PrivateDnsName: `ip-${address.replaceAll('.', '-')}.${scope.region}.compute.internal`,
        })),
        Groups: groups,
        Attachment: {
          AttachTime: row.launchedAt,
          AttachmentId: `eni-attach-${row.interfaceId.slice(4)}`,
          DeleteOnTermination: true,
          DeviceIndex: 0,
          Status: 'attached',
        },
      },
    ],
  };
};

/** Possible targets of a status check fault: node, zone and Auto Scaling group. */
const checkedPlace = (row: InstanceRow) => ({
  node: row.privateDnsName,
  zone: row.zone,
  ...defined({ group: row.tags['aws:autoscaling:groupName'] }),
});

/**
 * One of EC2's two status checks. It is impaired since the fault began, and never before the check
 * was initialized.
 */
const renderCheck = (scope: Scope, row: InstanceRow, since: number | undefined) => {
  if (row.state !== 'running') return { Status: 'not-applicable', Details: [] };
  if (scope.now() < row.launchedAt + checksPassAfterMs) {
    return {
      Status: 'initializing',
      Details: [{ Name: 'reachability', Status: 'initializing' }],
    };
  }
  if (since === undefined) {
    return { Status: 'ok', Details: [{ Name: 'reachability', Status: 'passed' }] };
  }
  const ImpairedSince = Math.max(since / microsPerMs, row.launchedAt + checksPassAfterMs);
  return {
    Status: 'impaired',
    Details: [{ Name: 'reachability', Status: 'failed', ImpairedSince }],
  };
};

const renderStatus = ({ scope, scheduled }: StatusParts, row: InstanceRow) => {
  const { faults } = scope;
  const place = checkedPlace(row);
  return {
    InstanceId: row.instanceId,
    AvailabilityZone: row.zone,
    InstanceState: renderState(row.state),
    Events: scheduled.of(row.instanceId).map((event) => scheduled.describe(event)),
    InstanceStatus: renderCheck(scope, row, faults.activeSince('instance-impaired', place)),
    SystemStatus: renderCheck(scope, row, faults.activeSince('system-impaired', place)),
  };
};
