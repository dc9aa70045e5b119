import { describe, expect, it } from 'vitest';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { Step } from '../../api/plan.ts';
import { explainDisruption, explainPlan, explainWaiting } from './index.ts';

const forceAt = '2026-01-01T00:14:20.000Z';
const since = '2026-01-01T00:00:02.000Z';
const pdb = {
  kind: 'pdb' as const,
  pod: 'demo/p1',
  budgets: ['demo/web'],
  owner: 'ReplicaSet/web',
  message: 'The disruption budget web needs 2 healthy pods and has 2 currently',
  neverAllows: false,
};

describe('explainWaiting', () => {
  const rows: readonly [string, WaitingOn, string][] = [
    [
      'a budget: pod, owner, budget, since when, what frees it, when it is forced',
      { ...pdb, since, forceAt },
      'pod demo/p1 of ReplicaSet/web waits for budget demo/web (The disruption budget web needs 2 ' +
        `healthy pods and has 2 currently), since ${since}; a Ready replacement frees it; ` +
        `forced at ${forceAt}`,
    ],
    [
      'a budget that never allows, in a drain that never forces',
      { ...pdb, neverAllows: true },
      'pod demo/p1 of ReplicaSet/web waits for budget demo/web (The disruption budget web needs 2 ' +
        'healthy pods and has 2 currently); this budget never allows an eviction: only changing or ' +
        'deleting it, or the pod, helps; never forced',
    ],
    [
      'a budget that asks for every replica',
      { ...pdb, freedBy: 'scaleUp', message: 'm' },
      'pod demo/p1 of ReplicaSet/web waits for budget demo/web (m); every replica is needed: one ' +
        'more replica, or a lower minAvailable, frees it; never forced',
    ],
    [
      'two budgets',
      { kind: 'multiplePdbs', pod: 'demo/p1', budgets: ['demo/a', 'demo/b'], forceAt },
      'pod demo/p1 is selected by 2 budgets (demo/a, demo/b), which Kubernetes refuses to evict; ' +
        `one budget per pod frees it; forced at ${forceAt}`,
    ],
    [
      'a token that was burnt',
      { kind: 'budgetHeld', pod: 'demo/p1', budget: 'demo/web', until: since },
      `pod demo/p1 waits for budget demo/web, held until ${since} by an eviction that found its ` +
        'pod replaced; never forced',
    ],
    [
      'finalizers',
      {
        kind: 'termination',
        pod: 'demo/p1',
        since,
        graceEndsAt: forceAt,
        why: 'finalizers',
        finalizers: ['x/y'],
      },
      `pod demo/p1 has stopped but is kept by finalizers x/y, since ${since}; grace ended at ${forceAt}`,
    ],
    [
      'an eviction that fails',
      { kind: 'evictionError', pod: 'demo/p1', code: 'Forbidden', message: 'no', retryAt: since },
      `pod demo/p1 could not be evicted: Forbidden: no; tried again at ${since}; never forced`,
    ],
    [
      'a tier',
      { kind: 'tier', pod: 'kube-system/dns', podsBefore: 1 },
      'pod kube-system/dns is system-critical and goes after 1 other pod; never forced',
    ],
    [
      'the batch',
      { kind: 'batch', nodes: ['n2', 'n3'], until: since },
      `nodes of the same batch are being marked first: n2, n3; at most until ${since}`,
    ],
    [
      'a batch that is still growing',
      { kind: 'batch', nodes: [], until: since },
      `more nodes are being asked for, which are marked first; at most until ${since}`,
    ],
    [
      'the time between empty and terminate',
      { kind: 'cooldown', until: since },
      `drained; load balancers let go of the node until ${since}, then its instance is terminated`,
    ],
    [
      'hooks before its end',
      { kind: 'terminationHold', by: 'update u-1' },
      'drained; the instance is terminated when update u-1 lets it go, which runs its hooks first',
    ],
    [
      'its turn in an update',
      { kind: 'hold', by: 'update u-1' },
      'the node is marked and waits for its turn in update u-1',
    ],
    [
      'a hook',
      { kind: 'hook', autoScalingGroupName: 'asg', hookName: 'h', message: 'throttled' },
      'hook h of asg: throttled',
    ],
  ];
  it.each(rows)('%s', (_name, waiting, line) => {
    expect(explainWaiting(waiting)).toBe(line);
  });
});

