// The text of a plan: it fits a screen for any findings, blockers first; details omit nothing.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aGroup,
  aNode,
  aPod,
  aSnapshot,
} from '../../../test/builders/core-update-preflight.ts';
import { planUpdate, type UpdatePlan } from '../../core/update/plan/index.ts';
import { detailLines, markdownLines, screenLines } from './lines.ts';

const nodeName = (i: number) => `ip-192-168-100-${i}.eu-west-1.compute.internal`;

/** `blockers` bare pods over `count` nodes, each with an emptyDir in addition. */
const planOf = (count: number, blockers: number): UpdatePlan =>
  planUpdate(
    aSnapshot({
      group: aGroup({ sizes: { minSize: 0, maxSize: 200, desired: count } }),
      nodes: Array.from({ length: count }, (_, i) => aNode(nodeName(i))),
      pods: Array.from({ length: blockers }, (_, i) =>
        aPod(`a-pod-with-a-rather-long-name-that-nobody-would-type-${i}`, {
          node: nodeName(i % count),
          owner: '',
          spec: { volumes: [{ name: 'x', emptyDir: {} }] },
        }),
      ),
      budgets: [aBudget('web', 10, { spec: { maxUnavailable: 0 } })],
      unread: { accountQuotas: 'Service Quotas are not read' },
    }),
    { runs: 5 },
  );

const heightOf = (lines: readonly string[]): number =>
  lines.reduce((all, line) => all + Math.max(1, Math.ceil(line.length / 80)), 0);

it('a plan tells which instance types a zone may get', () => {
  const skipped = [{ type: 'c5.large', message: 'too little' }];
  const instanceTypes = { order: ['m5.large', 'm5.xlarge'], skipped };
  expect(screenLines({ ...planOf(3, 0), instanceTypes })).toEqual(
    expect.arrayContaining([
      'instance types in each zone: m5.large, else m5.xlarge',
      '  c5.large left out: too little',
    ]),
  );
});

it('a plan of a group that EKS manages says which strategies EKS does not have', () => {
  const line = 'EKS has no strategy SURGE: this is what Drover would do with its nodes';
  const plan = { ...planOf(3, 0), managedBy: 'eks' as const };
  expect(screenLines({ ...plan, strategy: 'SURGE' })).toContain(line);
  expect(screenLines({ ...plan, strategy: 'MINIMAL' }).join()).not.toContain('EKS has no');
  expect(screenLines({ ...planOf(3, 0), strategy: 'SURGE' })).not.toContain(line);
});

it('a plan says of which hooks it can only guess the time', () => {
  const plan = planOf(3, 0);
  const hook = (name: string, source: string) => ({
    what: `hook ${name}`,
    p50Seconds: 30,
    p90Seconds: 120,
    source,
  });
  const hooks = [hook('preDrain', 'measured on 4 runs'), hook('postReady', 'default')];
  const lines = screenLines({ ...plan, assumptions: [...plan.assumptions, ...hooks] });
  expect(lines).toContain('hook times are a guess: postReady never ran');
  expect(screenLines(plan).join()).not.toContain('guess');
});

