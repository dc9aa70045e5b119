// The individual rules of security groups, in the shape of DescribeSecurityGroupRules and of the
// answers to changes. Shapes only; changes nothing.
import type { JsonObject } from '../../../src/api/json.ts';
import { md5Hex } from '../../../src/aws-wire/index.ts';
import type { SecurityGroupRow } from './network.ts';

export type Direction = 'ingress' | 'egress';

const openEgress: JsonObject = { IpProtocol: '-1', CidrIp: '0.0.0.0/0' };

export const contentOf = ({ ruleId: _, ...rule }: JsonObject): string => JSON.stringify(rule);

/** A rule from a stack has no stored id: its id derives from the group and the content. */
const ruleIdOf = (groupId: string, direction: Direction, rule: JsonObject): string =>
  typeof rule.ruleId === 'string'
    ? rule.ruleId
    : `sgr-${md5Hex(`${groupId}/${direction}/${contentOf(rule)}`).slice(0, 17)}`;

export const renderGroupRule = (
  groupId: string,
  rule: JsonObject,
  at: { readonly account: string; readonly direction: Direction },
) => {
  const other = rule.SourceSecurityGroupId ?? rule.DestinationSecurityGroupId;
  return {
    SecurityGroupRuleId: ruleIdOf(groupId, at.direction, rule),
    GroupId: groupId,
    GroupOwnerId: at.account,
    IsEgress: at.direction === 'egress',
    IpProtocol: String(rule.IpProtocol ?? '-1'),
    FromPort: Number(rule.FromPort ?? -1),
    ToPort: Number(rule.ToPort ?? -1),
    ...(rule.CidrIp === undefined ? {} : { CidrIpv4: String(rule.CidrIp) }),
    ...(other === undefined ? {} : { ReferencedGroupInfo: { GroupId: String(other) } }),
  };
};

/** All rules of a group, ingress first. */
export const rulesOf = (group: SecurityGroupRow, account: string) => {
  const directions = { ingress: group.ingress ?? [], egress: group.egress ?? [openEgress] };
  return (['ingress', 'egress'] as const).flatMap((direction) =>
    directions[direction].map((rule) =>
      renderGroupRule(group.groupId, rule, { account, direction }),
    ),
  );
};
