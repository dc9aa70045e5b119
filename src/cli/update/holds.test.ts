// What holds an update, as it is displayed.
import { describe, expect, it } from 'vitest';
import { aGroup, anUpdate, now, running } from '../../../test/builders/cli-update.ts';
import { timePlus } from '../../../test/builders/core-termination.ts';
import type { HookStatus } from '../../api/update-hooks.ts';
import { updateView } from '../../core/overview/index.ts';
import { changeLines } from './changes.ts';
import { describeLines, updateCells, updateDocument } from './document.ts';
import { headerLines } from './screen.ts';

const view = (update = anUpdate()) => updateView({ update, group: aGroup(), disruptions: [] });

const holds = [
  { kind: 'Window', reason: 'outside', since: timePlus(690), until: timePlus(1350) },
  { kind: 'Approval', reason: 'not yet', since: timePlus(720) },
] as const;

describe('an update that is held', () => {
  it('says by what, since when and how long still', () => {
    const held = view(anUpdate({ status: { ...running, holds } }));
    expect(headerLines(held, now).slice(-2)).toEqual([
      'held by Window for 1m: outside (10m left)',
      'held by Approval for 30s: not yet',
    ]);
    expect(updateCells(held)[3]).toBe('Held (Window, Approval)');
    expect(headerLines(held, now)[1]).toContain(
      'InProgress, held (Window, Approval), phase Rolling',
    );
  });

  it('is told once where no screen is drawn', () => {
    const before = view();
    const after = view(anUpdate({ status: { ...running, holds } }));
    expect(changeLines(before, after)).toEqual([
      'InProgress, held (Window, Approval)',
      'held by Window: outside',
      'held by Approval: not yet',
    ]);
    expect(changeLines(after, after)).toEqual([]);
  });

  it('is held no more when it is over, and not held beside a pause', () => {
    const over = view(anUpdate({ status: { ...running, status: 'Cancelled', holds } }));
    expect(headerLines(over, now).join()).not.toContain('held');
    expect(updateCells(over)[3]).toBe('Cancelled');
    const paused = [{ kind: 'Paused', reason: 'p', since: timePlus(0) }] as const;
    const rests = view(anUpdate({ spec: { paused: true }, status: { ...running, holds: paused } }));
    expect(updateCells(rests)[3]).toBe('Paused');
    const stops = { ...rests.update, spec: { ...rests.update.spec, abort: 'Stop' as const } };
    expect(updateCells({ ...rests, update: stops })[3]).toBe('Stopping');
  });

  it('tells of hooks that run and that failed, each once', () => {
    const of = { hook: 'preDrain', instanceId: 'i-1', node: 'n1', job: 'ops/j' } as const;
    const told = (...hooks: readonly HookStatus[]) =>
      view(anUpdate({ status: { ...running, hooks } }));
    const runs = told({ ...of, state: 'Running' });
    const failed = told({ ...of, state: 'Failed', message: 'exit 1' });
    expect(headerLines(runs, now).at(-1)).toBe('hook preDrain runs for n1 (Job ops/j)');
    expect(changeLines(view(), runs)).toEqual(['hook preDrain runs for n1 (Job ops/j)']);
    expect(changeLines(runs, runs)).toEqual([]);
    expect([updateCells(runs)[3], updateCells(failed)[3]]).toEqual([
      'Hook (preDrain)',
      'InProgress',
    ]);
    expect(changeLines(runs, failed)).toEqual(['hook preDrain failed for n1 (Job ops/j): exit 1']);
  });

  it('tells what a webhook answered, and about how often it was asked', () => {
    const of = { hook: 'postReady', instanceId: 'i-1', webhook: 'https://h/x' } as const;
    const line = (more: Partial<HookStatus>) =>
      headerLines(
        view(anUpdate({ status: { ...running, hooks: [{ ...of, state: 'Running', ...more }] } })),
        now,
      ).at(-1);
    const runs = 'hook postReady runs for i-1 (webhook https://h/x)';
    const message = 'it answered 503';
    expect(line({})).toBe(runs);
    expect(line({ attempt: 1, message })).toBe(`${runs}, asked once: it answered 503`);
    expect(line({ attempt: 4, message })).toBe(`${runs}, asked 4 or more times: it answered 503`);
  });

  it('names its plan, and who accepted what of it', () => {
    const update = anUpdate({ status: running });
    const waivers = [{ check: 'bare-pod', by: 'ada', reason: 'a debug pod' }, { check: 'timing' }];
    const planned = { ...update, spec: { ...update.spec, planHash: 'abc', waivers } };
    const told = [
      'planned:',
      '  plan abc',
      '  bare-pod waived by ada: a debug pod',
      '  timing waived',
    ];
    expect(describeLines(view(planned), now)).toEqual(expect.arrayContaining(told));
    expect(describeLines(view(update), now)).not.toContain('planned:');
  });

  it('names who approved it', () => {
    const update = anUpdate();
    const annotations = { 'drover.dev/approved': 'abc', 'drover.dev/approved-by': 'ada' };
    const approved = { ...update, metadata: { ...update.metadata, annotations } };
    expect(describeLines(view(approved), now)).toContain('  by ada, plan abc');
    expect(describeLines(view(update), now).join()).not.toContain('approved');
  });

  it('names whose approval each wave had, and what approves the one that waits', () => {
    const reason = 'wave 2 of 3 is done: `drover approve update u1` lets go on with wave 3';
    const wave = { kind: 'WaveApproval', reason, since: timePlus(720) } as const;
    const update = anUpdate({ status: { ...running, holds: [wave] } });
    const annotations = {
      'drover.dev/approved': 'true',
      'drover.dev/approved-by': 'ada',
      'drover.dev/approved-wave': '1',
      'drover.dev/approved-wave-by': 'bob',
    };
    const approved = { ...update, metadata: { ...update.metadata, annotations } };
    const lines = describeLines(view(approved), now);
    expect(lines).toContain(`held by WaveApproval for 30s: ${reason}`);
    const at = lines.indexOf('approved:');
    expect(lines.slice(at, at + 3)).toEqual([
      'approved:',
      '  by ada',
      '  what follows wave 1: by bob',
    ]);
    expect(updateDocument(view(approved))).toMatchObject({
      approvedBy: 'ada',
      approvedWave: '1',
      approvedWaveBy: 'bob',
    });
  });
});

