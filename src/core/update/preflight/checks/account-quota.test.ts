// Tests of the check account-quota: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aNode,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { accountQuota } from './account-quota.ts';

const capacity = { ...aNode('n1').node.status, capacity: { cpu: '4' } };
const nodes = [{ ...aNode('n1'), node: { ...aNode('n1').node, status: capacity } }];
const quota = (used: number, unit: 'vCPU' | 'interfaces' = 'vCPU') => [
  { name: 'Running On-Demand Standard instances', code: 'L-1216C47A', unit, limit: 64, used },
];
const instanceType = (name: string, vcpus: number) => ({
  name,
  vcpus,
  interfaces: 3,
  addressesPerInterface: 10,
  architectures: ['x86_64'],
});
/** An old node of 2 vCPUs, in a group with a desired size of 16. */
const small = {
  nodes: [
    {
      ...aNode('n1'),
      node: { ...aNode('n1').node, status: { ...capacity, capacity: { cpu: '2' } } },
    },
  ],
  instanceTypes: [instanceType('m5.4xlarge', 16)],
};
const ofX = (limit: number) =>
  ({ name: 'X', code: 'L-7295265B', unit: 'vCPU', limit, used: 0 }) as const;
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['4 of 4 that are left', { nodes, accountQuotas: quota(60) }, []],
  [
    '4 where 3 are left',
    { nodes, accountQuotas: quota(61) },
    ['blocker Quota Running On-Demand Standard instances'],
  ],
  [
    'types of which nothing is known: as the nodes that are there',
    { nodes, accountQuotas: quota(57), instanceTypes: [] },
    ['blocker Quota Running On-Demand Standard instances'],
  ],
  [
    'the smallest of several types fits',
    {
      nodes,
      accountQuotas: quota(60),
      instanceTypes: [instanceType('m5.4xlarge', 16), instanceType('m5.large', 2)],
    },
    [],
  ],
  [
    'none of several types of one quota fits',
    {
      nodes,
      accountQuotas: quota(60),
      instanceTypes: [instanceType('m5.4xlarge', 16), instanceType('c5.4xlarge', 16)],
    },
    ['blocker Quota Running On-Demand Standard instances'],
  ],
  [
    'types of another quota have room: Auto Scaling starts those',
    {
      nodes,
      accountQuotas: [...quota(10), ofX(0)],
      instanceTypes: [instanceType('m5.large', 2), instanceType('x2gd.large', 2)],
    },
    ['warning Quota X'],
  ],
  [
    'no quota has room',
    {
      nodes,
      accountQuotas: [...quota(63), ofX(0)],
      instanceTypes: [instanceType('m5.large', 2), instanceType('x2gd.large', 2)],
    },
    ['blocker Quota Running On-Demand Standard instances', 'blocker Quota X'],
  ],
  [
    'each of two quotas has room for one, and two are wanted',
    {
      nodes: [...nodes, { ...nodes[0], ...aNode('n2'), zone: 'b' }],
      group: aGroup({ strategy: 'BLUE_GREEN' }),
      accountQuotas: [...quota(62), ofX(2)],
      instanceTypes: [instanceType('m5.large', 2), instanceType('x2gd.large', 2)],
    },
    ['warning Quota Running On-Demand Standard instances', 'warning Quota X'],
  ],
  [
    'a type of whose quota nothing is known',
    {
      nodes,
      accountQuotas: quota(63),
      instanceTypes: [instanceType('m5.large', 2), instanceType('q9.large', 2)],
    },
    ['warning Quota Running On-Demand Standard instances'],
  ],
  [
    'more in use than there may be, and another quota of 0',
    {
      nodes,
      group: aGroup({ strategy: 'MINIMAL' }),
      accountQuotas: [...quota(65), ofX(0)],
      instanceTypes: [instanceType('m5.large', 2), instanceType('x2gd.large', 2)],
    },
    ['blocker Quota Running On-Demand Standard instances', 'blocker Quota X'],
  ],
  [
    'more in use than there may be: not even what goes is replaced',
    { nodes, accountQuotas: quota(65), group: aGroup({ strategy: 'MINIMAL' }) },
    ['blocker Quota Running On-Demand Standard instances'],
  ],
  ['nothing to update', { nodes: [], accountQuotas: quota(65) }, []],
  ['no surge', { nodes, accountQuotas: quota(64), group: aGroup({ strategy: 'MINIMAL' }) }, []],
  [
    'larger nodes in the place of smaller ones, where the quota is full',
    { ...small, accountQuotas: quota(64), group: aGroup({ strategy: 'MINIMAL' }) },
    ['blocker Quota Running On-Demand Standard instances'],
  ],
  [
    'larger nodes in the place of smaller ones, with room for what is more',
    { ...small, accountQuotas: quota(50), group: aGroup({ strategy: 'MINIMAL' }) },
    [],
  ],
  [
    'smaller nodes in the place of larger ones, above the limit',
    {
      nodes: [{ ...aNode('n1'), instanceType: 'm5.4xlarge' }],
      accountQuotas: quota(68),
      instanceTypes: [instanceType('m5.4xlarge', 16), instanceType('m5.large', 2)],
      group: aGroup({ strategy: 'MINIMAL' }),
    },
    [],
  ],
  [
    'an interface for each',
    { nodes, accountQuotas: quota(63, 'interfaces') },
    ['warning Quota Running On-Demand Standard instances'],
  ],
];

describe('account-quota', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(accountQuota, more))).toEqual(expected);
  });

  it.each<readonly [Partial<Snapshot['group']>, number, string, RegExp]>([
    [{ strategy: 'SURGE' }, 64, 'blocker', /no old node is touched$/],
    [{ strategy: 'SURGE', onShortage: 'Fail' }, 64, 'blocker', /no old node is touched$/],
    [{ strategy: 'SURGE', onShortage: 'Minimal' }, 64, 'warning', /old nodes are drained first/],
    [{ strategy: 'SURGE', onShortage: 'Minimal' }, 65, 'blocker', /nothing replaces it/],
    [{ strategy: 'DEFAULT', onShortage: 'Minimal' }, 64, 'blocker', /no old node is touched$/],
    [{ strategy: 'MINIMAL' }, 65, 'blocker', /an old node is drained, nothing replaces it/],
  ])('%o with %i of 64 in use is a %s: %s', (group, used, severity, text) => {
    const more = { nodes, accountQuotas: quota(used), group: aGroup(group) };
    const [found] = findingsOf(accountQuota, more);
    expect(found?.severity).toBe(severity);
    expect(found?.consequence.text).toMatch(text);
    if (used > 64) expect(found?.remedy).toMatch(/^aws service-quotas/);
  });
});
