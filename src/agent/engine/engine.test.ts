// What sets, keeps and clears a condition, as tables over time: threshold, time to live, looks,
// flapping, restarts, and combined reasons.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EpochMs, epochMs, formatKubeTime } from '../../api/brand.ts';
import type { Condition } from '../../api/kube.ts';
import type { CheckName } from '../rules/check-names.ts';
import { type ConditionType, type HealthRule, occurrenceOf } from '../rules/rule.ts';
import {
  adopt,
  afterLook,
  afterReading,
  afterTime,
  emptyState,
  type HealthState,
  type Notice,
  observe,
  publish,
  restoredReasons,
  savedReasons,
} from './index.ts';

const start = Date.UTC(2026, 0, 1);
const minute = 60_000;
const text = {
  meaning: '',
  remedy: '',
  origin: 'Drover',
  proof: 'written',
  found: [],
  ignored: [],
} as const;
const rule = (reason: string, more: Partial<HealthRule> = {}): HealthRule => ({
  reason,
  condition: 'KernelReady',
  severity: 'Condition',
  message: `${reason} {what}`,
  clearAfterSeconds: 900,
  text,
  ...more,
});

/** One node's engine on a clock of minutes. */
class Life {
  readonly rules: readonly HealthRule[];
  readonly needed: ReadonlyMap<ConditionType, readonly string[]>;
  state: HealthState = emptyState;
  notices: Notice[] = [];
  at: EpochMs = epochMs(start);
  constructor(rules: readonly HealthRule[], needed: readonly string[] = ['kernel']) {
    this.rules = rules;
    this.needed = new Map([['KernelReady', needed]]);
  }
  get index() {
    return new Map(this.rules.map((one) => [one.reason, one]));
  }
  #publish(): void {
    this.state = afterTime(this.state, this.index, this.at);
    const options = { needed: this.needed, accelerator: undefined };
    const step = publish(this.state, options, this.at);
    this.state = step.state;
    this.notices.push(...step.notices);
  }
  after(minutes: number): this {
    this.at = epochMs(this.at + minutes * minute);
    this.#publish();
    return this;
  }
  read(source = 'kernel'): this {
    this.state = afterReading(this.state, source);
    this.#publish();
    return this;
  }
  line(reason: string, what = 'x'): this {
    const found = this.rules.find((one) => one.reason === reason);
    if (found === undefined) throw new Error(`no rule ${reason}`);
    const step = observe(this.state, occurrenceOf(found, { what }), this.at);
    this.state = step.state;
    this.notices.push(...step.notices);
    this.#publish();
    return this;
  }
  look(
    check: CheckName,
    found: readonly (readonly [string, string])[],
    unseen: string[] = [],
  ): this {
    const step = afterLook(
      this.state,
      this.index,
      {
        check,
        found: found.flatMap(([reason, what]) =>
          this.rules
            .filter((one) => one.reason === reason)
            .map((one) => occurrenceOf(one, { what })),
        ),
        unseen,
        begunAt: this.at,
      },
      this.at,
    );
    this.state = step.state;
    this.notices.push(...step.notices);
    this.#publish();
    return this;
  }
  /** `False ForkFailed since +3m`, in minutes from the start. */
  says(type: ConditionType = 'KernelReady'): string {
    const one = this.state.conditions.get(type);
    if (one === undefined) return 'nothing';
    return `${one.status} ${one.reason} since +${(one.since - start) / minute}m`;
  }
  message(type: ConditionType = 'KernelReady'): string {
    return this.state.conditions.get(type)?.message ?? '';
  }
}

