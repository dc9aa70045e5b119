// What the network would block, on handwritten facts: which rule, which endpoint, which subnet.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { ClusterNetwork, InstanceNetwork, SecurityRule } from '../../api/network.ts';
import { joinCauses } from './joining.ts';
import type { JoinEvidence, JoiningInstance } from './joining-evidence.ts';

const at: InstanceNetwork = {
  subnetId: 'subnet-1',
  vpcId: 'vpc-1',
  securityGroups: ['sg-own'],
  privateAddress: '10.0.1.7',
};
const access: ClusterNetwork = {
  vpcId: 'vpc-1',
  publicAccess: true,
  privateAccess: true,
  publicAccessCidrs: ['0.0.0.0/0'],
  securityGroups: ['sg-cluster'],
};
const rule = (more: Partial<SecurityRule> = {}): SecurityRule => ({
  protocol: 'tcp',
  fromPort: 443,
  toPort: 443,
  cidrs: [],
  groups: [],
  hasPrefixLists: false,
  ...more,
});
const all = rule({ protocol: '-1', cidrs: ['0.0.0.0/0'] });
const timeout = 'dial tcp 10.0.0.1:443: i/o timeout';

interface Given {
  readonly at?: Partial<InstanceNetwork>;
  readonly access?: Partial<ClusterNetwork> | undefined;
  readonly ingress?: readonly SecurityRule[];
  readonly egress?: readonly SecurityRule[];
  readonly instance?: Partial<JoiningInstance>;
  readonly free?: number;
  readonly failed?: JoinEvidence['failedLaunches'];
}

const causesOf = (given: Given) =>
  joinCauses({
    now: epochMs(Date.parse('2026-01-01T01:00:00Z')),
    cluster: 'c',
    roleArn: undefined,
    isWindows: false,
    roles: { kind: 'unused' },
    userData: undefined,
    failedLaunches: given.failed ?? [],
    instances: [
      {
        instanceId: 'i-1',
        state: 'running',
        launchTime: '2026-01-01T00:59:00Z',
        console: '',
        node: undefined,
        network: { ...at, ...given.at },
        ...given.instance,
      },
    ],
    network: {
      cluster: { ...access, ...given.access },
      subnets: [{ id: 'subnet-1', freeAddresses: given.free ?? 9 }],
      securityGroups: [
        { id: 'sg-own', ingress: [], egress: given.egress ?? [all] },
        { id: 'sg-cluster', ingress: given.ingress ?? [], egress: [all] },
      ],
    },
  });
const publicOnly = { privateAccess: false };
const some = { ...publicOnly, publicAccessCidrs: ['198.51.100.0/24'] };

describe('the way to the endpoint', () => {
  it.each<[string, Given]>([
    ['the cluster security group is on the instance', { at: { securityGroups: ['sg-cluster'] } }],
    ['its group is let in', { ingress: [rule({ groups: ['sg-own'] })] }],
    ['its address is let in', { ingress: [rule({ cidrs: ['10.0.0.0/16'] })] }],
    ['all protocols are let in', { ingress: [all] }],
    [
      'a range of ports has 443',
      { ingress: [rule({ fromPort: 0, toPort: 500, groups: ['sg-own'] })] },
    ],
    ['a prefix list may have it', { ingress: [rule({ hasPrefixLists: true })] }],
    ['the endpoint is public, whatever its groups', { access: publicOnly }],
    [
      'its public address is in the ranges',
      { access: some, at: { publicAddress: '198.51.100.9' } },
    ],
    ['it stands elsewhere and asks the public one', { at: { vpcId: 'vpc-2' } }],
    ['groups were not all read', { at: { securityGroups: ['sg-own', 'sg-other'] } }],
  ])('is open where %s', (_what, given) => {
    expect(causesOf(given)).toEqual([]);
  });

  it.each<[string, Given, string, string, RegExp]>([
    [
      'no rule lets its group in',
      {},
      'SecurityGroups',
      'likely',
      /not the cluster security group sg-cluster/,
    ],
    [
      'the rule is for another port',
      { ingress: [rule({ fromPort: 80, toPort: 80, groups: ['sg-own'] })] },
      'SecurityGroups',
      'likely',
      /TCP 443/,
    ],
    [
      'the rule is for UDP',
      { ingress: [rule({ protocol: 'udp', groups: ['sg-own'] })] },
      'SecurityGroups',
      'likely',
      /TCP 443/,
    ],
    [
      'the rule is for other addresses',
      { ingress: [rule({ cidrs: ['10.1.0.0/16'] })] },
      'SecurityGroups',
      'likely',
      /TCP 443/,
    ],
    [
      'nothing gets out',
      { access: publicOnly, egress: [rule({ fromPort: 53, toPort: 53 })] },
      'SecurityGroups',
      'likely',
      /no outbound rule of sg-own/,
    ],
    [
      'the endpoint is private, of another VPC',
      { access: { publicAccess: false }, at: { vpcId: 'vpc-2' } },
      'EndpointAccess',
      'likely',
      /subnet-1 is in vpc-2, the cluster in vpc-1/,
    ],
    [
      'its public address is in no range',
      { access: some, at: { publicAddress: '203.0.113.1' } },
      'EndpointAccess',
      'likely',
      /198.51.100.0\/24; subnet-1 leaves by 203.0.113.1/,
    ],
    [
      'its NAT is not known',
      { access: some },
      'EndpointAccess',
      'possible',
      /NAT, which is not known/,
    ],
  ])('is shut where %s, which a console shows', (_what, given, code, certainty, evidence) => {
    const [first] = causesOf(given);
    expect(first).toMatchObject({ code, certainty, instances: ['i-1'] });
    expect(first?.evidence.join('\n')).toMatch(evidence);
    expect(first?.remedy.length).toBeGreaterThan(0);
    const [shown, ...more] = causesOf({ ...given, instance: { console: timeout } });
    expect(shown).toMatchObject({ code, certainty: 'shown' });
    expect(shown?.evidence[0]).toContain('i/o timeout');
    expect(more).toEqual([]);
  });

  it('is not judged of an instance that is a node, nor without facts', () => {
    const node = { name: 'n', notReady: 'x', hasGroupLabel: true };
    expect(causesOf({ instance: { node } }).map(({ code }) => code)).toEqual(['NodeNotReady']);
    expect(causesOf({ instance: { network: undefined } })).toEqual([]);
  });
});

describe('a subnet without addresses', () => {
  it('may be why, and is likely where launches or pods have felt it', () => {
    expect(causesOf({ access: publicOnly, free: 0 })).toMatchObject([
      { code: 'NoAddresses', certainty: 'possible', instances: ['i-1'] },
    ]);
    const failed = [{ code: 'InsufficientFreeAddresses', message: 'no' }];
    expect(causesOf({ access: publicOnly, free: 0, failed })).toMatchObject([
      { code: 'LaunchFailed' },
      { code: 'NoAddresses', certainty: 'likely' },
    ]);
    const node = { name: 'n', notReady: 'NetworkPluginNotReady: cni', hasGroupLabel: true };
    expect(causesOf({ free: 0, instance: { node } })).toMatchObject([
      { code: 'NodeNotReady' },
      { code: 'NoAddresses', certainty: 'likely' },
    ]);
    expect(causesOf({ access: publicOnly, free: 1 })).toEqual([]);
  });
});
