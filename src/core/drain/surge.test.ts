// Surge and swap: the order of the writes, their fences, and what ends a swap.
import { describe, expect, it } from 'vitest';
import {
  aBudget,
  aDrain,
  aPod,
  kinds,
  names,
  run,
  tPlus,
} from '../../../test/builders/core-drain.ts';
import { durationMs } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Deployment, Pod } from '../../api/kube.ts';
import { defaultLimits } from './account.ts';
import { allocate } from './allocate.ts';
import { BudgetIndex } from './budgets.ts';
import { Ledger } from './ledger.ts';
import { decideSurge, isOfDeployment, surgeBlocker, surgeUntil } from './surge.ts';

const cost = { 'controller.kubernetes.io/pod-deletion-cost': '-2147483648' };
const pod = (annotations: Readonly<Record<string, string>> = cost): Pod =>
  aPod('p1', {
    owner: 'ReplicaSet/web-5d4f',
    labels: { app: 'web', 'pod-template-hash': '5d4f' },
    annotations,
  });
const state = (from: number, to: number): string =>
  JSON.stringify({ from, to, startedAt: '2026-01-01T00:00:00.000Z' });

interface Given {
  readonly replicas?: number;
  readonly ready?: number;
  readonly observed?: number;
  readonly state?: string;
}
const web = ({ replicas = 1, ready = replicas, observed = 2, state: text }: Given = {}) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'demo',
      uid: 'uid-web',
      resourceVersion: '1',
      generation: 2,
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { own: 'a', ...(text === undefined ? {} : { 'drover.dev/surge-state': text }) },
    },
    spec: { replicas, selector: { matchLabels: { app: 'web' } } },
    status: {
      observedGeneration: observed,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: ready,
      availableReplicas: ready,
    },
  }) satisfies Deployment;

const doomed = (one: Pod) => [{ pod: one, until: tPlus(300) }];
const decide = (deployment: Deployment, ...pods: readonly Pod[]) =>
  decideSurge(deployment, pods.flatMap(doomed), tPlus(0));
const stepsOf = (deployment: Deployment, ...pods: readonly Pod[]): readonly string[] =>
  decide(deployment, ...pods).steps.map(({ kind }) => kind);

describe('decideSurge', () => {
  const rows: readonly [string, Deployment, readonly Pod[], readonly string[]][] = [
    ['nothing to do without pods on draining nodes', web(), [], []],
    ['the cost comes first', web(), [pod({})], ['cost']],
    ['then the surge', web(), [pod()], ['raise']],
    ['not during a rollout', web({ observed: 1 }), [pod()], []],
    ['nor while a replica is not Ready', web({ ready: 0 }), [pod()], []],
    ['waits for the replacement', web({ replicas: 2, ready: 1, state: state(1, 2) }), [pod()], []],
    ['scales back when it is Ready', web({ replicas: 2, state: state(1, 2) }), [pod()], ['lower']],
    [
      'scales back when nothing is left to swap',
      web({ replicas: 2, ready: 1, state: state(1, 2) }),
      [],
      ['lower'],
    ],
    ['leaves the size of others', web({ replicas: 5, state: state(1, 2) }), [pod()], ['forget']],
    [
      'takes no state that is not its own',
      web({ replicas: 2, state: '{"from":2,"to":2}' }),
      [pod()],
      ['raise'],
    ],
  ];
  it.each(rows)('%s', (_name, deployment, pods, expected) => {
    expect(stepsOf(deployment, ...pods)).toEqual(expected);
  });

  it('fences each write with what it read', () => {
    const [raise] = decide(web({ replicas: 3 }), pod()).steps;
    expect(raise?.body.filter(({ op }) => op === 'test')).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-web' },
      { op: 'test', path: '/spec/replicas', value: 3 },
    ]);
    expect(raise?.body.at(-1)).toEqual({ op: 'replace', path: '/spec/replicas', value: 4 });
    const open = web({ replicas: 4, state: state(3, 4) });
    const [lower] = decide(open, pod()).steps;
    const tests: readonly JsonObject[] = lower?.body.filter(({ op }) => op === 'test') ?? [];
    expect(tests.map(({ path, value }) => [path, value])).toEqual([
      ['/metadata/uid', 'uid-web'],
      ['/metadata/annotations/drover.dev~1surge-state', state(3, 4)],
      ['/spec/replicas', 4],
    ]);
  });

  it('swaps only pods of its own ReplicaSets', () => {
    const other = aPod('p2', {
      owner: 'ReplicaSet/web-api-5d4f',
      labels: { app: 'web', 'pod-template-hash': '5d4f' },
    });
    expect([pod(), other, aPod('p3')].map((one) => isOfDeployment(one, web()))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('surgeUntil', () => {
  it.each([
    [300, undefined, 300],
    [300, 900, 300],
    [300, 120, 60],
    [0, 900, 0],
  ])('%i s before a deadline at %s: %i', (waitSeconds, deadline, expected) => {
    const until = surgeUntil({
      startedAt: tPlus(0),
      waitMs: durationMs(waitSeconds * 1000),
      deadline: deadline === undefined ? undefined : tPlus(deadline),
    });
    expect(until).toBe(tPlus(expected));
  });
});

describe('allocate', () => {
  it('evicts no pod that is being swapped, whatever its budget allows, unless it is forced', () => {
    const one = { pod: pod(), until: tPlus(300) };
    const swaps = new Map([['uid-p1', surgeBlocker(one, web(), 'is scaled from 1 to 2')]]);
    const drains = [aDrain([one.pod])];
    const input = {
      drains,
      budgets: new BudgetIndex([aBudget('web', { allowed: 1 })]),
      ledger: new Ledger(),
      now: tPlus(0),
      limits: defaultLimits,
    };
    const held = allocate({ ...input, swaps });
    expect([names(held), kinds(held), held.nextCheckAt]).toEqual([[], ['surge'], tPlus(300)]);
    expect(names(run({ drains, budgets: [aBudget('web')] }))).toEqual(['p1']);
    const window = {
      startedAt: tPlus(-900),
      deadline: tPlus(5),
      onDeadline: 'force' as const,
      safetyMs: 10_000,
    };
    const due = { ...input, drains: [aDrain([one.pod], { window, forcing: true })] };
    expect(names(allocate({ ...due, swaps }))).toEqual(['delete p1']);
  });
});
