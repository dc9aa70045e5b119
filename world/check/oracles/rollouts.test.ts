// Canaries of the oracles about version updates: pace, pods that move twice, leftovers and end.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { group, i1, i2, judge, kubectl, Story, us } from '../../../test/builders/world-check.ts';
import { liveness } from './liveness/index.ts';
import { surgeMoves } from './surge-moves/index.ts';
import { updateMarks } from './update-marks/index.ts';
import { updatePace } from './update-pace/index.ts';

const i3 = 'i-0123456789abcdef2';
const imageLabel = 'eks.amazonaws.com/nodegroup-image';
const groupLabel = 'eks.amazonaws.com/nodegroup';
const kept = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
const shield = 'drover.dev/scale-down-disabled-by';

interface Made {
  readonly image?: string;
  readonly annotations?: JsonObject;
  readonly isOutdated?: boolean;
  readonly ready?: boolean;
  readonly zone?: string;
  readonly pods?: string;
}

const node = (story: Story, name: string, instance: string, made: Made = {}): Story => {
  const { image = 'ami-1', annotations = {}, isOutdated = false, ready = true, zone = 'a' } = made;
  const room = made.pods === undefined ? {} : { allocatable: { pods: made.pods } };
  return story.object('nodes', {
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: { [imageLabel]: image, [groupLabel]: 'ng1' },
      annotations,
    },
    spec: {
      providerID: `aws:///eu-west-1${zone}/${instance}`,
      ...(isOutdated
        ? { taints: [{ key: 'drover.dev/outdated', effect: 'PreferNoSchedule' }] }
        : {}),
    },
    status: { ...room, conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }] },
  });
};

const update = (story: Story, status: JsonObject, spec: JsonObject = {}): Story =>
  story.object('nodegroupupdates', {
    metadata: { name: 'u', uid: 'uid-u' },
    spec: { nodeGroup: 'ng1', type: 'VersionUpdate', ...spec },
    status: {
      status: 'InProgress',
      strategy: 'SURGE',
      maxUnavailable: 1,
      surge: 1,
      original: { minSize: 0, maxSize: 5, desired: 2 },
      target: { imageId: 'ami-2', templateVersion: '2', version: '1.32' },
      ...status,
    },
  });

const groupOf = (story: Story, desired: number, more: JsonObject = {}): Story =>
  story.object('nodegroups', {
    metadata: { name: 'ng1', uid: 'uid-ng1' },
    spec: { autoScalingGroupName: group, scaling: { minSize: 0, maxSize: 5, desired } },
    status: { desired, minSize: 0, maxSize: 5, ...more },
  });

/** Two old nodes and a new one, and the update that replaces them. */
const rolling = (fresh: Made = { image: 'ami-2' }, clockSkew = 0): Story => {
  const story = groupOf(new Story({ settled: true, clockSkew }), 2);
  for (const one of [i1, i2, i3]) story.state(one, 'InService');
  node(node(story, 'n1', i1), 'n2', i2);
  update(node(story, 'n3', i3, fresh), { phase: 'Rolling' });
  return node(story.at(100), 'n3', i3, fresh);
};

const cause = { kind: 'Update', id: 'update/u', onDeadline: 'fail', followUp: 'Replace' } as const;
const take = (story: Story, instance: string, name: string, more = {}): Story =>
  story.disruption(instance, {
    node: name,
    causes: [{ ...cause, ...more }],
    status: { phase: 'Draining' },
  });

