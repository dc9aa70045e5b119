import { describe, expect, it } from 'vitest';
import { aBudget, aPod, type BudgetOverrides } from '../../../test/builders/core-drain.ts';
import { defined } from '../../api/defined.ts';
import type { LabelSelector } from '../../api/kube.ts';
import { selectorMatches } from '../../api/selectors.ts';
import { BudgetIndex, offeredTokens, zeroBudget } from './budgets.ts';

describe('selectorMatches', () => {
  const labels = { app: 'web', tier: 'front' };
  const on = (
    key: string,
    operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist',
    values?: readonly string[],
  ): LabelSelector => ({
    matchExpressions: [{ key, operator, ...defined({ values }) }],
  });
  const rows: readonly [string, LabelSelector | undefined, boolean][] = [
    ['no selector', undefined, false],
    ['an empty selector', {}, true],
    ['all labels', { matchLabels: labels }, true],
    ['one label with another value', { matchLabels: { app: 'db' } }, false],
    ['one label that is absent', { matchLabels: { zone: 'a' } }, false],
    ['In', on('app', 'In', ['web', 'api']), true],
    ['In without the value', on('app', 'In', ['api']), false],
    ['In of an absent key', on('zone', 'In', ['a']), false],
    ['NotIn', on('app', 'NotIn', ['api']), true],
    ['NotIn with the value', on('app', 'NotIn', ['web']), false],
    ['NotIn of an absent key', on('zone', 'NotIn', ['a']), true],
    ['Exists', on('tier', 'Exists'), true],
    ['Exists of an absent key', on('zone', 'Exists'), false],
    ['DoesNotExist', on('zone', 'DoesNotExist'), true],
    ['DoesNotExist of a present key', on('app', 'DoesNotExist'), false],
    ['an inherited name', on('constructor', 'Exists'), false],
    [
      'labels and a failing expression',
      { matchLabels: labels, ...on('app', 'NotIn', ['web']) },
      false,
    ],
  ];
  it.each(rows)('%s', (_name, selector, matches) => {
    expect(selectorMatches(selector, labels)).toBe(matches);
  });
});

describe('BudgetIndex', () => {
  it('finds the budgets of a pod in its own namespace only', () => {
    const index = new BudgetIndex([
      aBudget('b'),
      aBudget('a'),
      aBudget('c', { namespace: 'other' }),
      aBudget('none', { selector: 'none' }),
    ]);
    expect(index.of(aPod('p1')).map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(index.of(aPod('p1', { namespace: 'empty' }))).toEqual([]);
  });
  it('answers from the newest status and selector', () => {
    const pod = aPod('p1');
    const index = new BudgetIndex([aBudget('a', { allowed: 0 })]);
    expect(index.of(pod).map(offeredTokens)).toEqual([0]);
    index.set(aBudget('a', { allowed: 2 }));
    expect(index.of(pod).map(offeredTokens)).toEqual([2]);
    index.set(aBudget('a', { selector: { matchLabels: { app: 'db' } } }));
    expect(index.of(pod)).toEqual([]);
    index.set(aBudget('b'));
    expect(index.of(pod)).toHaveLength(1);
    index.delete(aBudget('b'));
    expect(index.of(pod)).toEqual([]);
  });
});

describe('offeredTokens', () => {
  it('trusts a status only when it answers for the spec in force', () => {
    expect(offeredTokens(aBudget('a', { allowed: 3, generation: 2, observed: 1 }))).toBe(0);
    expect(offeredTokens(aBudget('a', { allowed: 3, generation: 2, observed: 2 }))).toBe(3);
    expect(offeredTokens(aBudget('a', { allowed: -1 }))).toBe(0);
  });
});

describe('zeroBudget', () => {
  const zero = { allowed: 0, healthy: 3, desired: 3, expected: 3 };
  const rows: readonly [string, BudgetOverrides, string][] = [
    ['maxUnavailable 0', { ...zero, maxUnavailable: 0 }, 'never'],
    ['maxUnavailable 0%', { ...zero, maxUnavailable: '0%' }, 'never'],
    ['minAvailable 100%', { ...zero, minAvailable: '100%' }, 'never'],
    ['minAvailable = replicas', { ...zero, minAvailable: 3 }, 'scaleUp'],
    ['minAvailable > replicas', { ...zero, minAvailable: 5, desired: 5 }, 'scaleUp'],
    ['minAvailable 90% of 3 rounds up', { ...zero, minAvailable: '90%' }, 'scaleUp'],
    ['one pod is unready', { ...zero, minAvailable: 3, healthy: 2 }, 'temporary'],
    [
      'maxUnavailable 1, one unready',
      { ...zero, maxUnavailable: 1, healthy: 2, desired: 2 },
      'temporary',
    ],
    ['a pod is being disrupted', { ...zero, minAvailable: 3, disrupted: ['x'] }, 'temporary'],
    ['no pods at all', { ...zero, minAvailable: 1, healthy: 0, expected: 0 }, 'temporary'],
    ['status not current', { ...zero, minAvailable: 3, generation: 2, observed: 1 }, 'temporary'],
  ];
  it.each(rows)('%s: %s', (_name, more, expected) => {
    expect(zeroBudget(aBudget('a', more))).toBe(expected);
  });
});
