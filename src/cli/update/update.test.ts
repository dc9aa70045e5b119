// An update as it is displayed: the nodes that belong to it, a screen that fits, lines for changes.
import { describe, expect, it } from 'vitest';
import {
  aGroup,
  anUpdate,
  aPart,
  blocked,
  done,
  held,
  now,
  running,
} from '../../../test/builders/cli-update.ts';
import { timePlus } from '../../../test/builders/core-termination.ts';
import { updateView } from '../../core/overview/index.ts';
import { changeLines, resultLines } from './changes.ts';
import { describeLines, updateCells, updateDocument } from './document.ts';
import { headerLines, progressBar, screenLines, stateText } from './screen.ts';

const view = (
  disruptions: Parameters<typeof updateView>[0]['disruptions'] = [],
  update = anUpdate(),
) => updateView({ update, group: aGroup(), disruptions });

const range = (from: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index);

describe('the nodes of an update', () => {
  const failed = {
    phase: 'Ended',
    outcome: 'Failed',
    message: 'too long',
    handledCauses: ['update/u1'],
  } as const;
  it.each([
    ['recorded', aPart(1, undefined), 'inFlight', 'let go'],
    [
      'held and being marked',
      aPart(1, { phase: 'Marking' }, { hold: true }),
      'waiting',
      'being marked',
    ],
    ['held and marked', held(1), 'waiting', 'cordoned, waits for its turn'],
    ['blocked', blocked(1), 'inFlight', 'draining'],
    ['empty', aPart(1, { podsRemaining: 0 }), 'inFlight', 'empty'],
    ['on its way out', aPart(1, { phase: 'Completing' }), 'inFlight', 'empty; being terminated'],
    ['drained', done(1), 'done', 'drained'],
    [
      'of the surplus',
      aPart(1, done(1).status, { followUp: 'Terminate' }),
      'done',
      'drained; retired',
    ],
    ['failed', aPart(1, failed), 'failed', 'the drain has failed'],
    [
      'failed, and drained for another by now',
      aPart(1, { handledCauses: ['update/u1'], previous: { episode: 1, outcome: 'Failed' } }),
      'failed',
      'the drain has failed',
    ],
    ['asked again', aPart(1, {}, { id: 'update/u1/2' }), 'inFlight', 'draining'],
  ])('%s', (_, disruption, state, what) => {
    expect(view([disruption]).nodes).toMatchObject([{ name: 'n1', state, what }]);
  });

  it.each([
    ['of another update', aPart(1, {}, { id: 'update/u10' })],
    ['of another cause', aPart(1, {}, { kind: 'ScaleIn', id: 'scale-in/1' })],
    ['withdrawn', aPart(1, {}, { cancelledAt: timePlus(700) })],
    ['uncordoned', aPart(1, { ...failed, outcome: 'Cancelled' })],
  ])('leave out what is %s', (_, disruption) => {
    expect(view([disruption]).nodes).toEqual([]);
  });

  it('are forced from the moment at which that begins, not at the bound behind it', () => {
    const forced = { deadline: timePlus(1500), onDeadline: 'force' } as const;
    const deadlineOf = (cause: Parameters<typeof aPart>[2]) =>
      view([aPart(1, { podsRemaining: 1, ...forced }, cause)]).nodes[0]?.deadline;
    expect(deadlineOf({ forceFrom: timePlus(1200) })).toBe(timePlus(1200));
    expect(deadlineOf({})).toBe(timePlus(1500));
  });

  it('name what failed and was uncordoned since', () => {
    const failedNodes = [{ instanceId: 'i-9', node: 'n9', message: 'web/web-1 stays' }];
    const update = anUpdate({ status: { ...running, failedNodes } });
    expect(view([], update).nodes).toMatchObject([
      { name: 'n9', state: 'failed', blockers: ['web/web-1 stays'] },
    ]);
    expect(view([aPart(9, failed)], update).nodes).toHaveLength(1);
  });
});

