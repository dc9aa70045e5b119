// Classic Load Balancers over the API, version 2012-06-01: listeners, instances, health checks and
// tags. Policies and certificates are not part of the world.

import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { Instances } from '../ec2/instances.ts';
import type { Network, SubnetRow } from '../ec2/network.ts';
import { type Tags, tagList, tagsOf } from '../filters.ts';
import { pageOf } from '../paging.ts';
import { refuse, type ServiceHandlers, validationError } from '../scope.ts';
import type {
  ClassicBalancerRow,
  ClassicBalancers,
  ClassicHealthCheck,
  ClassicListener,
} from './classic-balancers.ts';

export interface ClassicParts {
  readonly classic: ClassicBalancers;
  readonly instances: Instances;
  readonly network: Network;
}

/** Hosted zone of Classic Load Balancers in eu-west-1 (ELB endpoints and quotas). */
const hostedZoneId = 'Z32O12XQLNTSW2';
const maxPageSize = 400;
const maxNameLength = 32;
const protocols: ReadonlySet<string> = new Set(['HTTP', 'HTTPS', 'TCP', 'SSL']);

export const classicHandlers = (parts: ClassicParts): ServiceHandlers => {
  const { classic } = parts;
  const named = (input: AwsInput) => classic.need(text(input, 'LoadBalancerName'));
  return {
    CreateLoadBalancer: (input) => ({ DNSName: create(parts, input).dnsName }),
    // A load balancer that does not exist counts as deleted (API reference): no error.
    DeleteLoadBalancer: (input) => {
      classic.remove(text(input, 'LoadBalancerName'));
      return {};
    },
    DescribeLoadBalancers: (input) => describe(parts, input),
    ConfigureHealthCheck: (input) => {
      const healthCheck = readCheck(optionalStructure(input, 'HealthCheck') ?? {});
      classic.put({ ...named(input), healthCheck });
      return { HealthCheck: renderCheck(healthCheck) };
    },
    RegisterInstancesWithLoadBalancer: (input) => {
      const { name } = named(input);
      for (const id of instanceIds(input)) {
        const state = parts.instances.get(id)?.state;
        if (state === undefined || state === 'terminated') {
          throw refuse('InvalidInstance', `EC2 instance ${id} does not exist.`);
        }
      }
      for (const id of instanceIds(input)) classic.register(name, id);
      return { Instances: renderInstances(classic.registered(classic.need(name))) };
    },
    DeregisterInstancesFromLoadBalancer: (input) => {
      const row = named(input);
      const foreign = instanceIds(input).find((id) => !classic.registered(row).includes(id));
      if (foreign !== undefined) {
        throw refuse('InvalidInstance', `Could not find EC2 instance ${foreign}.`);
      }
      for (const id of instanceIds(input)) classic.deregister(row.name, id);
      return { Instances: renderInstances(classic.registered(classic.need(row.name))) };
    },
    DescribeInstanceHealth: (input) => {
      const row = named(input);
      const asked = instanceIds(input);
      const ids = asked.length === 0 ? classic.registered(row) : asked;
      return {
        InstanceStates: ids.map((InstanceId) => {
          const { state, reason, description } = classic.healthOf(row, InstanceId);
          return { InstanceId, State: state, ReasonCode: reason, Description: description };
        }),
      };
    },
    ...tagHandlers(classic),
  };
};

const instanceIds = (input: AwsInput): readonly string[] =>
  structures(input, 'Instances').map((one) => text(one, 'InstanceId'));

// ---- create ----

const create = (parts: ClassicParts, input: AwsInput): ClassicBalancerRow => {
  const { classic } = parts;
  const name = checkedName(text(input, 'LoadBalancerName'));
  if (classic.find(name) !== undefined) {
    throw refuse(
      'DuplicateLoadBalancerName',
      `Load Balancer named '${name}' already exists and it is configured with different ` +
        'parameters.',
    );
  }
  const scheme = optionalText(input, 'Scheme') ?? 'internet-facing';
  if (scheme !== 'internet-facing' && scheme !== 'internal') {
    throw refuse('InvalidScheme', `Invalid scheme: ${scheme}`);
  }
  const listeners = structures(input, 'Listeners').map(readListener);
  const subnets = readSubnets(parts, input);
  const instancePort = listeners[0]?.instancePort ?? 0;
  return classic.add({
    name,
    scheme,
    listeners,
    vpcId: subnets[0]?.vpcId ?? '',
    subnets: subnets.map(({ zone, subnetId }) => ({ zone, subnetId })),
    securityGroups: readSecurityGroups(parts, input),
    healthCheck: readCheck({ Target: `TCP:${instancePort}` }),
    tags: tagsOf(input),
  });
};

const checkedName = (name: string): string => {
  if (name.length > maxNameLength) {
    throw validationError(`LoadBalancer name cannot be longer than ${maxNameLength} characters`);
  }
  if (/^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$/.test(name)) return name;
  throw validationError(
    'LoadBalancer name must contain only alphanumeric characters or hyphens, and not begin ' +
      'or end with one',
  );
};

const readListener = (one: AwsInput): ClassicListener => {
  const protocol = checkedProtocol(text(one, 'Protocol'));
  if (optionalText(one, 'SSLCertificateId') !== undefined) {
    throw refuse('CertificateNotFound', "Certificates are not part of Drover's world");
  }
  return {
    protocol,
    port: optionalNumber(one, 'LoadBalancerPort') ?? 0,
    instanceProtocol: checkedProtocol(optionalText(one, 'InstanceProtocol') ?? protocol),
    instancePort: optionalNumber(one, 'InstancePort') ?? 0,
  };
};

