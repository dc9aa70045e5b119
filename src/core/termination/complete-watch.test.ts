// When the watch of a node's pods shows without a list that the node is empty.
import { describe, expect, it } from 'vitest';
import { aHookCause, aPod, draining, tPlus } from '../../../test/builders/core-termination.ts';

const emptied = ['Completing', 'CompleteHook', 'Ended'];

describe('a node whose last pod is gone', () => {
  it.each([
    ['asks the server where the watch is complete up to 4 s after the marks', 4, 'Confirm'],
    ['ends without a list where it is complete up to 5 s after them', 5, 'Completing'],
  ])('%s', (_, seconds, first) => {
    const model = draining([aHookCause()], []);
    model.change({ podsCompleteAt: tPlus(seconds) });
    model.at(6);
    expect(model.settle()).toEqual(first === 'Confirm' ? [first, ...emptied] : emptied);
  });

  it('waits its 5 s where the watch is complete', () => {
    const model = draining([aHookCause()], []);
    model.change({ podsCompleteAt: tPlus(4) });
    model.at(4);
    expect(model.settle()).toEqual([]);
  });

  it('believes a list that shows a pod rather than the watch', () => {
    const model = draining([aHookCause()], []);
    const memory = { ...model.observation.memory, listed: { at: tPlus(5), pods: [aPod('p9')] } };
    model.change({ memory, podsCompleteAt: tPlus(5) });
    model.at(5);
    expect(model.settle()).toEqual([]);
  });
});