describe('updates-keep-their-pace', () => {
  const said = (story: Story) => judge(updatePace, story).said;

  it('accepts one node after the other', () => {
    const story = take(rolling(), i1, 'n1').at(300).state(i1, 'Terminated');
    expect(judge(updatePace, take(story.at(310), i2, 'n2'))).toEqual({ said: [], saw: 2 });
  });
  it('reports a second one while the first has not left', () => {
    const story = take(rolling(), i1, 'n1').at(300).state(i1, 'Terminating:Wait');
    const told = ['u: 2 nodes are out of service at once, of 1 that may'];
    expect(said(take(story.at(303), i2, 'n2'))).toEqual(told);
    // If its termination is too recent to be known, the instance still counts as serving.
    expect(said(take(take(rolling(), i1, 'n1').at(101), i2, 'n2'))).toEqual(told);
  });
  it('leaves out one whose time is over, and that others drain on', () => {
    const timed = { deadline: 1000 };
    const on = take(rolling(), i1, 'n1', timed);
    const told = ['u: 2 nodes are out of service at once, of 1 that may'];
    expect(said(take(on.at(1119), i2, 'n2'))).toEqual(told);
    expect(said(take(take(rolling(), i1, 'n1', timed).at(1121), i2, 'n2'))).toEqual([]);
    // A leader with a fast clock reaches that time earlier by its skew, and not before.
    const ahead = () => take(rolling({ image: 'ami-2' }, 60_000_000), i1, 'n1', timed);
    expect(said(take(ahead().at(1061), i2, 'n2'))).toEqual([]);
    expect(said(take(ahead().at(1059), i2, 'n2'))).toEqual(told);
    // Drained in time, and kept during its cooldown.
    const empty = { phase: 'Completing', outcome: 'Drained', episode: 1 };
    const kept = take(rolling(), i1, 'n1', timed).at(900);
    kept.disruption(i1, { node: 'n1', causes: [{ ...cause, ...timed }], status: empty });
    expect(said(take(kept.at(1121), i2, 'n2'))).toEqual(told);
  });
  it('leaves out one that blue/green has emptied and keeps, whatever comes to it after', () => {
    const kept = { ...cause, followUp: 'Release' as const };
    const over = { phase: 'Ended', outcome: 'Drained', episode: 1, handledCauses: [cause.id] };
    const story = take(rolling(), i1, 'n1', kept).at(110);
    story.disruption(i1, { node: 'n1', causes: [kept], status: over }).at(200);
    const spot = { kind: 'SpotInterruption', id: 's' } as const;
    const again = { ...over, phase: 'Pending', episode: 2 };
    story.disruption(i1, { node: 'n1', causes: [kept, spot], status: again });
    expect(said(take(story.at(210), i2, 'n2', kept))).toEqual([]);
    // EC2 interrupts it: it no longer counted as capacity. A node that is still being drained does.
    const leaves = (status: JsonObject) => {
      const begun = take(rolling(), i1, 'n1', kept).at(110);
      begun.disruption(i1, { node: 'n1', causes: [kept], status }).at(200);
      return said(take(begun.state(i1, 'Terminating:Wait').at(300), i2, 'n2', kept));
    };
    expect(leaves(over)).toEqual([]);
    expect(leaves({ phase: 'Draining', episode: 1 })).toHaveLength(1);
  });
  it('reports one whose loss leaves too few, but for one that does not serve itself', () => {
    const silent = (story: Story) => node(story, 'n3', i3, { image: 'ami-2', ready: false });
    const story = silent(rolling()).at(110);
    node(story, 'n2', i2, { ready: false }).at(120);
    expect(said(take(story, i1, 'n1'))).toEqual([
      'u: 0 nodes are left to serve, of 2 wanted less 1',
    ]);
    const other = silent(rolling()).at(110);
    node(other, 'n2', i2, { ready: false }).at(120);
    expect(said(take(other, i2, 'n2'))).toEqual([]);
  });
});

describe('updates-keep-their-pace, by zones', () => {
  const ids = Array.from({ length: 6 }, (_, i) => `i-0000000000000000${i}`);
  const nameOf = (id: string): string => `z${id.at(-1)}`;
  const idOf = (i: number): string => ids[i] ?? '';
  /** Two nodes in each of three zones, none of them new. */
  const even = (faults: readonly string[] = []): Story => {
    const story = groupOf(new Story(), 6);
    for (const [i, id] of ids.entries()) {
      node(story.state(id, 'InService'), nameOf(id), id, { zone: 'abc'[i % 3] ?? 'a' });
    }
    update(story.at(50), { phase: 'Preparing', maxUnavailable: 1 });
    for (const fault of faults) story.fault(fault, 'on');
    const original = { minSize: 0, maxSize: 9, desired: 3 };
    return groupOf(update(story.at(100), { phase: 'Rolling', original }), 3).at(200);
  };
  /** One after the other: each is terminated before the next drain. */
  const gone = (story: Story, ...some: readonly number[]): Story => {
    for (const [nth, i] of some.entries()) {
      const goes = { followUp: 'Terminate' } as const;
      take(story.at(200 + 200 * nth), idOf(i), nameOf(idOf(i)), goes);
      story.at(300 + 200 * nth).state(idOf(i), 'Terminated');
    }
    return story;
  };
  const told = 'u: zones differ by 2 nodes, by 0 before it, and z1 of eu-west-1b could have gone';
  const said = (story: Story) => judge(updatePace, story).said;

  it('accepts one of each', () => {
    expect(said(gone(even(), 0, 1, 2))).toEqual([]);
  });
  it('reports two of one zone where one of another could have gone', () => {
    expect(said(gone(even(), 0, 3))).toEqual([told]);
  });
  it('leaves what a shortage made of it', () => {
    expect(said(gone(even(['no-capacity']), 0, 3))).toEqual([]);
  });
});