describe('the nodes of an update that failed', () => {
  it('are done where they were replaced; new ones that were taken back are told as that', () => {
    const over = { phase: 'Ended', outcome: 'Drained', handledCauses: ['update/u1'] } as const;
    const gone = { ...over, endedAt: timePlus(700) };
    const receivedAt = timePlus(600);
    const parts = [
      aPart(1, gone, { followUp: 'Replace' }),
      aPart(2, gone, { followUp: 'Terminate' }),
      aPart(3, gone, { followUp: 'Terminate', receivedAt }),
    ];
    const phases = [...(running.phases ?? []), { phase: 'Restoring' as const, at: timePlus(500) }];
    const failed = anUpdate({ status: { ...running, status: 'Failed', phases } });
    const { nodes } = view(parts, failed);
    expect(nodes.map(({ name, state, what }) => `${name} ${state}: ${what}`)).toEqual([
      'n1 done: drained',
      'n2 done: drained; retired',
      'n3 takenBack: drained; retired',
    ]);
    const lines = describeLines(view(parts, failed), now);
    expect(lines.slice(lines.indexOf('done:'))).toEqual([
      'done:',
      expect.stringContaining('n1'),
      expect.stringContaining('n2'),
      'new nodes taken back:',
      expect.stringContaining('n3'),
    ]);
  });
});

it('the instance types of new nodes are told where they are not all of the first', () => {
  const status = {
    ...running,
    fallbacks: [{ zone: 'z1', type: 'm5.xlarge', nodes: 2 }],
    skippedTypes: [{ type: 'c5.large', message: 'too little' }],
  };
  const lines = describeLines(view([], anUpdate({ status })), now);
  expect(lines.slice(lines.indexOf('instance types:')).slice(1, 3)).toEqual([
    "  z1: 2 new nodes of m5.xlarge: no room there for the group's first type",
    '  c5.large left out meanwhile: too little',
  ]);
});

describe('the header', () => {
  it('tells group, revisions, status, phase, progress and time', () => {
    expect(headerLines(view(), now)).toEqual([
      'ng in c: 1.32.9-20260905 -> 1.32.9-20260919  (VersionUpdate u1)',
      'InProgress, phase Rolling for 10m  (DEFAULT, at most 1 at once)',
      '[#########---------------]  2 of 5 nodes  12m30s so far',
    ]);
  });

  const template = (version: string) => ({ launchTemplate: { id: 'lt-1', version } });
  const { from, target } = running;
  it.each([
    [{ ...from, ...template('1') }, { ...target, ...template('1') }, '05 -> 1.32.9-20260919'],
    [
      { ...from, ...template('1') },
      { ...from, ...template('2') },
      '05, template v1 -> 1.32.9-20260905, template v2',
    ],
    [{ ...from, ...template('1') }, target, '05 -> 1.32.9-20260919'],
    [{ imageId: 'ami-1' }, { imageId: 'ami-2' }, 'ami-1 -> ami-2'],
  ])('tells what differs between %o and %o', (before, after, text) => {
    const base = { version: '1.32', imageId: 'ami-0', templateVersion: '1' };
    const status = { ...running, from: { ...base, ...before }, target: { ...base, ...after } };
    expect(headerLines(view([], anUpdate({ status })), now)[0]).toMatch(
      new RegExp(`${text}  \\(V`),
    );
  });

  it('tells what is known of an update that nobody has looked at', () => {
    const update = anUpdate({ status: undefined, spec: { force: true } });
    expect(headerLines(view([], update), now)).toEqual([
      'ng in c: ? -> 1.32.9-20260919  (VersionUpdate u1)',
      'InProgress, phase Preparing  (with force)',
      '12m30s so far',
    ]);
  });

  it.each([
    [{ paused: true }, 'InProgress, paused'],
    [{ abort: 'Stop' as const, paused: true }, 'InProgress, being stopped'],
    [{ abort: 'RollBack' as const }, 'InProgress, rolling back'],
    [{}, 'InProgress'],
  ])('says of %o: %s', (spec, text) => {
    expect(stateText(view([], anUpdate({ spec })))).toBe(text);
  });

  it.each([
    [0, 0, '[########################]  0 of 0 nodes'],
    [3, 0, '[------------------------]  0 of 3 nodes'],
    [100, 99, '[#######################-]  99 of 100 nodes'],
    [3, 3, '[########################]  3 of 3 nodes'],
  ])('draws a full bar only when all of %d are done: %d', (total, count, bar) => {
    const progress = { total, done: count, draining: 0, failed: 0 };
    expect(progressBar(view([], anUpdate({ status: { ...running, progress } })))).toBe(bar);
  });
});

