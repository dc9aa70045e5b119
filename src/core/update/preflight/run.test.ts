// The checks together: their order, and what they report about facts that could not be read.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aForecast,
  aGroup,
  aNode,
  aPod,
  aSnapshot,
} from '../../../../test/builders/core-update-preflight.ts';
import { checks, runChecks, type Snapshot, viewOf } from './index.ts';

const preflight = (snapshot: Snapshot) => runChecks(viewOf(snapshot, aForecast(snapshot)));

describe('a preflight', () => {
  it('finds nothing in a group of healthy pods', () => {
    const snapshot = aSnapshot({ pods: [aPod('p1')], budgets: [aBudget('b', 3)] });
    expect(preflight(snapshot)).toEqual([]);
  });

  it('tells blockers first, then by the minute at which they bite', () => {
    const snapshot = aSnapshot({
      group: aGroup({ sizes: { minSize: 0, maxSize: 5, desired: 2 } }),
      nodes: [aNode('n1'), aNode('n2')],
      pods: [
        aPod('late', { node: 'n2', owner: '' }),
        aPod('early', { owner: '', spec: { volumes: [{ name: 'x', emptyDir: {} }] } }),
      ],
    });
    const found = preflight(snapshot);
    expect(found.map(({ check, object }) => `${check} ${object.name}`)).toEqual([
      'bare-pod demo/early',
      'bare-pod demo/late',
      'local-data demo/early',
    ]);
  });

  it('says which checks could not be made, and why, instead of passing them', () => {
    const snapshot = aSnapshot({ unread: { volumes: 'list of persistentvolumes is forbidden' } });
    const found = preflight(snapshot);
    expect(found.map(({ check }) => check)).toEqual(['local-data', 'zonal-volume']);
    expect(found[0]).toMatchObject({
      severity: 'notChecked',
      consequence: { text: 'not checked: list of persistentvolumes is forbidden' },
    });
  });
});

describe('the list of checks', () => {
  it('has each name once, in words that a flag can take', () => {
    const names = checks.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });
});
