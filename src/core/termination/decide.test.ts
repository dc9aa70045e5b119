import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aHook,
  aHookCause,
  aManualCause,
  aMarkedNode,
  aNode,
  aPod,
  blocked,
  confirmedByCloud,
  draining,
  kubeTimePlus,
  Model,
  observe,
  stepNames,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { decideDisruption } from './decide.ts';

describe('the way of a termination that nothing holds up', () => {
  it('marks, drains, settles, confirms, completes the hook and ends, in four status writes', () => {
    const model = new Model(observe({ pods: [aPod('p1')] }));
    expect(model.settle()).toEqual(['Marking', 'PatchNode', 'PatchNode', 'Draining']);
    expect(model.status).toMatchObject({
      episode: 1,
      node: { name: 'n1', uid: 'uid-n1' },
      markedAt: timePlus(0),
      deadline: timePlus(900),
      onDeadline: 'force',
      ownedMarks: { excludeLabel: true, unschedulable: true, taint: false, annotation: false },
      hooks: [{ name: 'Terminate-LC-Hook', state: 'Open', endsAt: timePlus(172_800) }],
    });
    model.change({ pods: [] });
    model.at(2);
    expect(model.settle()).toEqual([]);
    expect(decideDisruption(model.observation).waitingOn).toEqual([
      { kind: 'settling', until: timePlus(5) },
    ]);
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(5));
    model.at(5);
    expect(model.settle()).toEqual(['Confirm', 'Completing', 'CompleteHook', 'Ended']);
    expect(model.status).toMatchObject({
      outcome: 'Drained',
      endedAt: timePlus(5),
      hooks: [{ state: 'Completed', result: 'CONTINUE' }],
      conditions: [{ type: 'Drained', status: 'True', reason: 'Drained' }],
    });
  });
  it('marks with one patch in our own mode', () => {
    const options = { ...observe().options, compat: 'native' as const };
    const model = new Model(observe({ options }));
    expect(model.settle()).toEqual(['Marking', 'PatchNode', 'Draining']);
  });
});

describe('Pending', () => {
  it('completes the hook of an instance that never joined, once two servers agree', () => {
    const model = new Model(observe({ node: undefined }));
    expect(stepNames(decideDisruption(model.observation))).toEqual(['Confirm', 'Confirm']);
    const asked = ['Confirm', 'Confirm', 'Completing', 'CompleteHook', 'Ended'];
    const never = model.observation.disruption;
    const { nodeName: _name, ...spec } = never.spec;
    model.change({ disruption: { ...never, spec } });
    expect(model.settle()).toEqual(asked);
    expect(model.status).toMatchObject({
      outcome: 'NothingToDrain',
      message: 'the instance never became a node',
    });
  });
  it('waits for the cache when the server knows the node', () => {
    const model = new Model(observe({ node: undefined }));
    const memory = { ...model.observation.memory, instance: { at: tPlus(0), gone: false } };
    model.change({ memory: { ...memory, nodeListed: { at: tPlus(0), found: true } } });
    expect(model.settle()).toEqual([]);
    expect(decideDisruption(model.observation).waitingOn).toMatchObject([{ kind: 'api' }]);
    model.change({ node: aNode() });
    expect(model.settle()[0]).toBe('Marking');
  });
  it('says so when the instance is gone already', () => {
    const model = new Model(observe({ node: undefined }));
    model.instanceGone = true;
    model.settle();
    expect(model.status?.outcome).toBe('InstanceGone');
  });
  it('drains a node that comes back before its hook was completed for want of one', () => {
    const model = new Model(observe({ node: undefined }));
    for (let step = 0; model.status?.phase !== 'Completing'; step += 1) {
      const [next] = decideDisruption(model.observation).steps;
      if (next === undefined || step > 5) throw new Error('it never completes');
      model.apply(next);
    }
    expect(model.status?.outcome).toBe('NothingToDrain');
    const back = { ...model.observation, node: aNode({ uid: 'uid-new' }) };
    const again = decideDisruption(back);
    expect(stepNames(again)).toEqual(['Ended']);
    expect(again.steps[0]).toMatchObject({ status: { handledCauses: [] } });
    expect(decideDisruption(model.observation).steps.map(({ kind }) => kind)).toContain(
      'CompleteHook',
    );
  });
  it('ends without a trace on the node when it is withdrawn first', () => {
    const causes = [aManualCause({ cancelledAt: timePlus(0) })];
    const model = new Model(observe({ disruption: aDisruption(causes) }));
    expect(model.settle()).toEqual(['Ended']);
    expect(model.status?.outcome).toBe('Cancelled');
  });
});