describe('a condition', () => {
  it('is not said to be True before all that belongs to it was read and looked at', () => {
    const life = new Life([rule('A'), rule('B', { check: 'zram' })], ['kernel', 'zram']);
    expect(life.after(1).says()).toBe('nothing');
    expect(life.read().says()).toBe('nothing');
    expect(life.look('zram', []).says()).toBe('True KernelIsReady since +1m');
  });

  it('is False at the first fault, even before', () => {
    expect(new Life([rule('A')], ['kernel', 'zram']).after(2).line('A').says()).toBe(
      'False A since +2m',
    );
  });

  it('clears by time when a log falls silent, and not while the fault recurs', () => {
    const once = new Life([rule('A')]).read().line('A');
    expect(once.after(14).says()).toBe('False A since +0m');
    expect(once.after(1).says()).toBe('True KernelIsReady since +15m');
    const again = new Life([rule('A')]).read().line('A');
    for (let n = 0; n < 20; n++) again.after(10).line('A');
    expect(again.says()).toBe('False A since +0m');
  });

  it('clears at once when a look finds nothing, and never by time while looks can see it', () => {
    const life = new Life([rule('A', { check: 'mounts' })]).read().line('A').after(60);
    expect(life.says()).toBe('False A since +0m');
    expect(life.look('mounts', [['A', 'x']]).says()).toBe('False A since +0m');
    expect(life.after(1).look('mounts', []).says()).toBe('True KernelIsReady since +61m');
  });

  it('clears by time where no look can see it', () => {
    const life = new Life([rule('A', { check: 'mounts' })]).read().line('A');
    life.look('mounts', [], ['A']);
    expect(life.after(14).says()).toBe('False A since +0m');
    expect(life.after(2).says()).toBe('True KernelIsReady since +16m');
  });

  it('is not cleared by a look that began before the fault', () => {
    const life = new Life([rule('A', { check: 'mounts' })]).read().after(1);
    const begunAt = epochMs(life.at - 1);
    life.line('A');
    const look = { check: 'mounts', found: [], unseen: [], begunAt } as const;
    life.state = afterLook(life.state, life.index, look, life.at).state;
    expect(life.after(0).says()).toBe('False A since +1m');
  });

  it('stays False for good where only a boot clears it', () => {
    const life = new Life([rule('A', { clearAfterSeconds: 'reboot' })]).read().line('A');
    expect(life.after(10_000).says()).toBe('False A since +0m');
  });

  it('keeps its time when a second reason comes, and its message holds both once', () => {
    const life = new Life([rule('A'), rule('B')]).read().line('A', 'one').after(5).line('B', 'two');
    life.line('B', 'two').line('A', 'one');
    expect(life.says()).toBe('False A since +0m');
    expect(life.message()).toBe('A: A one; B: B two');
    // B alone remains: the node was never healthy.
    for (let n = 0; n < 3; n++) life.after(7).line('B', 'two');
    expect(life.says()).toBe('False B since +0m');
    expect(life.message()).toBe('B two');
  });

  it('is named by the reason that weighs most', () => {
    const life = new Life([rule('A'), rule('B', { rank: 2 })]).read().line('A').after(5).line('B');
    expect(life.says()).toBe('False B since +0m');
  });

  it('has a message within its bound', () => {
    const rules = Array.from({ length: 40 }, (_, n) => rule(`R${n}`));
    const life = new Life(rules).read();
    for (const { reason } of rules) life.line(reason, 'x'.repeat(400));
    expect(life.message().length).toBeLessThanOrEqual(1024);
  });

  it('tells of its fall and of its recovery once', () => {
    const life = new Life([rule('A')]).read().line('A').line('A').after(1).line('A').after(20);
    expect(life.notices.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Warning A',
      'Normal KernelIsReady',
    ]);
  });
});

