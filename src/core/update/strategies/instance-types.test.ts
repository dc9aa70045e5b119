// Which instance types of a group cannot fit its pods, as a table.
import { describe, expect, it } from 'vitest';
import type { FullPod } from '../../../api/workloads.ts';
import { podsAsk, skippedTypes } from './instance-types.ts';

const Gi = 2 ** 30;
const load = (asks: Readonly<Record<string, number>>) => [{ node: 'n1', asks }];

describe('an instance type that is left out', () => {
  it.each([
    // 2 CPUs and 4 GiB, minus the node's reservations.
    ['memory', { cpu: 1, memory: 5 * Gi }, ['c5.large']],
    ['cpu: 70m of two are kept', { cpu: 1.95, memory: Gi }, ['c5.large']],
    ['pods', { cpu: 1, memory: Gi, pods: 30 }, ['c5.large']],
    ['nothing that fits', { cpu: 1.9, memory: Gi, pods: 29 }, []],
    ['nothing of what nobody publishes', { 'example.com/gpu': 9 }, []],
    ['all but the first, which people chose', { cpu: 100 }, ['c5.large', 'm5.xlarge']],
  ])('has too little of %s', (_, asks, left) => {
    const types = ['m5.large', 'c5.large', 'm5.xlarge'];
    expect(skippedTypes(types, load(asks)).map(({ type }) => type)).toEqual(left);
  });

  it('is reported with node, resource and what there is', () => {
    expect(skippedTypes(['m5.large', 'c5.large'], load({ memory: 5 * Gi }))).toEqual([
      {
        type: 'c5.large',
        message: 'pods of node n1 ask for 5Gi of memory, and c5.large has 3Gi for pods',
      },
    ]);
  });

  it('is none that nothing is known of', () => {
    expect(skippedTypes(['m5.large', 'x9.huge'], load({ cpu: 100 }))).toEqual([]);
  });
});

it('pods ask for what their containers do, and those that have ended for nothing', () => {
  const pod = (cpu: string, phase: 'Running' | 'Succeeded') =>
    ({
      metadata: { name: cpu },
      spec: { containers: [{ name: 'a', resources: { requests: { cpu } } }] },
      status: { phase },
    }) as unknown as FullPod;
  expect(podsAsk([pod('500m', 'Running'), pod('1', 'Running'), pod('4', 'Succeeded')])).toEqual({
    cpu: 1.5,
    pods: 2,
  });
});