describe('surge-moves-pods-once', () => {
  const said = (story: Story) => judge(surgeMoves, story).said;

  it('accepts an old node that is emptied beside a new one', () => {
    const story = take(rolling().pod('p1'), i1, 'n1').at(101).evict('p1');
    expect(judge(surgeMoves, story)).toEqual({ said: [], saw: 2 });
  });
  it('reports a new node that is emptied, but not where all is set back', () => {
    expect(said(take(rolling(), i3, 'n3'))).toEqual(['n3: is emptied, and it is new']);
    const back = update(rolling(), { phase: 'Restoring', ending: 'Failed' });
    expect(said(take(back, i3, 'n3'))).toEqual([]);
  });
  it('reports an old node that is emptied before any new one has been Ready', () => {
    const fresh = { image: 'ami-2', ready: false };
    const told = ['n1: is emptied before any new node has been Ready'];
    expect(said(take(rolling(fresh), i1, 'n1'))).toEqual(told);
    // More nodes than desired existed at the start.
    const original = { minSize: 0, maxSize: 5, desired: 1 };
    const more = update(rolling(fresh), { phase: 'Rolling', original });
    expect(said(take(more, i1, 'n1'))).toEqual([]);
    // Ready since before the update: an update back to the old revision finds untouched nodes.
    const there = node(groupOf(new Story({ settled: true }), 2), 'n3', i3, { image: 'ami-2' });
    const back = update(node(there, 'n1', i1).at(50), { phase: 'Rolling' });
    expect(said(take(node(back, 'n2', i2), i1, 'n1'))).toEqual([]);
    // An operator has lowered the size since.
    const fewer = groupOf(rolling(fresh), 1).at(200);
    expect(said(take(fewer, i1, 'n1'))).toEqual([]);
  });
  it('reports a pod that took an old node beside a free one, but not where it keeps apart', () => {
    const apart = { affinity: { podAntiAffinity: {} } };
    const moved = (spec: JsonObject, fellow: string) => {
      const story = node(rolling(), 'n3', i3, { image: 'ami-2', pods: '29' });
      story.pod('p2', { node: fellow }).at(300).pod('p1', { node: 'n2', spec });
      return said(take(story.at(310), i2, 'n2').at(311).evict('p1', { node: 'n2' }));
    };
    const told = ['demo/p1: sent away once more, and n3 was free for it'];
    expect(moved({}, 'n3')).toEqual(told);
    expect(moved(apart, 'n1')).toEqual(told);
    expect(moved(apart, 'n3')).toEqual([]);
  });
  it('leaves what others ask for of the same node', () => {
    const both = [cause, { kind: 'SpotInterruption', id: 's' }];
    const story = rolling().disruption(i3, { node: 'n3', causes: both });
    expect(said(story)).toEqual([]);
  });
});

