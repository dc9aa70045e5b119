// Each case: what is there, and which findings it makes.
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../snapshot.ts';
import { aGroup, aNode, briefOf, findingsOf } from '../testing.ts';
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
    'none of several types fits; those of another quota do not count',
    {
      nodes,
      accountQuotas: quota(60),
      instanceTypes: [instanceType('m5.4xlarge', 16), instanceType('g5.small', 1)],
    },
    ['blocker Quota Running On-Demand Standard instances'],
  ],
  [
    'more in use than there may be: not even what goes is replaced',
    { nodes, accountQuotas: quota(65), group: aGroup({ strategy: 'MINIMAL' }) },
    ['blocker Quota Running On-Demand Standard instances'],
  ],
  ['nothing to update', { nodes: [], accountQuotas: quota(65) }, []],
  ['no surge', { nodes, accountQuotas: quota(64), group: aGroup({ strategy: 'MINIMAL' }) }, []],
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
});
