// Tests of the check namespace-quota: each case is a snapshot and the findings that the check
// reports.
import { describe, expect, it } from 'vitest';
import {
  anObject,
  aPod,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { LimitRange, ResourceList, ResourceQuota } from '../../../../api/workloads.ts';
import type { Snapshot } from '../snapshot.ts';
import { namespaceQuota } from './namespace-quota.ts';

const quota = (
  hard: ResourceList,
  used: ResourceList,
  more: Partial<ResourceQuota['spec']> = {},
) => [anObject<ResourceQuota>('ResourceQuota', 'q', { spec: more, status: { hard, used } })];
const limits = (max: ResourceList) => [
  anObject<LimitRange>('LimitRange', 'l', { spec: { limits: [{ type: 'Container', max }] } }),
];
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['room for one more pod', { quotas: quota({ pods: '3' }, { pods: '2' }) }, []],
  [
    'a full quota',
    { quotas: quota({ pods: '2' }, { pods: '2' }) },
    ['warning ResourceQuota demo/q'],
  ],
  [
    'a quota that was lowered',
    { quotas: quota({ 'requests.cpu': '1' }, { 'requests.cpu': '1500m' }) },
    ['blocker ResourceQuota demo/q'],
  ],
  [
    'a quota of something else',
    { quotas: quota({ 'count/secrets': '1' }, { 'count/secrets': '1' }) },
    [],
  ],
  [
    'a quota for some pods only',
    { quotas: quota({ pods: '2' }, { pods: '2' }, { scopes: ['BestEffort'] }) },
    [],
  ],
  ['a limit that the pod keeps', { limitRanges: limits({ cpu: '1' }) }, []],
  [
    'a limit that came after the pod',
    { limitRanges: limits({ cpu: '50m' }) },
    ['blocker LimitRange demo/l'],
  ],
  ['another architecture', { target: { architecture: 'arm64' } }, ['warning StatefulSet demo/web']],
];

describe('namespace-quota', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(namespaceQuota, { pods: [aPod('p1')], ...more }))).toEqual(expected);
  });
});
