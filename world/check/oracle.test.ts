// Running several oracles: what was checked, what could not be, and the contents of a report.
import { describe, expect, it } from 'vitest';
import { i1, Story } from '../../test/builders/world-check.ts';
import { checkTrace, oracles } from './index.ts';
import { type Oracle, runOracles } from './oracle.ts';

/** A small correct termination, from notice to end. */
const termination = () =>
  new Story({ settled: true })
    .node('n1', { by: 'kubelet' })
    .pod('p1')
    .budget('web', { desired: 0 })
    .at(1)
    .state(i1, 'Terminating:Wait')
    .at(2)
    .disruption(i1, { causes: [{ hook: 'Terminate-LC-Hook' }] })
    .draining(i1, { causes: [{ hook: 'Terminate-LC-Hook' }] })
    .at(3)
    .evict('p1')
    .at(4)
    .gone('pods', 'p1')
    .disruption(i1, { status: { phase: 'Completing' } })
    .at(5)
    .hookEnded(i1, 'completed')
    .state(i1, 'Terminating:Proceed')
    .hookCall('CompleteLifecycleAction', i1)
    .disruption(i1, { status: { phase: 'Ended', outcome: 'Drained' } })
    .at(30);

describe('checkTrace', () => {
  it('finds nothing wrong with a termination in order', () => {
    const { violations, checked, notRun } = checkTrace(termination().trace());
    expect(violations).toEqual([]);
    expect(notRun).toEqual([]);
    const idle = Object.entries(checked).filter(([, count]) => count === 0);
    expect(idle.map(([name]) => name)).toEqual([
      'messages-are-durable',
      'unconfirmed-notices-move-nothing',
      'desired-within-bounds',
      'sizes-grow-as-noted',
      'groups-shrink-by-drained-nodes',
      'sizes-of-others-are-followed',
      'causes-that-may-wait-take-turns',
      'held-nodes-keep-their-pods',
      'updates-keep-their-times',
      'updates-keep-their-pace',
      'updates-stop-at-gates',
      'surge-moves-pods-once',
      'aws-auth-loses-no-entry',
      'certificates-name-their-instance',
      'repairs-keep-their-wait',
      'healthy-nodes-are-not-repaired',
      'repairs-stop-at-breakers',
      'repairs-obey-their-owners',
      'repairs-replace-what-they-end',
      'each-episode-is-repaired-once',
      'quarantined-instances-end-in-time',
      'unhealthy-nodes-are-repaired',
      'nothing-left-after-delete',
      'blockers-are-named',
    ]);
  });

  it('names every oracle in `checked`, those that looked at nothing with 0', () => {
    const { checked, notRun } = checkTrace(new Story().trace());
    expect(Object.keys(checked)).toEqual(oracles.map(({ name }) => name));
    expect(Object.values(checked).every((count) => count === 0)).toBe(true);
    expect(notRun).toContain('hooks-never-run-out: lifecycle, call');
  });

  it('tells what a drained node cost', () => {
    const { figures } = checkTrace(termination().trace());
    expect(figures['journal writes per episode, most']).toBe(4);
    expect(figures['requests per drained node beyond one per pod']).toBe(1);
  });

  it('has no two oracles of one name', () => {
    expect(new Set(oracles.map(({ name }) => name)).size).toBe(oracles.length);
  });

  it('counts the first exemption that applies, and refuses one that the oracle does not list', () => {
    const race = 'somebody was faster';
    const rows = [
      { name: 'never', race, applies: () => false },
      { name: 'always', race, applies: () => true },
      { name: 'too', race, applies: () => true },
    ];
    const of = (exemptions: typeof rows): Oracle => ({
      name: 'o',
      what: 'nothing is said',
      strategies: ['eks'],
      needs: [],
      exemptions,
      watch: ({ isExempt, report }) => ({
        end: () => {
          if (!isExempt(rows, undefined)) report({ subject: 's', message: 'm' });
        },
      }),
    });
    const { exempted, violations } = runOracles([of(rows)], new Story().trace());
    expect({ exempted, violations }).toEqual({
      exempted: { 'o: never': 0, 'o: always': 1, 'o: too': 0 },
      violations: [],
    });
    expect(() => runOracles([of(rows.slice(0, 1))], new Story().trace())).toThrow(
      'o: always is not among its exemptions',
    );
  });

  it('has one sentence per oracle and per exemption', () => {
    const rows = oracles.flatMap(({ exemptions = [] }) => exemptions);
    for (const text of [...oracles.map(({ what }) => what), ...rows.map(({ race }) => race)]) {
      expect(text).not.toMatch(/[.;]/);
      expect(text.split(' ').length).toBeLessThanOrEqual(25);
    }
    for (const { exemptions = [] } of oracles) {
      expect(new Set(exemptions.map(({ name }) => name)).size).toBe(exemptions.length);
    }
  });

  it('runs only what holds for the strategy', () => {
    const [first] = oracles;
    if (first === undefined) throw new Error('no oracles');
    const native = { ...first, strategies: ['native'] } as const;
    expect(runOracles([native], termination().trace()).checked).toEqual({});
  });

  it('bounds the report of a trace in which everything is wrong', () => {
    const story = new Story();
    for (let i = 0; i < 80; i++) story.hookCall('CompleteLifecycleAction', i1, { group: 'theirs' });
    const { violations } = checkTrace(story.trace());
    const foreign = violations.filter(({ oracle }) => oracle === 'foreign-hooks-left-alone');
    expect(foreign).toHaveLength(50);
  });
});