describe('a plan on a screen', () => {
  const sizes = [
    [0, 0],
    [1, 0],
    [1, 1],
    [3, 2],
    [5, 5],
    [50, 30],
    [100, 0],
  ] as const;
  it.each(sizes)('of %i nodes with %i blockers fits 80 columns and 24 rows', (count, blockers) => {
    const lines = screenLines(planOf(count, blockers));
    expect(heightOf(lines)).toBeLessThanOrEqual(23);
    for (const line of lines) {
      if (!line.startsWith('    $ ')) expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  it('begins with the verdict, and tells blockers before anything is folded', () => {
    const lines = screenLines(planOf(5, 5));
    expect(lines[0]).toMatch(/^BLOCKED: 6 blockers, 5 warnings$/);
    expect(lines.find((line) => line.startsWith('  bare-pod'))).toBeDefined();
    expect(lines.some((line) => line.startsWith('  and '))).toBe(true);
    expect(lines).toContain('WARNINGS  local-data 5  (--details)');
    expect(lines).toContain('NOT CHECKED  account-quota');
  });

  it('says of a blocked plan that its figures are of an update without what blocks it', () => {
    const told = 'these figures are of an update without what blocks it';
    expect(screenLines(planOf(2, 1))).toContain(told);
    expect(screenLines(planOf(2, 0))).not.toContain(told);
  });

  it('says of a plan that is refused that there is no update before', () => {
    const plan = planOf(2, 0);
    const remedy = 'drover get ng ng';
    const object = { kind: 'NodeGroup', name: 'ng' };
    const refused = {
      check: 'other-actor',
      severity: 'blocker',
      object,
      evidence: {},
      remedy,
    } as const;
    const findings = [
      { ...refused, isRefused: true as const, consequence: { text: 'one at a time' } },
    ];
    expect(screenLines({ ...plan, verdict: 'blocked', findings })).toContain(
      'these figures are of the update once nothing refuses it',
    );
  });

  const behind = (number: number) => ({
    wave: { number, of: 5 },
    nodes: number,
    minute: number + 0.3,
  });
  it.each([
    [[], 'READY', undefined],
    [[{ nodes: 0, minute: 0 }], 'READY, wants approval', undefined],
    [
      [{ nodes: 0, minute: 0 }, behind(1)],
      'READY, wants 2 approvals',
      'an operator must approve before it begins, behind wave 1 of 5 (1 node, about minute 1): `drover approve update`; minutes leave that time out',
    ],
    [
      [1, 2, 3, 4, 5].map(behind),
      'READY, wants 5 approvals',
      'an operator must approve behind wave 1 of 5 (1 node, about minute 1), behind wave 2 of 5 (2 nodes, about minute 2), behind wave 3 of 5 (3 nodes, about minute 3), and 2 more (--details): `drover approve update`; minutes leave that time out',
    ],
  ])('tells which approvals it wants: %j', (approvals, verdict, line) => {
    const plan = { ...planOf(2, 0), approvals };
    const [first, ...rest] = screenLines(plan);
    expect(first?.replace(/: .*/, '')).toBe(verdict);
    const told = rest.join(' ').replaceAll(/ +/g, ' ');
    if (line === undefined) expect(told).not.toContain('an operator must approve');
    else expect(told).toContain(line);
    expect(markdownLines(plan).join(' ').includes('an operator must approve')).toBe(
      line !== undefined,
    );
    expect(detailLines(plan).join(' ')).not.toContain('(--details): `drover');
  });

  it('shows commands as such and sentences as sentences', () => {
    const plan = planOf(1, 1);
    const remedy =
      'name a release that exists: --release-version, --kubernetes-version or --launch-template-version';
    const prose = { ...plan, findings: plan.findings.map((one) => ({ ...one, remedy })) };
    const text = screenLines(prose).join('\n');
    expect(text.replaceAll(/\n +/g, ' ')).toContain(` ${remedy}`);
    expect(text).not.toContain('$ name');
    expect(markdownLines(prose).join('\n')).not.toContain('`name');
  });

  it('tells in full why it is held', () => {
    const reason = `${'because somebody wrote a long note about the winter freeze '.repeat(3)}of 2026`;
    const plan: UpdatePlan = { ...planOf(1, 0), holds: [{ kind: 'Freeze', reason }] };
    const lines = screenLines(plan);
    expect(lines.join(' ').replaceAll(/ +/g, ' ')).toContain(`held by Freeze: ${reason}`);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('never cuts a command', () => {
    const plan = planOf(1, 1);
    const remedies = plan.findings.map(({ remedy }) => remedy);
    for (const line of screenLines(plan).filter((one) => one.startsWith('    $ '))) {
      expect(remedies).toContain(line.slice(6));
    }
  });

  it('shows the first batches, the last, and how many stand between', () => {
    const lines = screenLines(planOf(100, 0));
    expect(lines.some((line) => /^ {5}\.\.\. \d+ more$/.test(line))).toBe(true);
    expect(lines.at(-1)).toMatch(/^ {2}100 {2}min/);
  });

  it('says of a group that is up to date just that', () => {
    expect(screenLines(planOf(0, 0))[0]).toBe('UP TO DATE');
  });

  it('says what an earlier update left over, which is reverted', () => {
    const plan = { ...planOf(0, 0), verdict: 'ready' as const, leftover: 2 };
    expect(screenLines(plan)).toContain(
      'takes back 2 nodes more than asked for, left by an earlier update',
    );
    expect(screenLines(plan)[0]).toContain('READY');
  });
});

describe('details and markdown', () => {
  const plan = planOf(5, 5);
  it('name every finding, node and the times that were assumed', () => {
    const text = detailLines(plan).join('\n');
    for (const { object } of plan.findings) expect(text).toContain(object.name);
    for (let i = 0; i < 5; i++) expect(text).toContain(nodeName(i));
    expect(text).toContain('launch until Ready: 90 s (p50), 150 s (p90), default');
    expect(text).toContain(`hash ${plan.hash}`);
  });

  it('have a row for each finding and each batch', () => {
    const rows = markdownLines(plan).filter((line) => line.startsWith('| '));
    expect(rows).toHaveLength(plan.findings.length + plan.batches.length + 2);
  });
});