describe('a threshold', () => {
  it('is reached within its window alone', () => {
    const threshold = { count: 3, withinSeconds: 300 };
    const life = new Life([rule('A', { threshold })]).read();
    expect(life.line('A').after(3).line('A').after(3).line('A').says()).toMatch(/^True/);
    expect(life.after(1).line('A').says()).toBe('False A since +7m');
  });

  it('may count distinct keys, or the same', () => {
    const distinct = { count: 2, withinSeconds: 300, of: 'distinct' } as const;
    const life = new Life([rule('A', { threshold: distinct })]).read();
    expect(life.line('A', 'x').line('A', 'x').says()).toMatch(/^True/);
    expect(life.line('A', 'y').says()).toMatch(/^False/);
    const same = { count: 2, withinSeconds: 300, of: 'same' } as const;
    const other = new Life([rule('A', { threshold: same })]).read();
    expect(other.line('A', 'x').line('A', 'y').says()).toMatch(/^True/);
    expect(other.line('A', 'x').says()).toMatch(/^False/);
  });

  it('of looks is reached by looks in a row', () => {
    const threshold = { count: 2, withinSeconds: 900 };
    const life = new Life([rule('A', { check: 'links', threshold })]).read();
    const down = [['A', 'eth1']] as const;
    life.look('links', down).after(5).look('links', []).after(5).look('links', down);
    expect(life.says()).toMatch(/^True/);
    expect(life.after(5).look('links', down).says()).toBe('False A since +15m');
  });
});

describe('an event', () => {
  it('never makes a condition False, and is told each time', () => {
    const life = new Life([rule('A', { severity: 'Event' })]).read().line('A').line('A');
    expect(life.says()).toMatch(/^True/);
    expect(life.notices).toHaveLength(2);
  });

  it('of one look is told for each finding, a condition once for all', () => {
    const event = new Life([rule('A', { check: 'links', severity: 'Event' })]);
    event.look('links', [
      ['A', 'one'],
      ['A', 'two'],
    ]);
    expect(event.notices.map(({ message }) => message)).toEqual(['A one', 'A two']);
    const condition = new Life([rule('A', { check: 'links' })]);
    condition.look(
      'links',
      ['1', '2', '3', '4', '5'].map((what) => ['A', what] as const),
    );
    expect(condition.message()).toBe('A 1; A 2; A 3 (and 2 more)');
  });
});

describe('a fault that comes and goes', () => {
  it('is held once it was set three times within an hour, until it was quiet', () => {
    const life = new Life([rule('A', { check: 'links' })]).read();
    const down = [['A', 'eth1']] as const;
    for (let n = 0; n < 2; n++) life.look('links', down).after(1).look('links', []).after(1);
    expect(life.says()).toBe('True KernelIsReady since +3m');
    life.look('links', down).after(1).look('links', []);
    expect(life.says()).toBe('False A since +4m');
    expect(life.after(10).look('links', []).says()).toBe('False A since +4m');
    expect(life.after(5).look('links', []).says()).toBe('True KernelIsReady since +20m');
  });
});

