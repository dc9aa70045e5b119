import { describe, expect, it } from 'vitest';
import {
  aHookCause,
  aPod,
  blocked,
  draining,
  kubeTimePlus,
  statusIn,
  timePlus,
} from '../../../test/builders/core-termination.ts';
import { decideDisruption } from './decide.ts';

describe('the journal', () => {
  it('is written when blockers last 2 s, then more rarely, and at the latest every five minutes', () => {
    const model = draining([aHookCause()]);
    model.change({ blockers: blocked });
    const writes: number[] = [];
    for (let at = 1; at < 855; at++) {
      model.at(at);
      // Every second a different pod is blocked.
      const pod = `demo/p${at}`;
      model.change({ blockers: blocked.map((each) => ({ ...each, pod })) });
      if (model.settle().includes('Draining')) writes.push(at);
    }
    expect(writes).toEqual([2, 16, 128, 428, 728]);
  });
  it('keeps what was written while nobody has looked at the blockers again, as after a restart', () => {
    const model = draining([aHookCause()]);
    model.change({ blockers: blocked });
    model.at(2);
    expect(model.settle()).toEqual(['Draining']);
    model.at(200);
    model.change({ blockers: undefined });
    expect(model.settle()).toEqual([]);
    model.change({ blockers: [] });
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status?.waitingOnTotal).toBe(0);
  });
  it('says at once that pods will be forced after all, and says it once', () => {
    const model = draining([aHookCause()]);
    model.change({ blockers: blocked });
    model.at(2);
    expect(model.settle()).toEqual(['Draining']);
    model.at(3);
    const forceAt = timePlus(700);
    model.change({ blockers: blocked.map((each) => ({ ...each, forceAt })) });
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status?.waitingOn).toMatchObject([{ forceAt, since: timePlus(2) }]);
    model.at(4);
    expect(model.settle()).toEqual([]);
  });
  it('is not written when only counts and times moved', () => {
    const model = draining([aHookCause()]);
    model.change({ blockers: blocked });
    model.at(2);
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status?.waitingOn).toMatchObject([{ since: timePlus(2) }]);
    model.at(300);
    model.change({ pods: [aPod('p1'), aPod('p2')] });
    expect(model.settle()).toEqual([]);
    expect(decideDisruption(model.observation).waitingOn).toMatchObject([{ since: timePlus(2) }]);
  });
  it('holds 20 blockers, what can be acted on first, and counts the rest', () => {
    const model = draining([aHookCause()]);
    const dying = Array.from({ length: 30 }, (_, i) => ({
      kind: 'termination' as const,
      pod: `demo/t${i}`,
      since: timePlus(0),
      graceEndsAt: timePlus(30),
      why: 'grace' as const,
    }));
    model.change({ blockers: [...dying, ...blocked] });
    model.at(2);
    model.settle();
    expect(model.status?.waitingOn).toHaveLength(20);
    expect(model.status?.waitingOn?.[0]?.kind).toBe('pdb');
    expect(model.status?.waitingOnTotal).toBe(31);
  });
  it('never grows beyond 16 KB', () => {
    const model = draining([aHookCause()]);
    const long = 'x'.repeat(253);
    const blockers = Array.from({ length: 40 }, (_, i) => ({
      ...(blocked[0] ?? { kind: 'settling' as const, until: '' }),
      kind: 'pdb' as const,
      pod: `${long}/${i}`,
      budgets: [`${long}/${long}`, `${long}/b`],
      message: 'm'.repeat(5_000),
      neverAllows: false,
    }));
    model.change({ blockers });
    model.at(2);
    const written = statusIn(decideDisruption(model.observation));
    expect(JSON.stringify(written).length).toBeLessThanOrEqual(16_384);
    expect(written?.waitingOn?.length).toBeGreaterThan(10);
    expect(written?.waitingOnTotal).toBe(40);
  });
  it('stays below 16 KB in bytes, whatever comes back to the node', () => {
    const model = draining([aHookCause()], []);
    const comeBack = (from: number) =>
      Array.from({ length: 300 }, (_, i) =>
        aPod(`p${from + i}`.padEnd(253, 'x'), {
          owner: '',
          createdAt: kubeTimePlus(1),
          tolerations: [{ operator: 'Exists' }],
        }),
      );
    const message = '…'.repeat(200);
    const [pdb] = blocked.map((each) => ({ ...each, message }));
    if (pdb === undefined) throw new Error('no blocker');
    model.change({ blockers: Array.from({ length: 20 }, (_, i) => ({ ...pdb, pod: `d/${i}` })) });
    for (let at = 2; at < 5; at++) {
      model.at(at);
      model.change({ pods: comeBack(at * 300) });
      model.settle();
      const bytes = new TextEncoder().encode(JSON.stringify(model.status)).length;
      expect(bytes).toBeLessThanOrEqual(16_384);
    }
    expect(model.status?.boomerangs).toHaveLength(20);
  });
});
