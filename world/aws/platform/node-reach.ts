// Whether a machine's packets reach the API server. A machine in the cluster's VPC uses the private
// endpoint if it is enabled; all others use the public one. Routes are not checked: every instance
// in a subnet reaches the internet.

import { hasAddress } from '../../../src/api/addresses.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { InstanceRow } from '../ec2/instance-row.ts';
import type { AwsParts } from '../parts.ts';
import type { ClusterRow } from './clusters.ts';

type Parts = Pick<AwsParts, 'network' | 'records'>;

const opensApi = ({ IpProtocol, FromPort, ToPort }: JsonObject): boolean =>
  String(IpProtocol ?? '-1') === '-1' ||
  (IpProtocol === 'tcp' && Number(FromPort ?? 0) <= 443 && Number(ToPort ?? 65_535) >= 443);

const lets = (rule: JsonObject, machine: InstanceRow): boolean =>
  opensApi(rule) &&
  (machine.securityGroupIds.includes(String(rule.SourceSecurityGroupId)) ||
    hasAddress(String(rule.CidrIp), machine.privateIp));

/** A machine without known groups has its VPC's default group, which is always open. */
const passesGroups = ({ network }: Parts, machine: InstanceRow, cluster: ClusterRow): boolean => {
  const { clusterSecurityGroupId, securityGroupIds } = cluster;
  const known = network.securityGroups();
  const own = known.filter(({ groupId }) => machine.securityGroupIds.includes(groupId));
  if (own.length === 0 || machine.securityGroupIds.includes(clusterSecurityGroupId)) return true;
  const theirs = known.filter(({ groupId }) =>
    [clusterSecurityGroupId, ...securityGroupIds].includes(groupId),
  );
  return theirs.some(({ ingress = [] }) => ingress.some((rule) => lets(rule, machine)));
};

/** Instances have no public addresses here: they use the Elastic IP addresses of the account. */
const isAmong = ({ records }: Parts, cidrs: readonly string[]): boolean =>
  cidrs.includes('0.0.0.0/0') ||
  records.of('address').some(({ publicIp = '' }) => cidrs.some((one) => hasAddress(one, publicIp)));

export const reaches = (parts: Parts, machine: InstanceRow, cluster: ClusterRow): boolean => {
  if (cluster.privateAccess && machine.vpcId === cluster.vpcId) {
    return passesGroups(parts, machine, cluster);
  }
  return cluster.publicAccess && isAmong(parts, cluster.publicAccessCidrs);
};
