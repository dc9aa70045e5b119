// What would block the network between an instance and its cluster: subnets without addresses, the
// endpoint's access, security groups (EKS user guide, "cluster endpoint access", "security group
// requirements"). Pure.

import { hasAddress } from '../../api/addresses.ts';
import type { ClusterNetwork, InstanceNetwork, SecurityRule } from '../../api/network.ts';
import type { JoinCause, JoinEvidence } from './joining-evidence.ts';

const apiPort = 443;
/** The notations of "any address". */
const everywhere: readonly string[] = ['0.0.0.0/0', '::/0'];

const opens = ({ protocol, fromPort, toPort }: SecurityRule): boolean =>
  protocol === '-1' ||
  ((protocol === 'tcp' || protocol === '6') &&
    (fromPort ?? 0) <= apiPort &&
    apiPort <= (toPort ?? 65_535));

const admits = (rule: SecurityRule, { securityGroups, privateAddress }: InstanceNetwork) =>
  opens(rule) &&
  (rule.hasPrefixLists ||
    rule.groups.some((id) => securityGroups.includes(id)) ||
    rule.cidrs.some((cidr) => hasAddress(cidr, privateAddress)));

type Finding = Omit<JoinCause, 'instances'>;

const describeCluster = (cluster: string, query: string): string =>
  `$ aws eks describe-cluster --name ${cluster} --query cluster.resourcesVpcConfig${query}`;

/** Egress counts too. A group blocks only if none of its security groups allows the traffic. */
const securityFinding = (
  at: InstanceNetwork,
  cluster: ClusterNetwork,
  { network, cluster: name }: JoinEvidence,
): Finding | undefined => {
  const known = network?.securityGroups;
  if (known === undefined) return undefined;
  const own = known.filter(({ id }) => at.securityGroups.includes(id));
  const hasAll = own.length === at.securityGroups.length && own.length > 0;
  if (hasAll && !own.some(({ egress }) => egress.some(opens))) {
    return {
      code: 'SecurityGroups',
      certainty: 'likely',
      what: 'its security groups let nothing out on port 443',
      evidence: [`no outbound rule of ${at.securityGroups.join(', ')} is for TCP 443`],
      remedy: ['Allow outbound TCP 443 in one of them'],
    };
  }
  const isMember =
    cluster.securityGroups[0] !== undefined &&
    at.securityGroups.includes(cluster.securityGroups[0]);
  const theirs = known.filter(({ id }) => cluster.securityGroups.includes(id));
  const targets = [...new Set(cluster.securityGroups)];
  const isKnown = hasAll && theirs.length === targets.length && theirs.length > 0;
  const isPrivate = cluster.privateAccess && cluster.vpcId === at.vpcId;
  if (!isPrivate || isMember || !isKnown) return undefined;
  if (theirs.some(({ ingress }) => ingress.some((rule) => admits(rule, at)))) return undefined;
  const [target = ''] = targets;
  return {
    code: 'SecurityGroups',
    certainty: 'likely',
    what: 'the cluster’s security groups do not let it reach the private endpoint on port 443',
    evidence: [
      `it has ${at.securityGroups.join(', ')}, not the cluster security group ${target}`,
      `no inbound rule of ${targets.join(', ')} is for TCP 443 from them`,
    ],
    remedy: [
      `Give the launch template the cluster security group ${target}, or allow it in:`,
      `$ aws ec2 authorize-security-group-ingress --group-id ${target} --protocol tcp --port 443 ` +
        `--source-group ${at.securityGroups[0] ?? 'GROUP'}`,
      describeCluster(name, '.clusterSecurityGroupId'),
    ],
  };
};

/** A private endpoint resolves only inside the cluster's VPC; elsewhere the public one is used. */
const endpointFinding = (
  at: InstanceNetwork,
  access: ClusterNetwork,
  { cluster }: JoinEvidence,
): Finding | undefined => {
  const { privateAccess, publicAccess, publicAccessCidrs, vpcId } = access;
  const isInside = at.vpcId === vpcId;
  const code = 'EndpointAccess';
  if (privateAccess && isInside) return undefined;
  if (!publicAccess) {
    return {
      code,
      certainty: 'likely',
      what: 'the cluster’s endpoint is private, and the instance is in another VPC',
      evidence: [`its subnet ${at.subnetId} is in ${at.vpcId}, the cluster in ${vpcId}`],
      remedy: [
        `Name subnets of ${vpcId}, or connect the VPCs, the endpoint’s name included`,
        describeCluster(cluster, ''),
      ],
    };
  }
  const address = at.publicAddress;
  const isOpen = publicAccessCidrs.some((one) => everywhere.includes(one));
  const isIn = publicAccessCidrs.some((one) => hasAddress(one, address ?? ''));
  if (isOpen || isIn || publicAccessCidrs.length === 0) return undefined;
  const from = address === undefined ? 'the address of its NAT, which is not known here' : address;
  return {
    code,
    certainty: address === undefined ? 'possible' : 'likely',
    what: 'the cluster’s endpoint is public for some addresses alone, and private access is off',
    evidence: [`it lets in ${publicAccessCidrs.join(', ')}; ${at.subnetId} leaves by ${from}`],
    remedy: [
      'Add the address to publicAccessCidrs, or let nodes in by the private endpoint:',
      `$ aws eks update-cluster-config --name ${cluster} --resources-vpc-config ` +
        'endpointPrivateAccess=true',
    ],
  };
};

/** For an instance without a node; `likely` at most: routes and network ACLs are not checked. */
const reachFindings = (at: InstanceNetwork, evidence: JoinEvidence): readonly Finding[] => {
  const access = evidence.network?.cluster;
  if (access === undefined) return [];
  const found = [endpointFinding(at, access, evidence), securityFinding(at, access, evidence)];
  return found.filter((one) => one !== undefined);
};

const addressCauses = ({
  network,
  instances,
  failedLaunches,
}: JoinEvidence): readonly JoinCause[] =>
  (network?.subnets ?? [])
    .filter(({ freeAddresses }) => freeAddresses <= 0)
    .map(({ id }) => {
      const own = instances.filter((one) => one.network?.subnetId === id);
      const isFelt =
        failedLaunches.some(({ code }) => code === 'InsufficientFreeAddresses') ||
        own.some(({ node }) => node !== undefined);
      return {
        code: 'NoAddresses',
        certainty: isFelt ? 'likely' : 'possible',
        what: `the subnet ${id} has no address left for instances and pods`,
        evidence: [`DescribeSubnets: ${id} has 0 available addresses`],
        remedy: ['End what holds addresses there, or give the group a subnet with room'],
        instances: own.map(({ instanceId }) => instanceId),
      };
    });

/**
 * First, whether instances without a node can reach the endpoint; then the subnets without free
 * addresses.
 */
export const networkCauses = (evidence: JoinEvidence): readonly JoinCause[] => [
  ...evidence.instances.flatMap(({ instanceId, node, network }) =>
    node !== undefined || network === undefined
      ? []
      : reachFindings(network, evidence).map((one) => ({ ...one, instances: [instanceId] })),
  ),
  ...addressCauses(evidence),
];
