// A saved plan: what a file must contain, and which flags would lead to another plan.
import { describe, expect, it } from 'vitest';
import { aGroup, aSnapshot } from '../../../test/builders/core-update-preflight.ts';
import { planUpdate } from '../../core/update/plan/index.ts';
import { readPlan, recordedOf, staleText } from './carry-out.ts';
import { type PlanFile, parsePlan, printPlan } from './file.ts';

const request = {
  version: undefined,
  releaseVersion: undefined,
  templateVersion: undefined,
  strategy: 'SURGE',
  force: false,
  policies: { drain: { onTimeout: 'Skip' } },
} as const;

const aPlan = (more: object = {}): PlanFile => ({
  ...planUpdate(aSnapshot({ group: aGroup({ strategy: 'SURGE' }) }), { runs: 3 }),
  request,
  ...more,
});

describe('a file', () => {
  it('is the plan that was written', () => {
    const plan = aPlan();
    expect(parsePlan('p', printPlan(plan))).toEqual(JSON.parse(JSON.stringify(plan)));
  });

  it.each([
    ['nothing', '', /no JSON/],
    ['half a plan', printPlan(aPlan()).slice(0, 200), /no JSON/],
    ['null', 'null', /no kind UpdatePlan/],
    ['an object of Kubernetes', '{"kind":"NodeGroup"}', /no kind UpdatePlan/],
    ['a newer plan', printPlan(aPlan({ version: 2 })), /its version is 2, and this drover reads 1/],
    ['one without hash', printPlan(aPlan({ hash: undefined })), /member hash/],
    ['one without request', printPlan(aPlan({ request: null })), /member request/],
    ['one of before the parts', printPlan(aPlan({ basis: undefined })), /member basis/],
    ['one without minutes', printPlan(aPlan({ minutes: {} })), /member minutes/],
    ['nameless waivers', printPlan(aPlan({ waivers: [{}] })), /member waivers/],
  ])('of %s is no plan', (_, text, words) => {
    expect(() => parsePlan('plan.json', text)).toThrow(words);
    expect(() => parsePlan('plan.json', text)).toThrow(/^plan.json is no plan: .*--out plan.json/);
  });
});

const bare = {
  check: 'bare-pod',
  severity: 'blocker',
  object: { kind: 'Pod', name: 'demo/p' },
  evidence: {},
  consequence: { text: 'lost' },
  remedy: 'none',
};

describe('a plan that is stale', () => {
  const basis = { settings: 's', nodes: 'n', pods: 'p', budgets: 'b' };
  it.each([
    [
      { settings: 'x' },
      'settings (sizes, target, strategy, policies, updateConfig, drain, labels or taints)',
    ],
    [{ nodes: 'x', pods: 'x', budgets: 'x' }, 'old nodes and budgets'],
    [{ pods: 'x' }, 'pods on old nodes'],
  ])('with %j names what differs, and all that settings are', (more, words) => {
    expect(staleText(basis, { ...basis, ...more })).toBe(words);
  });
});

describe('an update by a plan', () => {
  const read = (plan: PlanFile, flags: Partial<Parameters<typeof readPlan>[2]> = {}) =>
    readPlan({ readFile: async () => printPlan(plan) }, 'p', {
      force: false,
      replaceEqual: false,
      policies: undefined,
      ...flags,
    });

  it('has the policies of the plan', async () => {
    expect((await read(aPlan())).request.policies).toEqual(request.policies);
  });

  it.each([
    [{ policies: { drain: { onTimeout: 'Pause' } } }, /leave .* policies out/],
    [{ strategy: 'MINIMAL' }, /leave .* strategy/],
    [{ releaseVersion: '1' }, /leave .* release/],
    [{ force: true }, /without --force/],
    [{ replaceEqual: true }, /without --replace-equal/],
  ] as const)('takes no %j besides', async (flags, words) => {
    await expect(read(aPlan(), flags)).rejects.toThrow(words);
  });

  it('takes --replace-equal once more, and records it', async () => {
    const plan = aPlan({ request: { ...request, replaceEqual: true } });
    expect(recordedOf(await read(plan, { replaceEqual: true }))).toMatchObject({
      replaceEqual: true,
    });
    expect(recordedOf(await read(aPlan()))).not.toHaveProperty('replaceEqual');
  });

  it('takes --force once more', async () => {
    const plan = aPlan({ request: { ...request, force: true } });
    expect(await read(plan, { force: true })).toMatchObject({ request: { force: true } });
  });

  it.each([
    [
      { verdict: 'blocked', findings: [bare] },
      /is blocked by bare-pod: .* with --waive .*plan again/,
    ],
    [
      { verdict: 'blocked', findings: [{ ...bare, check: 'other-actor', isRefused: true }] },
      /by other-actor: remove the causes; .* which no waiver changes. Then plan again/,
    ],
    [{ managedBy: 'eks' }, /EKS manages/],
  ])('is none of a plan with %j', async (more, words) => {
    await expect(read(aPlan(more))).rejects.toThrow(words);
  });
});