describe('a restart of the agent', () => {
  const onNode = (more: Partial<Condition>): Condition => ({
    type: 'KernelReady',
    status: 'False',
    reason: 'A',
    message: 'A x',
    lastTransitionTime: formatKubeTime(epochMs(start - 20 * minute)),
    lastHeartbeatTime: formatKubeTime(epochMs(start - minute)),
    ...more,
  });
  const reborn = (
    rules: readonly HealthRule[],
    conditions: readonly Condition[],
    more: { bootedAt?: number; saved?: unknown[] } = {},
  ): Life => {
    const life = new Life(rules, ['kernel', 'zram']);
    life.state = adopt(life.state, {
      conditions,
      saved: restoredReasons(more.saved ?? []),
      rules,
      bootedAt: epochMs(more.bootedAt ?? start - 600 * minute),
      now: life.at,
    });
    return life;
  };

  it('neither clears a False condition nor changes its time', () => {
    const life = reborn([rule('A')], [onNode({})]);
    expect(life.after(1).says()).toBe('False A since +-20m');
    expect(life.read().look('zram', []).says()).toBe('False A since +-20m');
    expect(life.after(1).line('A').says()).toBe('False A since +-20m');
  });

  it('clears it as it would have been cleared', () => {
    const byTime = reborn([rule('A')], [onNode({})])
      .read()
      .look('zram', []);
    expect(byTime.after(15).says()).toBe('True KernelIsReady since +15m');
    const byLook = reborn([rule('A', { check: 'zram' })], [onNode({})])
      .read()
      .after(1);
    expect(byLook.look('zram', []).says()).toBe('True KernelIsReady since +1m');
  });

  it('keeps the time of a True condition', () => {
    const life = reborn([rule('A')], [onNode({ status: 'True', reason: 'KernelIsReady' })]);
    expect(life.read().look('zram', []).says()).toBe('True KernelIsReady since +-20m');
  });

  it('takes reasons of another agent, and conditions of another one stay out of it', () => {
    const life = reborn(
      [rule('A')],
      [onNode({ reason: 'SomebodyElses' }), onNode({ type: 'Ready' })],
    );
    expect(life.state.conditions.size).toBe(1);
    life.read().look('zram', []);
    expect(life.after(14).says()).toBe('False SomebodyElses since +-20m');
    expect(life.after(1).says()).toBe('True KernelIsReady since +15m');
  });

  it('after another boot looks anew, and says True only then', () => {
    const life = reborn(
      [rule('A', { clearAfterSeconds: 'reboot' })],
      [onNode({ lastHeartbeatTime: formatKubeTime(epochMs(start - 10 * minute)) })],
      { bootedAt: start - 2 * minute },
    );
    expect(life.after(1).says()).toBe('False A since +-20m');
    expect(life.read().look('zram', []).says()).toBe('True KernelIsReady since +1m');
  });

  it('knows from its own record when it last saw a fault', () => {
    const rules = [rule('A')];
    const before = new Life(rules).read().line('A');
    const saved = JSON.parse(JSON.stringify(savedReasons(before.state))) as unknown[];
    const life = new Life(rules);
    life.at = epochMs(start + 10 * minute);
    life.state = adopt(life.state, {
      conditions: [onNode({ lastTransitionTime: formatKubeTime(epochMs(start)) })],
      saved: restoredReasons(saved),
      rules,
      bootedAt: epochMs(start - minute),
      now: life.at,
    });
    expect(life.read().says()).toBe('False A since +0m');
    expect(life.after(5).says()).toBe('True KernelIsReady since +15m');
  });

  it('survives a record that is broken', () => {
    expect(restoredReasons([null, 1, {}, { rule: 'A' }, []])).toEqual([]);
  });
});

describe('whatever happens', () => {
  it('True is never said while a reason is active, and a False condition keeps its time', () => {
    const rules = [
      rule('A'),
      rule('B', { check: 'links', threshold: { count: 2, withinSeconds: 900 } }),
      rule('C', { severity: 'Event' }),
    ];
    const action = fc.oneof(
      fc.record({ kind: fc.constant('line'), reason: fc.constantFrom('A', 'C') }),
      fc.record({ kind: fc.constant('look'), isFound: fc.boolean(), isSeen: fc.boolean() }),
      fc.record({ kind: fc.constant('after'), minutes: fc.integer({ min: 0, max: 40 }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const life = new Life(rules, ['kernel']).read();
        for (const one of actions) {
          const before = life.state.conditions.get('KernelReady');
          if ('reason' in one) life.line(one.reason);
          else if ('minutes' in one) life.after(one.minutes);
          else life.look('links', one.isFound ? [['B', 'x']] : [], one.isSeen ? [] : ['B']);
          const after = life.state.conditions.get('KernelReady');
          const active = [...life.state.reasons.values()].filter(
            ({ since }) => since !== undefined,
          );
          expect(after?.status).toBe(active.length === 0 ? 'True' : 'False');
          if (before?.status === after?.status) expect(after?.since).toBe(before?.since);
          else expect(after?.since).toBe(life.at);
        }
      }),
      { numRuns: 300 },
    );
  });
});