describe('Marking', () => {
  it('repeats only the patch that is missing', () => {
    const model = new Model(observe());
    const [intent] = decideDisruption(model.observation).steps;
    if (intent === undefined) throw new Error('no intent');
    model.apply(intent);
    model.change({ node: aNode({ labels: { [exclude()]: 'true' } }) });
    expect(decideDisruption(model.observation).steps).toMatchObject([
      { kind: 'PatchNode', body: { spec: { unschedulable: true } } },
    ]);
  });
  it('does not take a cordon set between intent and patch for its own, in our own mode', () => {
    const options = { ...observe().options, compat: 'native' as const };
    const model = new Model(observe({ options }));
    const [intent] = decideDisruption(model.observation).steps;
    if (intent === undefined) throw new Error('no intent');
    model.apply(intent);
    // The patch failed with 409: an administrator wrote first.
    model.change({ node: aNode({ unschedulable: true, resourceVersion: '8' }) });
    expect(model.settle()).toEqual(['Marking', 'PatchNode', 'Draining']);
    expect(model.status?.ownedMarks).toMatchObject({ unschedulable: false, excludeLabel: true });
  });
  it('lets the hook go in time when the node cannot be marked', () => {
    const model = new Model(observe());
    const [intent] = decideDisruption(model.observation).steps;
    if (intent === undefined) throw new Error('no intent');
    model.apply(intent);
    model.at(900);
    expect(model.settle()).toEqual(['HeartbeatHook', 'Completing', 'CompleteHook', 'Ended']);
    expect(model.status).toMatchObject({ outcome: 'Forced' });
  });
});

const exclude = (): string => 'node.kubernetes.io/exclude-from-external-load-balancers';

describe('Draining', () => {
  it('marks again a node that registered anew, and one that lost a mark', () => {
    const model = draining([aHookCause()]);
    model.change({ node: aNode({ uid: 'uid-new' }) });
    expect(model.settle()).toEqual(['Marking', 'PatchNode', 'PatchNode', 'Draining']);
    expect(model.status?.node?.uid).toBe('uid-new');
    model.change({ node: aMarkedNode({ uid: 'uid-new', unschedulable: false }) });
    expect(model.settle()).toEqual(['Marking', 'PatchNode', 'Draining']);
  });
  it('asks the server again when its list knows pods that the watch does not', () => {
    const model = draining([aHookCause()], []);
    model.at(5);
    const memory = { ...model.observation.memory, listed: { at: tPlus(5), pods: [aPod('p9')] } };
    model.change({ memory });
    expect(model.settle()).toEqual([]);
    model.at(6);
    expect(model.settle()).toEqual(['Confirm', 'Completing', 'CompleteHook', 'Ended']);
  });
  it('does not believe a list that is older than the settling time', () => {
    const model = draining([aHookCause()], []);
    const memory = { ...model.observation.memory, listed: { at: tPlus(4), pods: [] } };
    model.change({ memory });
    model.at(5);
    expect(model.settle()[0]).toBe('Confirm');
  });
  it('counts terminating pods as there, and DaemonSet, mirror and finished ones as not', () => {
    const model = draining([aHookCause()], [aPod('p1', { deletionTimestamp: kubeTimePlus(30) })]);
    model.at(10);
    expect(model.settle()).toEqual([]);
    model.change({
      pods: [
        aPod('a', { owner: 'DaemonSet/x' }),
        aPod('b', { owner: 'Node/n1' }),
        aPod('c', { phase: 'Succeeded' }),
      ],
    });
    expect(model.settle()).toContain('Completing');
  });
  it('waits while the pods of the node are not listed yet', () => {
    const model = draining([aHookCause()]);
    model.change({ pods: undefined });
    model.at(10);
    expect(model.settle()).toEqual([]);
    expect(decideDisruption(model.observation).waitingOn).toMatchObject([{ kind: 'api' }]);
  });
  it('ends at once when a node that is not Ready turns out to have no instance', () => {
    const model = draining([aHookCause()]);
    model.instanceGone = true;
    model.change({ node: aMarkedNode({ ready: false }) });
    expect(model.settle()).toEqual(['Confirm', 'Completing', 'CompleteHook', 'Ended']);
    expect(model.status?.outcome).toBe('InstanceGone');
  });
  it('asks about a live instance only every 30 s', () => {
    const model = draining([aHookCause()]);
    model.change({ node: aMarkedNode({ ready: false }) });
    expect(model.settle()).toEqual(['Confirm']);
    model.at(29);
    expect(model.settle()).toEqual([]);
    model.at(30);
    expect(model.settle()).toEqual(['Confirm']);
  });
  it('records a pod that came back before it may be evicted', () => {
    const back = aPod('p1', { createdAt: kubeTimePlus(3), tolerations: [{ operator: 'Exists' }] });
    const model = draining([aHookCause()], []);
    model.at(4);
    model.change({ pods: [back] });
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status?.boomerangs).toEqual([{ owner: 'uid-web', podUids: ['uid-p1'] }]);
  });
});