describe('the screen', () => {
  const nodes = [blocked(1), ...range(2, 2).map(held), ...range(4, 2).map(done)];

  it('shows update, batch, node and blocker, and counts the rest', () => {
    expect(screenLines(view(nodes), now, { columns: 80, rows: 24 })).toEqual([
      ...headerLines(view(), now),
      'in flight: 1 node',
      '  n1  draining for 2m30s, 1 of 8 pods left, gives up in 12m30s',
      '    pod web/web-1-0 of ReplicaSet/web waits for budget web/web (0 of 1 may be',
      `      disrupted), since ${timePlus(610)}; this budget never allows an`,
      '      eviction: only changing or deleting it, or the pod, helps; never forced',
      '2 done, 2 cordoned and waiting',
      'group: 6 of 7 instances ready',
    ]);
  });

  it('never has more lines or columns than the terminal, and keeps its header', () => {
    const many = [...range(1, 30).map((index) => blocked(index, 4)), ...range(50, 60).map(held)];
    const status = { ...running, progress: { total: 95, done: 5, draining: 30, failed: 0 } };
    const large = view(many, anUpdate({ status }));
    for (const rows of [1, 3, 5, 6, 7, 8, 12, 24, 60, 400]) {
      for (const columns of [10, 40, 80, 300]) {
        const lines = screenLines(large, now, { columns, rows });
        expect(lines.length).toBeLessThanOrEqual(rows);
        expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
        if (rows > 4) expect(lines[0]?.slice(0, 9)).toBe('ng in c: ');
      }
    }
  });

  it('cuts blockers to a line, then to one a node, then shows fewer nodes', () => {
    const busy = view(range(1, 3).map((index) => blocked(index, 2)));
    const at = (rows: number) => screenLines(busy, now, { columns: 400, rows });
    // Header 3, batch 1, counts 1, group 1.
    expect(at(15).filter((line) => line.startsWith('    '))).toHaveLength(6);
    const short = at(12);
    expect(short.filter((line) => line.startsWith('    '))).toHaveLength(3);
    expect(short[5]).toMatch(/never forced \(and 1 more\)$/);
    const few = at(11);
    expect(few).toHaveLength(11);
    expect(few).toContain('  and 1 node more');
  });

  it("leaves out what EC2's names have in common, and wraps the errors of the end", () => {
    const name = 'ip-192-168-1-2.eu-west-1.compute.internal';
    const message = 'pods of the group could not be evicted in fifteen minutes, all of them';
    const failedNodes = [{ instanceId: 'i-9', node: name, message: 'web-1 stays' }];
    const errors = [{ code: 'PodEvictionFailure', message, resourceIds: [] }];
    const status = { ...running, status: 'Failed' as const, errors, failedNodes };
    const lines = screenLines(view([], anUpdate({ status })), now, { columns: 60, rows: 20 });
    expect(lines).toContain('  ip-192-168-1-2  the drain has failed');
    expect(lines).toContain('PodEvictionFailure: pods of the group could not be evicted');
    expect(lines).toContain('in fifteen minutes, all of them');
  });

  it('tells failed nodes and, at the end, the errors', () => {
    const errors = [{ code: 'PodEvictionFailure', message: 'web-1 stays', resourceIds: [] }];
    const failedNodes = [{ instanceId: 'i-9', node: 'n9', message: 'web-1 stays' }];
    const endedAt = timePlus(900);
    const status = { ...running, status: 'Failed' as const, errors, failedNodes, endedAt };
    const lines = screenLines(view([], anUpdate({ status })), now, { columns: 80, rows: 24 });
    expect(lines).toContain('PodEvictionFailure: web-1 stays');
    expect(lines).toContain('failed: 1 node');
    expect(lines).toContain('  n9  the drain has failed');
    expect(lines[2]).toContain('15m in all');
  });
});

