import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { LogInput } from '../../ports/index.ts';
import type { CliContext } from '../context.ts';
import { runStory, type StoryFlags } from './story.ts';

const event = (second: number, more: object): string =>
  JSON.stringify({
    verb: 'patch',
    user: { username: 'eks:node-manager' },
    userAgent: 'vpcLambda/v0.0.0 (linux/amd64)',
    objectRef: { resource: 'nodes', name: 'n1' },
    responseStatus: { code: 200 },
    ...more,
    stageTimestamp: `2022-09-25T13:58:${String(second).padStart(2, '0')}.000000Z`,
  });
const pod = { resource: 'pods', namespace: 'demo', name: 'p<1>', subresource: 'eviction' };
const log = [
  event(0, {
    verb: 'create',
    user: { username: 'system:node:n1' },
    requestObject: { metadata: { labels: { 'eks.amazonaws.com/nodegroup': 'g' } } },
  }),
  event(1, {
    verb: 'create',
    objectRef: { ...pod, subresource: 'binding' },
    requestObject: { target: { name: 'n1' } },
  }),
  event(2, { requestObject: { spec: { unschedulable: true } } }),
  event(3, {
    verb: 'create',
    objectRef: pod,
    responseStatus: { code: 429, message: 'budget \u001b[31m' },
  }),
  event(4, {
    verb: 'create',
    objectRef: pod,
    responseStatus: { code: 429, message: 'budget \u001b[31m' },
  }),
  event(5, { verb: 'create', objectRef: pod, responseStatus: { code: 201 } }),
  event(6, { verb: 'delete' }),
  'no json',
];

const run = async (flags: Partial<StoryFlags>, lines: readonly string[] = log) => {
  const [out, err]: [string[], string[]] = [[], []];
  const input: LogInput = {
    name: 'a.log',
    size: undefined,
    position: () => 0,
    packing: () => undefined,
    chunks: async function* () {
      yield Buffer.from(lines.map((line) => `${line}\n`).join(''));
    },
    close: async () => {},
  };
  const context: Partial<CliContext> = {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    progress: () => {},
    isTerminal: false,
    signal: new AbortController().signal,
    clock: { now: () => epochMs(0), sleep: () => Promise.reject(new Error('nobody sleeps')) },
    openLog: async () => input,
  };
  await runStory(
    context as CliContext,
    {},
    { files: ['a.log'], flags: { output: 'text', ...flags } },
  );
  return { out: out.join('\n'), err: err.join('\n') };
};

describe('drover logs story', () => {
  it('prints steps, durations and findings; refusals in a row are one line', async () => {
    const { out, err } = await run({ node: 'n1' });
    expect(out.split('\n').map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
      'n1 of g',
      '  TIME  WHAT  WHO',
      '  2022-09-25 13:58:00.000  joined  system:node:n1 (vpcLambda/v0.0.0)',
      '  2022-09-25 13:58:01.000  pod placed demo/p<1>  eks:node-manager (vpcLambda/v0.0.0)',
      '  2022-09-25 13:58:02.000  cordoned  eks:node-manager (vpcLambda/v0.0.0)',
      '  2022-09-25 13:58:03.000  eviction refused demo/p<1> budget \\u001b[31m (2 times until 13:58:04.000)  eks:node-manager (vpcLambda/v0.0.0)',
      '  2022-09-25 13:58:05.000  pod evicted demo/p<1>  eks:node-manager (vpcLambda/v0.0.0)',
      '  2022-09-25 13:58:06.000  deleted  eks:node-manager (vpcLambda/v0.0.0)',
      '  cordoned to first eviction: 1.000 s',
      '  first to last eviction: 2.000 s',
      '  held by budgets: 2.000 s',
      '  first mark to deleted: 4.000 s',
      '  ! gap: pods were evicted, and the node was never taken out of load balancers by its label',
      '  ! gap: demo/p<1>: evicted, and the log does not tell that they went',
      '',
    ]);
    expect(err).toBe('! 1 line is no JSON object');
  });

  it('prints JSON with its kind, of every node of a group', async () => {
    const shown: unknown = JSON.parse((await run({ nodegroup: 'g', output: 'json' })).out);
    expect(shown).toMatchObject({
      apiVersion: 'cli.drover.dev/v1',
      kind: 'NodeStoryList',
      log: { from: '2022-09-25T13:58:00.000Z', to: '2022-09-25T13:58:06.000Z' },
      items: [
        {
          node: 'n1',
          group: 'g',
          steps: { length: 7 },
          findings: [{ rule: 'never-excluded' }, {}],
        },
      ],
    });
  });

  it('prints one HTML file without scripts, links or text that was not escaped', async () => {
    const { out } = await run({ node: 'n1', output: 'html' });
    expect(out).toMatch(/^<!doctype html>/);
    expect(out).toContain('pod evicted demo/p&lt;1&gt;');
    expect(out).toContain('(2 times until 13:58:04.000)');
    expect(out).not.toMatch(/<script|<link|https?:|javascript:/);
    expect(out).not.toContain('\u001b');
    expect(out.match(/<tr class=/g)).toHaveLength(6);
  });

  it('lets no name in a log become markup, and keeps rows short', async () => {
    const evil = `"'><script>alert(1)</script><img src=x onerror=y>&\u202e\u001b[2J`;
    const named = { user: { username: evil }, userAgent: evil };
    const odd = [
      event(0, { ...named, verb: 'create', objectRef: { resource: 'nodes', name: evil } }),
      event(1, {
        ...named,
        verb: 'create',
        objectRef: { ...pod, name: evil, subresource: 'binding' },
        requestObject: { target: { name: evil } },
      }),
      event(2, {
        ...named,
        verb: 'create',
        objectRef: { ...pod, name: evil },
        responseStatus: { code: 429, message: evil },
      }),
    ];
    const page = (await run({ node: evil, output: 'html' }, odd)).out;
    expect(page).not.toMatch(/<script|<img/);
    for (const unit of ['\u001b', '\u202e']) expect(page).not.toContain(unit);
    expect(page.match(/&lt;script&gt;/g)?.length).toBeGreaterThanOrEqual(6);
    // Thousands of nodes with their pods must open: apart from its text, a row is at most this
    // long.
    const rows = (await run({ node: 'n1', output: 'html' })).out.match(/<tr class=.*<\/tr>/g) ?? [];
    for (const row of rows) expect(row.replace(/>[^<]*/g, '>').length).toBeLessThan(120);
  });

  it('refuses what it cannot tell', async () => {
    await expect(run({})).rejects.toMatchObject({ exitCode: 2 });
    await expect(run({ node: 'n1', nodegroup: 'g' })).rejects.toMatchObject({ exitCode: 2 });
    await expect(run({ node: 'n2' })).rejects.toThrow(
      'the log does not tell of the node n2: it has n1',
    );
    await expect(run({ nodegroup: 'x' })).rejects.toThrow(
      'the log does not tell of the group x: it has g',
    );
  });
});
