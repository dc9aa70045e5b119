// Each case: what is there, and which findings it makes.
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../snapshot.ts';
import { aGroup, aNode, briefOf, findingsOf } from '../testing.ts';
import { accountQuota } from './account-quota.ts';

const capacity = { ...aNode('n1').node.status, capacity: { cpu: '4' } };
const nodes = [{ ...aNode('n1'), node: { ...aNode('n1').node, status: capacity } }];
const quota = (used: number, unit: 'vCPU' | 'interfaces' = 'vCPU') => [
  { name: 'Running On-Demand Standard instances', unit, limit: 64, used },
];
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['8 of 8 that are left', { nodes, accountQuotas: quota(56) }, []],
  [
    '8 where 7 are left',
    { nodes, accountQuotas: quota(57) },
    ['warning Quota Running On-Demand Standard instances'],
  ],
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