describe('the deadline', () => {
  it('writes the intent to force when the first pod is due, and ends by force', () => {
    const model = draining([aHookCause()]);
    model.at(859);
    model.settle();
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(860));
    model.at(860);
    model.change({ blockers: blocked });
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status?.forcingSince).toBe(timePlus(860));
    model.at(900);
    expect(model.settle()).toEqual(['Completing', 'CompleteHook', 'Ended']);
    expect(model.status).toMatchObject({
      outcome: 'Forced',
      message: '1 pod was left at the deadline',
      podsRemaining: 1,
      waitingOn: [{ kind: 'pdb', pod: 'demo/p1' }],
    });
  });
  it('keeps an instance that must not be forced to the end of its hook, with heartbeats', () => {
    const model = draining([aHookCause({ onDeadline: 'fail' })]);
    let beats = 0;
    for (let at = 600; at < 172_740; at += 600) {
      model.at(at);
      beats += model.settle().filter((step) => step === 'HeartbeatHook').length;
    }
    expect(beats).toBe(287);
    expect(model.status?.forcingSince).toBeUndefined();
    model.at(172_740);
    expect(model.settle()).toEqual(['Completing', 'CompleteHook', 'Ended']);
    expect(model.status).toMatchObject({
      outcome: 'Failed',
      conditions: [{ type: 'Drained', status: 'False' }],
    });
  });
  it('fails a manual drain and leaves the node cordoned', () => {
    const model = draining([aManualCause({ deadline: timePlus(60) })]);
    model.at(60);
    expect(model.settle()).toEqual(['Completing', 'Ended']);
    expect(model.status?.outcome).toBe('Failed');
    expect(model.observation.node?.spec.unschedulable).toBe(true);
  });
  interface Late {
    readonly pods: readonly ReturnType<typeof aPod>[] | undefined;
    readonly listed?: readonly ReturnType<typeof aPod>[];
    readonly at: number;
  }
  type Row = readonly [string, DisruptionCause, Late, readonly string[], string | undefined];
  const short = aManualCause({ deadline: timePlus(3) });
  const hooked = aHookCause({ deadline: timePlus(60) });
  const [p1] = [aPod('p1')];
  const unlisted = { pods: undefined, at: 60 };
  const rows: readonly Row[] = [
    ['waits for an empty node to settle', short, { pods: [], at: 3 }, [], undefined],
    [
      'has not failed on an empty node',
      short,
      { pods: [], at: 5 },
      ['Confirm', 'Completing', 'Ended'],
      'Drained',
    ],
    ['counts what is left', short, { pods: [p1], at: 3 }, ['Completing', 'Ended'], 'Failed'],
    [
      'does not wait for a list for ever',
      short,
      { pods: [], at: 18 },
      ['Completing', 'Ended'],
      'Failed',
    ],
    [
      'asks about pods that are not listed',
      aManualCause({ deadline: timePlus(60) }),
      unlisted,
      ['Confirm', 'Completing', 'Ended'],
      'Drained',
    ],
    [
      'counts what the list then shows',
      aManualCause({ deadline: timePlus(60) }),
      { ...unlisted, listed: [p1] },
      ['Completing', 'Ended'],
      'Failed',
    ],
    [
      'lets a hook go without having forced an empty node',
      hooked,
      { pods: [], at: 60 },
      ['Confirm', 'Completing', 'CompleteHook', 'Ended'],
      'Drained',
    ],
    [
      'asks nobody once a hook is about to end',
      aHookCause({ onDeadline: 'fail' }),
      { pods: undefined, at: 172_740 },
      ['HeartbeatHook', 'Completing', 'CompleteHook', 'Ended'],
      'Failed',
    ],
  ];
  it.each(rows)('%s', (_name, cause, { pods, listed, at }, done, outcome) => {
    const model = draining([cause]);
    model.at(at);
    const now = tPlus(at);
    const { memory } = model.observation;
    if (listed !== undefined)
      model.change({ memory: { ...memory, listed: { at: now, pods: listed } } });
    model.change({ pods });
    expect(model.settle()).toEqual(done);
    expect(model.status?.outcome).toBe(outcome);
  });
  it('writes a nearer deadline before it is acted on', () => {
    const model = draining([aHookCause()]);
    const spot: DisruptionCause = {
      kind: 'SpotInterruption',
      ...confirmedByCloud,
      id: 'spot/1',
      receivedAt: timePlus(60),
      deadline: timePlus(180),
      onDeadline: 'force',
      followUp: 'Release',
    };
    model.at(60);
    model.causes([aHookCause(), spot]);
    expect(model.settle()).toEqual(['Draining']);
    expect(model.status?.deadline).toBe(timePlus(180));
  });
});

