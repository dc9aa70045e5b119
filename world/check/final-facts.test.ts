// The end state for comparing two runs: equal after duplicated or late messages, different after a
// loss.
import { describe, expect, it } from 'vitest';
import { i1, i2, Story } from '../../test/builders/world-check.ts';
import { finalFacts } from './index.ts';

const drained = (seconds: number) =>
  new Story()
    .node('n1')
    .node('n2', { instance: i2 })
    .pod('web-5d-abc', { app: 'web' })
    .state(i1, 'InService')
    .state(i2, 'InService')
    .at(seconds)
    .state(i1, 'Terminating:Wait')
    .draining(i1)
    .gone('pods', 'web-5d-abc')
    .pod('web-5d-def', { app: 'web', node: 'n2' })
    .disruption(i1, { status: { phase: 'Ended', outcome: 'Drained' } })
    .hookEnded(i1, 'completed')
    .state(i1, 'Terminated')
    .gone('nodes', 'n1');

describe('finalFacts', () => {
  it('tells the end state without times and names that chance gave', () => {
    expect(finalFacts(drained(10).trace())).toEqual({
      nodes: { [i2]: { ready: true, marks: [] } },
      apps: { 'demo/Deployment/web': { pods: 1, ready: 1 } },
      groups: { 'eks-ng1': { InService: 1 } },
      desired: {},
      hooksRunOut: [],
      openWaits: [],
      disruptions: { [i1]: 'Ended Drained LifecycleHook' },
    });
  });

  it('is the same however late it happened', () => {
    expect(finalFacts(drained(10).trace())).toEqual(finalFacts(drained(700).trace()));
  });

  it('differs when a mark stayed, a hook ran out or an instance still waits', () => {
    const before = finalFacts(drained(10).trace());
    const marked = finalFacts(drained(10).marked('n2', { instance: i2 }).trace());
    const ranOut = finalFacts(drained(10).hookEnded(i1, 'timeout').trace());
    const open = finalFacts(drained(10).state(i2, 'Terminating:Wait').trace());
    expect(marked.nodes).toEqual({ [i2]: { ready: true, marks: ['label', 'cordon'] } });
    expect(ranOut.hooksRunOut).toEqual([`${i1} Terminate-LC-Hook`]);
    expect(open.openWaits).toEqual([i2]);
    for (const other of [marked, ranOut, open]) expect(other).not.toEqual(before);
  });
});
