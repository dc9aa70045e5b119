import { describe, expect, it } from 'vitest';
import { emptyBatch, mergeBatch, reportBatch } from '../../src/sim/lives/batch.ts';
import { runLife } from '../../src/sim/lives/life.ts';
import { drawScenario, withSpotGroups } from '../../src/sim/lives/scenario.ts';
import { SeededRandom } from '../../world/kernel/index.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const seeds = Array.from({ length: 12 }, (_, i) => i + 1);

describe('random lives of a cluster', () => {
  it.each(seeds)('seed %i ends without a violation', async (seed) => {
    const { violations } = await runLife({ seed, settle, chaosSeconds: 600 });
    expect(violations).toEqual([]);
  });

  it('take the same steps for the same seed, and others for another', async () => {
    const hash = async (seed: number): Promise<string> =>
      (await runLife({ seed, settle, chaosSeconds: 300 })).hash();
    const [first, again, other] = [await hash(5), await hash(5), await hash(6)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('have spot groups beside on-demand ones, and keep all else that a seed draws', () => {
    const types = seeds.flatMap((seed) => {
      const plain = drawScenario(SeededRandom.split(seed, 'all'), { maxNodes: 6 });
      const mixed = withSpotGroups(plain, SeededRandom.split(seed, 'spot'));
      const groups = mixed.groups.map(({ capacityType: _, ...group }) => group);
      expect({ ...mixed, groups }).toEqual(plain);
      return mixed.groups.map(({ capacityType = 'ON_DEMAND' }) => capacityType);
    });
    expect(new Set(types)).toEqual(new Set(['SPOT', 'ON_DEMAND']));
  });

  it('fail as a batch when a fault never fired, a phase was never entered or an oracle saw nothing', () => {
    const empty = { ...emptyBatch(), lives: 1000, checked: { 'some-oracle': 0 } };
    const { failed, lines } = reportBatch(empty, { expectAll: true, expectUpdates: true });
    expect(failed).toBe(true);
    const text = lines.join('\n');
    expect(text).toContain('NOT PROVEN: F3-crash-after-write never fired in phase Draining');
    expect(text).toContain('NOT PROVEN: phase Undoing was never entered');
    expect(text).toContain('NOT PROVEN: F3-crash-after-write never fired during an update');
    expect(text).toContain('NOT PROVEN: nothing ever fired in an update’s phase Rolling');
    expect(text).toContain(
      'not met: F3-crash-after-write never fired in an update’s phase Rolling',
    );
    expect(text).toContain('NOT PROVEN: no update ended as SURGE Cancelled');
    expect(text).toContain('NOT PROVEN: no update met: hook preDrain by');
    expect(text).toContain('NOT PROVEN: oracle some-oracle looked at nothing');
  });

  it('fail as a batch for one violation, and print how often each exemption was used', () => {
    const life = {
      seed: 1,
      violations: [{ oracle: 'o', at: 0, subject: 's', message: 'm' }],
      checked: {},
      exempted: { 'o: late-leader': 2, 'o: call-repeated': 0 },
      met: emptyBatch().met,
      steps: 1,
      worldSeconds: 1,
      settled: true,
    };
    const batch = mergeBatch(mergeBatch(emptyBatch(), life), life);
    const { failed, lines } = reportBatch(batch, { expectAll: false });
    expect(failed).toBe(true);
    const used = lines.slice(lines.findIndex((line) => line.startsWith('exemption')));
    expect(used.slice(1, 3)).toEqual(['o: late-leader    4', 'o: call-repeated  0']);
  });
});