describe('heartbeats', () => {
  const short = aHookCause({ hook: aHook({ heartbeatTimeoutSeconds: 30 }) });
  it.each([
    [30, 10],
    [60, 20],
    [1800, 600],
    [7200, 600],
  ])('a timeout of %d s: every %d s', (heartbeatTimeoutSeconds, interval) => {
    const model = draining([aHookCause({ hook: aHook({ heartbeatTimeoutSeconds }) })]);
    model.at(interval - 0.001);
    expect(model.settle()).toEqual([]);
    model.at(interval);
    expect(model.settle()).toEqual(['HeartbeatHook']);
    expect(model.settle()).toEqual([]);
    expect(decideDisruption(model.observation).nextCheckAt).toBeLessThanOrEqual(
      tPlus(2 * interval),
    );
  });
  it('begin at once for a hook found by polling, since nobody knows when it began', () => {
    const { token: _token, ...polled } = aHook();
    const model = new Model(observe({ disruption: aDisruption([aHookCause({ hook: polled })]) }));
    expect(stepNames(decideDisruption(model.observation))[0]).toBe('HeartbeatHook');
  });
  it('stand before every other step, so that nothing holds them up', () => {
    const model = draining([short]);
    model.at(10);
    model.change({ node: aNode({ uid: 'uid-new' }) });
    expect(stepNames(decideDisruption(model.observation))[0]).toBe('HeartbeatHook');
  });
  it('are tried again 1, 2, 4 s after a failure', () => {
    const model = draining([short]);
    model.at(10);
    const failed = (failures: number) => {
      const seen = { failures, lastAttemptAt: tPlus(10) };
      const hooks = new Map([['asg-1/Terminate-LC-Hook', seen]]);
      model.change({ memory: { ...model.observation.memory, hooks } });
      return decideDisruption(model.observation).nextCheckAt;
    };
    expect([failed(1), failed(2), failed(3)]).toEqual([tPlus(11), tPlus(12), tPlus(14)]);
  });
  it('stop when the hook is no longer there, and the instance is looked for', () => {
    const model = draining([short]);
    model.at(10);
    const gone = { result: 'Gone' as const, failures: 0, lastAttemptAt: tPlus(10) };
    const hooks = new Map([['asg-1/Terminate-LC-Hook', gone]]);
    model.change({ memory: { ...model.observation.memory, hooks } });
    expect(model.settle()).toEqual(['Confirm', 'Draining']);
    expect(model.status?.hooks).toMatchObject([{ state: 'Gone' }]);
  });
  it('end with the hook', () => {
    const model = draining([short]);
    model.at(3_001);
    expect(model.settle()).not.toContain('HeartbeatHook');
  });
});
