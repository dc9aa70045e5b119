// Load balancers and their listeners over the API, read-only. Services of type LoadBalancer alone
// create them: the write operations are not part of the world.
import { type AwsInput, optionalText, texts } from '../../../src/aws-wire/index.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';
import type { ListenerRow, LoadBalancerRow, LoadBalancers } from './load-balancers.ts';

/** Hosted zone of Network Load Balancers in eu-west-1 (ELB endpoints and quotas). */
const hostedZoneId = 'Z2IFOLAFXWLO4F';

export const balancerHandlers = (balancers: LoadBalancers): ServiceHandlers => ({
  DescribeLoadBalancers: (input) => ({
    LoadBalancers: chosen(balancers, input).map((row) => render(balancers, row)),
  }),
  DescribeListeners: (input) => {
    const arns = texts(input, 'ListenerArns');
    const of = optionalText(input, 'LoadBalancerArn');
    const rows = of === undefined ? balancers.all() : [balancers.need(of)];
    const all = rows.flatMap((row) => row.listeners.map((listener) => ({ row, listener })));
    const lost = arns.find((arn) => all.every(({ listener }) => listener.arn !== arn));
    if (lost !== undefined) {
      throw refuse('ListenerNotFound', 'One or more listeners not found');
    }
    const found = all.filter(({ listener }) => arns.length === 0 || arns.includes(listener.arn));
    return { Listeners: found.map(({ row, listener }) => renderListener(row, listener)) };
  },
});

const chosen = (balancers: LoadBalancers, input: AwsInput): readonly LoadBalancerRow[] => {
  const arns = texts(input, 'LoadBalancerArns');
  const names = texts(input, 'Names');
  if (arns.length + names.length === 0) return balancers.all();
  const byName = names.map((name) => {
    const row = balancers.all().find((one) => one.name === name);
    if (row !== undefined) return row;
    throw refuse('LoadBalancerNotFound', `Load balancers '[${name}]' not found`);
  });
  return [...arns.map((arn) => balancers.need(arn)), ...byName];
};

const render = (balancers: LoadBalancers, row: LoadBalancerRow) => ({
  LoadBalancerArn: row.arn,
  DNSName: row.dnsName,
  CanonicalHostedZoneId: hostedZoneId,
  CreatedTime: row.createdAt,
  LoadBalancerName: row.name,
  Scheme: row.scheme,
  VpcId: row.vpcId,
  State: { Code: balancers.stateOf(row) },
  Type: 'network',
  AvailabilityZones: row.subnets.map(({ zone, subnetId }) => ({
    ZoneName: zone,
    SubnetId: subnetId,
    LoadBalancerAddresses: [],
  })),
  IpAddressType: 'ipv4',
});

const renderListener = (row: LoadBalancerRow, listener: ListenerRow) => ({
  ListenerArn: listener.arn,
  LoadBalancerArn: row.arn,
  Port: listener.port,
  Protocol: listener.protocol,
  DefaultActions: [{ Type: 'forward', TargetGroupArn: listener.targetGroup, Order: 1 }],
});
