// Which nodes' pods are read before a decision; none if no drain may begin.
import { describe, expect, it } from 'vitest';
import {
  aMember,
  draining,
  fresh,
  members,
  observe,
} from '../../../test/support/update-observations.ts';
import { decideUpdate, nodesToRead } from './index.ts';

type Observation = Parameters<typeof decideUpdate>[0];

const namesOf = (observation: Observation): readonly string[] =>
  nodesToRead(observation).map(({ nodeName }) => nodeName ?? '');

const begins = (observation: Observation): boolean =>
  decideUpdate(observation).steps.some(({ kind }) => ['Replace', 'Retire', 'Empty'].includes(kind));

const paused = (observation: Observation): Observation => {
  const { update } = observation;
  return { ...observation, update: { ...update, spec: { ...update.spec, paused: true } } };
};

const rolling = { phase: 'Rolling', strategy: 'SURGE', surge: 1 } as const;
const surge = { desired: 1, maxSize: 1 };
const mixed = [...members(2, 'old'), aMember('new1', fresh)];
const own = observe(rolling, mixed, { desired: 2, surge });

const cases: readonly (readonly [string, Observation, readonly string[]])[] = [
  ['the old nodes, where the next of them may be drained', own, ['old1', 'old2']],
  [
    'none, where as many are out of service as may be',
    observe(rolling, [aMember('old1', draining), aMember('old2'), aMember('new1', fresh)], {
      desired: 2,
      surge,
    }),
    [],
  ],
  ['none, where the update is paused', paused(own), []],
  [
    'none of a strategy that drains in an order of chance',
    observe({ ...rolling, strategy: 'DEFAULT' }, mixed),
    [],
  ],
  [
    'the new nodes, where one of the surplus of EKS is taken back',
    observe({ phase: 'ScalingDown', strategy: 'DEFAULT', surge: 1 }, members(3, 'new', fresh), {
      desired: 2,
      surge,
    }),
    ['new1', 'new2', 'new3'],
  ],
  ['none before nodes are replaced', observe({ ...rolling, phase: 'ScalingUp' }, mixed), []],
];

describe('the pods that are looked at before a decision are those of', () => {
  it.each(cases)('%s', (_, observation, expected) => {
    expect(namesOf(observation)).toEqual(expected);
    expect(begins(observation)).toBe(expected.length > 0);
  });
});