const checkedProtocol = (given: string): string => {
  const protocol = given.toUpperCase();
  if (protocols.has(protocol)) return protocol;
  throw refuse('UnsupportedProtocol', `Protocol ${given} is not supported`);
};

/** Subnets by id, or the default subnets of zones. */
const readSubnets = ({ network }: ClassicParts, input: AwsInput): readonly SubnetRow[] => {
  const ids = texts(input, 'Subnets');
  const zones = texts(input, 'AvailabilityZones');
  if (ids.length > 0 === zones.length > 0) {
    throw validationError('Either AvailabilityZones or SubnetIds must be specified');
  }
  const vpc = network.vpcs().find((one) => one.isDefault === true);
  const inZones = zones.map((zone) => {
    const isIn = (one: SubnetRow): boolean => one.vpcId === vpc?.vpcId && one.zone === zone;
    const found = network.subnets().find(isIn);
    if (found !== undefined) return found;
    throw validationError(`No default subnet for availability zone: '${zone}'`);
  });
  const byId = ids.map((id) => {
    const found = network.subnet(id);
    if (found !== undefined) return found;
    throw refuse('SubnetNotFound', `The requested subnet '${id}' does not exist`);
  });
  return [...inZones, ...byId];
};

const readSecurityGroups = ({ network }: ClassicParts, input: AwsInput): readonly string[] => {
  const ids = texts(input, 'SecurityGroups');
  const known = new Set(network.securityGroups().map((one) => one.groupId));
  const foreign = ids.find((id) => !known.has(id));
  if (foreign === undefined) return ids;
  throw refuse('InvalidSecurityGroup', `The security group '${foreign}' does not exist`);
};

/** Missing values get the service's defaults (ELB user guide, "health check configuration"). */
const readCheck = (given: AwsInput): ClassicHealthCheck => ({
  target: text(given, 'Target'),
  intervalSeconds: optionalNumber(given, 'Interval') ?? 30,
  timeoutSeconds: optionalNumber(given, 'Timeout') ?? 5,
  unhealthyCount: optionalNumber(given, 'UnhealthyThreshold') ?? 2,
  healthyCount: optionalNumber(given, 'HealthyThreshold') ?? 10,
});

// ---- read ----

const describe = ({ classic, network }: ClassicParts, input: AwsInput) => {
  const names = texts(input, 'LoadBalancerNames');
  const found = names.length === 0 ? classic.all() : names.map((name) => classic.need(name));
  const page = pageOf(found, {
    max: optionalNumber(input, 'PageSize') ?? maxPageSize,
    token: optionalText(input, 'Marker'),
    keyOf: (row) => row.name,
    invalid: () => validationError('Marker is invalid'),
  });
  return {
    LoadBalancerDescriptions: page.items.map((row) => render(classic, network, row)),
    ...defined({ NextMarker: page.nextToken }),
  };
};

const render = (classic: ClassicBalancers, network: Network, row: ClassicBalancerRow) => {
  const [first] = row.securityGroups;
  const group = network.securityGroups().find((one) => one.groupId === first);
  return {
    LoadBalancerName: row.name,
    DNSName: row.dnsName,
    CanonicalHostedZoneName: row.dnsName,
    CanonicalHostedZoneNameID: hostedZoneId,
    ListenerDescriptions: row.listeners.map((one) => ({
      Listener: {
        Protocol: one.protocol,
        LoadBalancerPort: one.port,
        InstanceProtocol: one.instanceProtocol,
        InstancePort: one.instancePort,
      },
      PolicyNames: [],
    })),
    Policies: {
      AppCookieStickinessPolicies: [],
      LBCookieStickinessPolicies: [],
      OtherPolicies: [],
    },
    BackendServerDescriptions: [],
    AvailabilityZones: row.subnets.map(({ zone }) => zone),
    Subnets: row.subnets.map(({ subnetId }) => subnetId),
    VPCId: row.vpcId,
    Instances: renderInstances(classic.registered(row)),
    HealthCheck: renderCheck(row.healthCheck),
    ...(group === undefined ? {} : { SourceSecurityGroup: { GroupName: group.name } }),
    SecurityGroups: row.securityGroups,
    CreatedTime: row.createdAt,
    Scheme: row.scheme,
  };
};

const renderInstances = (ids: readonly string[]) => ids.map((InstanceId) => ({ InstanceId }));

const renderCheck = (check: ClassicHealthCheck) => ({
  Target: check.target,
  Interval: check.intervalSeconds,
  Timeout: check.timeoutSeconds,
  UnhealthyThreshold: check.unhealthyCount,
  HealthyThreshold: check.healthyCount,
});

// ---- tags ----

const tagHandlers = (classic: ClassicBalancers): ServiceHandlers => {
  const change = (input: AwsInput, after: (before: Tags) => Tags): Record<string, never> => {
    const rows = texts(input, 'LoadBalancerNames').map((name) => classic.need(name));
    for (const row of rows) classic.put({ ...row, tags: after(row.tags) });
    return {};
  };
  return {
    AddTags: (input) => change(input, (before) => ({ ...before, ...tagsOf(input) })),
    RemoveTags: (input) => {
      const keys = structures(input, 'Tags').map((one) => text(one, 'Key'));
      return change(input, (before) =>
        Object.fromEntries(Object.entries(before).filter(([key]) => !keys.includes(key))),
      );
    },
    DescribeTags: (input) => ({
      TagDescriptions: texts(input, 'LoadBalancerNames').map((name) => ({
        LoadBalancerName: name,
        Tags: tagList(classic.need(name).tags),
      })),
    }),
  };
};