describe('new nodes that are waited for', () => {
  const missing = [
    {
      zone: 'eu-west-1a',
      code: 'InsufficientFreeAddresses',
      message: 'none',
      since: timePlus(690),
    },
    {
      zone: 'eu-west-1b',
      instanceId: 'i-1',
      code: 'NodeCreationFailure',
      message: 'no node',
      since: timePlus(720),
    },
  ] as const;
  const shortages = [{ zone: 'eu-west-1a', code: 'c', message: 'm', at: timePlus(600) }] as const;
  const waits = view(anUpdate({ status: { ...running, missing, shortages } }));

  it('are told with what is known of each and since when, once where no screen is drawn', () => {
    expect(headerLines(waits, now).slice(-2)).toEqual([
      'no new node in eu-west-1a for 1m: InsufficientFreeAddresses: none',
      'new node i-1 in eu-west-1b has not joined for 30s: no node',
    ]);
    expect(changeLines(view(), waits)).toEqual([
      `no new node in eu-west-1a since ${timePlus(690)}: InsufficientFreeAddresses: none`,
      `new node i-1 in eu-west-1b has not joined since ${timePlus(720)}: no node`,
    ]);
    expect(changeLines(waits, waits)).toEqual([]);
  });

  it('are told instead of the shortage of before in their zone', () => {
    expect(describeLines(waits, now).join()).not.toContain('no room for new nodes');
    const before = view(anUpdate({ status: { ...running, shortages } }));
    expect(describeLines(before, now)).toContain('no room for new nodes:');
  });
});
