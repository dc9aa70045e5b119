// What `drover top` shows and how keys change it, as tables: waiting rows first, the selection
// follows its row, every line fits the screen, and control characters in names are escaped.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { Node } from '../../api/kube.ts';
import type { TopObjects } from './feed.ts';
import { topModel } from './model.ts';
import { initialState, pressed, type TopState, topLines } from './view.ts';

const now = epochMs(Date.parse('2026-01-01T01:00:00Z'));
const at = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

const idOf = (name: string): string =>
  `i-${Buffer.from(name).toString('hex').padStart(17, '0').slice(-17)}`;

const aNode = (name: string, group: string): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `u-${name}`,
      resourceVersion: '1',
      creationTimestamp: at(60),
      labels: { 'eks.amazonaws.com/nodegroup': group, 'topology.kubernetes.io/zone': 'z1' },
    },
    spec: { providerID: `aws:///z1/${idOf(name)}` },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at(60) }] },
  }) as unknown as Node;

const waiting = (message: string) => ({
  kind: 'pdb',
  pod: 'shop/db-0',
  budgets: ['shop/db'],
  message,
  neverAllows: true,
});

const drainOf = (name: string, message = '0 allowed') => ({
  metadata: { name: idOf(name), uid: `d-${name}`, resourceVersion: '1', creationTimestamp: at(9) },
  spec: { instanceId: idOf(name), causes: [] },
  status: { episode: 1, phase: 'Draining', startedAt: at(7), waitingOn: [waiting(message)] },
});

const objects = (more: object = {}): TopObjects =>
  ({
    nodes: [aNode('n1', 'a'), aNode('n2', 'b'), aNode('n3', 'b')],
    groups: ['a', 'b'].map((name) => ({
      metadata: { name, uid: `g-${name}` },
      spec: {},
      status: { state: 'ACTIVE', desired: 2, ready: 2 },
    })),
    disruptions: [drainOf('n3')],
    repairs: [],
    updates: [],
    ...more,
  }) as unknown as TopObjects;

const size = { columns: 100, rows: 12 };
const model = topModel(objects(), now);
const lines = (state: TopState, m = model, s = size) =>
  topLines(m, state, { size: s, fault: undefined });
const pressing = (keys: readonly string[], m = model): TopState | undefined =>
  keys.reduce<TopState | undefined>(
    (state, key) => (state === undefined ? undefined : pressed(m, state, { key, size })),
    initialState,
  );
const shown = (...keys: readonly string[]): readonly string[] =>
  lines(pressing(keys) ?? initialState);

describe('the rows', () => {
  it('that wait come first, each with what it waits for and since when', () => {
    expect(model.groups.map(({ name }) => name)).toEqual(['b', 'a']);
    const [first, second] = model.nodesOf('b');
    expect(first?.cells).toEqual([
      'n3',
      'b',
      'z1',
      'Healthy',
      '7m',
      expect.stringMatching(/^drain: pod shop\/db-0 waits for budget shop\/db \(0 allowed\)/),
    ]);
    expect(second?.cells.slice(0, 2)).toEqual(['n2', 'b']);
    expect(model.summary).toBe('2 groups, 3 nodes, 1 draining, 0 unhealthy');
  });

  it('of a group with an update say how far it is', () => {
    const status = { status: 'InProgress', phase: 'Rolling', startedAt: at(30) };
    const update = {
      metadata: { name: 'u', uid: 'u' },
      spec: { nodeGroup: 'a' },
      status: { ...status, message: 'drains n1', progress: { done: 3, total: 9 } },
    };
    const [row] = topModel(objects({ updates: [update], disruptions: [] }), now).groups;
    expect(row?.cells).toEqual(['a', '2', '2', '0', 'update Rolling', '30m', '3/9 drains n1']);
  });
});

describe('the keys', () => {
  it('move, open a group and a node, and go back to where they came from', () => {
    expect(shown('j')[3]).toMatch(/^> a /);
    expect(shown('enter')[0]).toContain('nodes of b');
    expect(shown('enter', 'enter').join('\n')).toMatch(
      /node n3 .*\n(.*\n)*.*waits for budget shop\/db(.*\n)+.*changing or/,
    );
    expect(pressing(['enter', 'enter', 'escape'])).toMatchObject({ view: 'nodes', selected: 'n3' });
    expect(pressing(['enter', 'escape'])).toMatchObject({ view: 'groups', selected: 'b' });
    expect(shown('n')[0]).toContain('all nodes');
    expect(shown('?').join()).toContain('quit');
  });

  it('filter as they are typed, q and ? included, until enter or esc', () => {
    expect(pressing(['n', '/', 'q'])).toMatchObject({ filter: 'q', isFiltering: true });
    expect(shown('n', '/', 'n', '2', 'enter').filter((line) => /^[> ] n\d/.test(line))).toEqual([
      expect.stringMatching(/^> n2 /),
    ]);
    expect(pressing(['n', '/', 'x', 'escape'])).toMatchObject({ filter: '', isFiltering: false });
  });

  it.each([['q'], ['ctrl-c'], ['enter', 'q'], ['/', 'ctrl-c']])('%j quit', (...keys) => {
    expect(pressing(keys)).toBeUndefined();
  });

  it('do nothing where there is nothing', () => {
    const empty = topModel(objects({ nodes: [], groups: [], disruptions: [] }), now);
    expect(pressing(['j', 'G', 'enter'], empty)).toMatchObject({ view: 'groups' });
  });
});

describe('the screen', () => {
  it('never has more lines or columns than the terminal, at any size', () => {
    for (const rows of [1, 5, 6, 12]) {
      for (const columns of [10, 40, 200]) {
        const drawn = lines(pressing(['enter', 'enter']) ?? initialState, model, { columns, rows });
        expect(drawn.length).toBeLessThan(Math.max(rows, frameOfTiny));
        for (const line of drawn) expect(line.length).toBeLessThanOrEqual(columns);
      }
    }
  });

  it('shows text of a node that would move the cursor as what it is', () => {
    const hostile = objects({ disruptions: [drainOf('n3', '\u001b[2J\u001b[H\r\nfake')] });
    const drawn = lines(pressing(['enter']) ?? initialState, topModel(hostile, now)).join('\n');
    expect(drawn).not.toMatch(/[^\P{Cc}\n]/u);
    expect(drawn).toContain('\\u001b[2J');
    const fault = 'no answer\u001b[2J';
    const [title] = topLines(model, initialState, { size: { ...size, columns: 200 }, fault });
    expect(title).toContain('NOT CURRENT: no answer\\u001b[2J');
  });

  it('of 5,000 nodes is computed in a moment, and G shows the last', () => {
    const nodes = Array.from({ length: 5_000 }, (_, i) => aNode(`n${10_000 + i}`, 'a'));
    const disruptions = nodes.slice(0, 500).map(({ metadata }) => drainOf(metadata.name));
    const many = topModel(objects({ nodes, disruptions }), now);
    const state = pressing(['n', 'G'], many) ?? initialState;
    const drawn = lines(state, many);
    expect(drawn).toHaveLength(size.rows - 1);
    expect(drawn.join('\n')).toMatch(/> n14999 /);
    expect(many.summary).toContain('5000 nodes, 500 draining');
  });
});

/** Title, header, one row, filter and keys are always drawn. */
const frameOfTiny = 6;