describe('lines of what has changed', () => {
  it('tell everything once', () => {
    const first = view([held(2)], anUpdate({ status: undefined }));
    expect(changeLines(undefined, first)).toEqual([
      'update u1 of ng: ? -> 1.32.9-20260919',
      'phase Preparing',
    ]);
    const second = view([blocked(1), held(2)]);
    const told = changeLines(first, second);
    expect(told).toEqual([
      'phase Rolling',
      'n1: draining',
      expect.stringMatching(/^n1: pod web\/web-1-0 of ReplicaSet\/web waits for budget web\/web/),
      '2 of 5 nodes done',
    ]);
    expect(changeLines(second, second)).toEqual([]);
    const third = view([done(1), held(2)], anUpdate({ spec: { paused: true } }));
    expect(changeLines(second, third)).toEqual(['InProgress, paused', 'n1: drained']);
  });

  it("tell the end in EKS' words", () => {
    const errors = [{ code: 'PodEvictionFailure', message: 'web-1 stays', resourceIds: [] }];
    const failed = view([], anUpdate({ status: { ...running, status: 'Failed', errors } }));
    expect(resultLines(failed)).toEqual([
      'update u1: Failed',
      'PodEvictionFailure: web-1 stays',
      expect.stringMatching(/^remedy: let the budget allow an eviction, or update with --force; /),
    ]);
  });
});

describe('in print', () => {
  it('an update is a row', () => {
    expect(updateCells(view())).toEqual([
      'ng',
      'u1',
      'VersionUpdate',
      'InProgress',
      'Rolling',
      '2/5',
      '-',
      '1.32.9-20260905',
      '1.32.9-20260919',
      timePlus(0).replace(/\.\d+/, ''),
    ]);
    const config = anUpdate({ status: undefined, spec: { type: 'ConfigUpdate', change: {} } });
    expect(updateCells(view([], config)).slice(2, 9)).toEqual([
      'ConfigUpdate',
      'InProgress',
      '-',
      '-',
      '-',
      '-',
      '-',
    ]);
  });

  it.each([
    [timePlus(990), timePlus(1170), 'about 4m left, 90 % within 7m'],
    [timePlus(740), timePlus(1170), 'about to end, 90 % within 7m'],
    [timePlus(740), timePlus(745), 'about to end'],
  ])('its end (%s, %s) is told as %s', (p50, p90, text) => {
    const progress = { total: 5, done: 2, draining: 1, failed: 0, eta: { p50, p90 } };
    const told = view([], anUpdate({ status: { ...running, progress } }));
    expect(headerLines(told, now).at(-1)).toBe(
      `[#########---------------]  2 of 5 nodes  12m30s so far  ${text}`,
    );
    expect(updateCells(told)).toContain(p50.replace(/\.\d+/, ''));
    const ended = view([], anUpdate({ status: { ...running, progress, status: 'Failed' } }));
    expect(headerLines(ended, now).at(-1)).not.toContain('about');
    expect(updateCells(ended)[6]).toBe('-');
  });

  it('a description folds nothing', () => {
    const lines = describeLines(view([blocked(1), held(2), held(3), done(4)]), now);
    expect(lines).toContain('cordoned and waiting:');
    expect(lines).toContain('  n3  cordoned, waits for its turn');
    expect(lines).toContain('  n4  drained 4m10s ago');
    expect(lines.filter((line) => /Preparing {2}5s$|ScalingUp {2}2m25s$/.test(line))).toHaveLength(
      2,
    );
  });

  it('a description lists nodes in order of time, and those to which nothing has happened by name', () => {
    const over = { phase: 'Ended', outcome: 'Drained', handledCauses: ['update/u1'] } as const;
    const at = [600, 300, 500].map((seconds) => ({ ...over, endedAt: timePlus(seconds) }));
    const parts = [...at.map((status, index) => aPart(index + 1, status)), held(6), held(5)];
    const lines = describeLines(view(parts), now).map((line) => line.slice(0, 4).trim());
    expect(lines.slice(lines.indexOf('n5'))).toEqual(['n5', 'n6', 'done', 'n2', 'n3', 'n1']);
  });

  it('a document has every field, null where nothing is known', () => {
    const document = updateDocument(view([held(2)], anUpdate({ status: undefined })));
    expect(document).toMatchObject({
      apiVersion: 'cli.drover.dev/v1',
      kind: 'Update',
      status: 'InProgress',
      phase: null,
      progress: null,
      nodes: [{ name: 'n2', state: 'waiting', deadline: null }],
    });
    expect(Object.values(document)).not.toContain(undefined);
  });
});