describe('updates-leave-nothing', () => {
  const said = (story: Story) => judge(updateMarks, story).said;
  const over = (story: Story) => update(story, { phase: 'Ended', status: 'Successful' });
  const annotate = (story: Story, value: string | null, by: string) =>
    story.request({
      verb: 'patch',
      resource: 'nodes',
      name: 'n1',
      by,
      body: { metadata: { annotations: { [kept]: value } } },
    });

  it('accepts an end without a trace', () => {
    const story = annotate(annotate(rolling(), 'true', us), null, us);
    expect(said(over(story).at(900))).toEqual([]);
  });
  it('reports our annotation and our taint that stay', () => {
    const annotations = { [kept]: 'true', [shield]: 'u' };
    const story = node(rolling(), 'n1', i1, { annotations, isOutdated: true });
    annotate(story, 'true', us).at(200);
    expect(said(over(story))).toEqual([
      'n1: u is over, and its annotation stayed',
      'n1: no update is under way, and our taint drover.dev/outdated stayed',
      'n1: no update is under way, and our drover.dev/scale-down-disabled-by stayed',
      `n1: no update is under way, and our ${kept} stayed`,
    ]);
  });
  it('reports the mark of a sequence that stays', () => {
    const story = rolling().object('nodes', {
      metadata: { name: 'n9', uid: 'uid-n9', labels: { [groupLabel]: 'ng1' } },
      spec: {
        taints: [{ key: 'drover.dev/awaiting-update', value: 's', effect: 'PreferNoSchedule' }],
      },
    });
    expect(said(over(story))).toEqual([
      'n9: no update is under way, and our taint drover.dev/awaiting-update stayed',
    ]);
  });
  it('reports the annotation of others that is taken away, unless it came a moment ago', () => {
    const taken = (seconds: number) => {
      const story = annotate(rolling(), 'true', kubectl).at(100 + seconds);
      return said(over(annotate(story, null, us)));
    };
    expect(taken(10)).toEqual([`n1: ${kept} of others was taken away`]);
    expect(taken(1)).toEqual([]);
    // Set by another client just before the controller's note, which claims it.
    const beside = node(rolling(), 'n1', i1, { annotations: { [kept]: 'true', [shield]: 'u' } });
    const again = annotate(annotate(beside, 'true', us).at(10), null, kubectl).at(20);
    expect(said(over(annotate(annotate(again, 'true', kubectl).at(200), null, us)))).not.toContain(
      `n1: ${kept} of others was taken away`,
    );
  });
  it('reports a value of others that is not restored', () => {
    const restored = (value: string | null) => {
      const story = annotate(annotate(rolling(), 'false', kubectl).at(110), 'true', us);
      return said(over(annotate(story.at(200), value, us)));
    };
    expect(restored(null)).toEqual([`n1: ${kept}=false of others was not restored`]);
    expect(restored('false')).toEqual([]);
  });
  it('reports a process that stays suspended, and one of others that is resumed', () => {
    const scaling = (story: Story, suspended: readonly string[], maxSize = 5) =>
      story.add({
        kind: 'scaling',
        at: story.micros,
        autoScalingGroupName: group,
        minSize: 0,
        maxSize,
        desired: 2,
        suspended,
      });
    const input = { AutoScalingGroupName: group, ScalingProcesses: ['AZRebalance'] };
    const ours = scaling(rolling().call('SuspendProcesses', input), ['AZRebalance']);
    expect(said(over(ours))).toEqual([
      `${group}: no update is under way, and our AZRebalance stayed suspended`,
    ]);
    const resumed = (story: Story) => {
      const [service, userAgent] = ['autoscaling', 'aws-cli'];
      const call = { service, operation: 'SuspendProcesses', userAgent, input };
      const theirs = story.add({ kind: 'call', at: story.micros, ...call });
      return said(over(scaling(theirs.at(200).call('ResumeProcesses', input), [])));
    };
    const told = [`${group}: AZRebalance, which others had suspended, was resumed`];
    expect(resumed(rolling())).toEqual(told);
    // Noted by an update in progress as its own: the two suspensions cannot be told apart.
    const noted = () => update(rolling(), { phase: 'Rolling', suspends: ['AZRebalance'] });
    expect(resumed(noted())).toEqual([]);
    expect(resumed(noted().call('SuspendProcesses', input).at(110))).toEqual([]);
    // The update has ended: a later suspension belongs to others.
    const done = over(noted().call('SuspendProcesses', input).at(110));
    expect(resumed(done.call('ResumeProcesses', input).at(120))).toEqual(told);
    expect(said(over(scaling(rolling(), [], 7)))).toEqual([
      `${group}: no update is under way, sizes are 0 to 7, not 0 to 5`,
    ]);
  });
});

describe('everything-ends, of updates', () => {
  const said = (story: Story) => judge(liveness, story).said;

  it('accepts one that is over, and one that a user paused for long', () => {
    const story = update(rolling(), { phase: 'Rolling' }, { paused: true }).at(7200);
    expect(said(update(story, { phase: 'Ended', status: 'Failed' }))).toEqual([]);
  });
  it('accepts one that waits for another for as long as that takes, and no other that is Pending', () => {
    const queued = (startedAt: JsonObject): Story => {
      const story = update(rolling(), { phase: 'Ended', status: 'Failed' });
      story.object('nodegroupupdates', {
        metadata: { name: 'next', uid: 'uid-next' },
        spec: { nodeGroup: 'ng1', type: 'VersionUpdate' },
        status: { status: 'InProgress', phase: 'Pending', ...startedAt },
      });
      return node(story.at(3800), 'n1', i1);
    };
    expect(said(queued({}))).toEqual(['next: still Pending']);
    expect(said(queued({ startedAt: '2022-09-25T13:00:00Z' }))).toEqual([
      'next: in Pending for 61 min',
      'next: still Pending',
    ]);
  });
  it('reports one that stalls, and one that is open in the end', () => {
    const story = update(rolling(), { phase: 'Rolling' });
    expect(said(node(story.at(3800), 'n1', i1))).toEqual([
      'u: in Rolling for 63 min',
      'u: still Rolling',
    ]);
    const drained = (followUp: string, story: Story): Story =>
      story.disruption(i2, {
        causes: [{ kind: 'Update', id: 'update/u', onDeadline: 'fail', followUp }],
        status: { phase: 'Ended', outcome: 'Failed' },
      });
    // The next node follows after a failed drain; a second drain of the same node is not progress.
    const goesOn = drained('Terminate', update(rolling(), { phase: 'Rolling' }).at(2000));
    const again = drained('Terminate', goesOn.at(3000));
    expect(said(node(again.at(5600), 'n1', i1))).toEqual(['u: still Rolling']);
    expect(said(node(again.at(5900), 'n1', i1))).toEqual([
      'u: in Rolling for 65 min',
      'u: still Rolling',
    ]);
    const sooner = update(rolling(), { phase: 'Rolling' });
    expect(said(node(sooner.at(3500), 'n1', i1))).toEqual(['u: still Rolling']);
  });
});