describe('explainDisruption', () => {
  const disruption: NodeDisruption = {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'i-1', uid: 'u', resourceVersion: '1', creationTimestamp: since },
    spec: {
      instanceId: 'i-1',
      nodeName: 'n1',
      causes: [
        {
          kind: 'Manual',
          id: 'm',
          receivedAt: since,
          onDeadline: 'fail',
          followUp: 'Release',
          requestedBy: 'ada',
          reason: 'kernel',
        },
      ],
    },
    status: {
      episode: 1,
      phase: 'Draining',
      deadline: forceAt,
      onDeadline: 'force',
      node: { name: 'n1', uid: 'u1' },
      podsTotal: 30,
      podsRemaining: 25,
      waitingOn: [{ ...pdb, message: 'm' }],
      waitingOnTotal: 25,
      hooks: [{ autoScalingGroupName: 'asg', name: 'h', state: 'Open', endsAt: forceAt }],
    },
  };
  it.each([
    ['; it no longer holds: EC2: running again', '2026-01-01T00:00:05.000Z'],
    ['; not acted on, the cloud does not confirm it: EC2: running again', undefined],
  ])('says of a refuted cause%s', (said, markedAt) => {
    const cause = {
      kind: 'StateChange' as const,
      id: 's',
      receivedAt: since,
      onDeadline: 'force' as const,
      followUp: 'Release' as const,
      confirmation: { state: 'Refuted' as const, reason: 'EC2: running again', at: forceAt },
    };
    const status = { episode: 1, phase: 'Ended' as const, ...defined({ markedAt }) };
    const spec = { ...disruption.spec, causes: [cause] };
    expect(explainDisruption({ ...disruption, spec, status })[1]).toBe(
      `because of StateChange, received ${since}${said}`,
    );
  });

  it('says what is, why, until when, what is waited for and by whom', () => {
    expect(explainDisruption(disruption)).toEqual([
      'node n1: being drained',
      `because of Manual by ada (kernel), received ${since}`,
      `deadline ${forceAt}: what is left then is deleted, budgets or not`,
      'pods left: 25 of 30',
      'waits: pod demo/p1 of ReplicaSet/web waits for budget demo/web (m); a Ready replacement ' +
        'frees it; never forced',
      'waits: and 24 more',
      `hook h of asg: open, kept open until ${forceAt} at the latest`,
    ]);
  });
  it('prefers the blockers of the plan of this moment', () => {
    const plan = { subject: 'i-1', steps: [], waitingOn: [{ kind: 'marks', node: 'n1' } as const] };
    expect(explainDisruption(disruption, { plan })).toContain(
      'waits: node n1 does not show its marks yet',
    );
  });
  it('does not say that a held node is being drained', () => {
    const status = { ...disruption.status, episode: 1, phase: 'Draining' as const };
    const waitingOn = [{ kind: 'hold' as const, by: 'update u-1' }];
    const held = { ...disruption, status: { ...status, waitingOn, waitingOnTotal: 1 } };
    const lines = explainDisruption(held);
    expect(lines[0]).toBe('node n1: marked, with all its pods');
    expect(lines).toContain('waits: the node is marked and waits for its turn in update u-1');
  });
  it('knows a disruption that no one has looked at yet', () => {
    const { status: _none, ...fresh } = disruption;
    expect(explainDisruption(fresh)[0]).toBe('node n1: recorded, not begun');
  });
});

describe('explainPlan', () => {
  const hook = { autoScalingGroupName: 'asg', hookName: 'h', instanceId: 'i-1' };
  const steps: readonly [Step, string][] = [
    [{ kind: 'HeartbeatHook', ...hook }, 'keep hook h of asg waiting'],
    [{ kind: 'CompleteHook', ...hook, result: 'CONTINUE' }, 'complete hook h of asg: CONTINUE'],
    [
      { kind: 'TerminateInstance', instanceId: 'i-1', decrementDesired: true },
      'terminate instance i-1 and let its group shrink',
    ],
    [
      { kind: 'Confirm', what: 'nodeEmpty', subject: 'n1' },
      'ask the server whether the node is empty: n1',
    ],
  ];
  it.each(steps)('%j', (step, line) => {
    expect(explainPlan({ subject: 'i-1', steps: [step], waitingOn: [] })).toEqual([line]);
  });
});

it('tells causes in the order in which they came', () => {
  const cause = (id: string, receivedAt: string) =>
    ({
      kind: 'Manual',
      id,
      reason: id,
      receivedAt,
      onDeadline: 'fail',
      followUp: 'Release',
    }) as const;
  const [, first, second] = explainDisruption({
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'i-1', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: {
      causes: [cause('b', '2026-01-01T00:01:00.000Z'), cause('a', '2026-01-01T00:00:00.000Z')],
    },
  });
  expect([first, second]).toEqual([expect.stringContaining('(a)'), expect.stringContaining('(b)')]);
});
