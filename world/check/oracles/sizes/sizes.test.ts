// Canaries of the oracle about sizes of groups: reported, requested, followed.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../../src/api/defined.ts';
import type { JsonObject } from '../../../../src/api/json.ts';
import { group, i1, i2, judge, Story, us } from '../../../../test/builders/world-check.ts';
import { sizes } from './index.ts';

describe('the oracles about sizes', () => {
  const sized = (story: Story, desired: number, [minSize, maxSize] = [0, 3]) =>
    story.object('nodegroups', {
      metadata: { name: 'ng1', uid: 'ng1' },
      spec: { autoScalingGroupName: group },
      status: { desired, minSize, maxSize },
    });
  const resize = (story: Story, desired: number) =>
    story.call('SetDesiredCapacity', { AutoScalingGroupName: group, DesiredCapacity: desired });

  const resizedBy = (story: Story, userAgent: string, DesiredCapacity: number) =>
    story.add({
      kind: 'call',
      at: story.micros,
      service: 'autoscaling',
      operation: 'SetDesiredCapacity',
      userAgent,
      input: { AutoScalingGroupName: group, DesiredCapacity },
    });

  /** The size in Auto Scaling. */
  const scaled = (story: Story, desired: number): Story =>
    story.add({
      kind: 'scaling',
      at: story.micros,
      autoScalingGroupName: group,
      minSize: 0,
      maxSize: 9,
      desired,
      suspended: [],
    });
  const wrote = (story: Story, generation: number, desired: number): Story =>
    story.object('nodegroups', {
      metadata: {
        name: 'ng1',
        uid: 'ng1',
        generation,
        annotations: generation === 1 ? {} : { 'drover.dev/followed-generation': `${generation}` },
      },
      spec: { autoScalingGroupName: group, scaling: { desired } },
      status: { desired, minSize: 0, maxSize: 9 },
    });

  it('accepts sizes within the bounds of the instant', () => {
    expect(judge(sizes, resize(sized(new Story(), 3), 0))).toEqual({ said: [], saw: 3 });
  });

  it('reports a group outside its bounds, and a call of ours that asks for it', () => {
    expect(judge(sizes, sized(new Story(), 4)).said).toEqual([
      'eks-ng1: desired size 4 is outside 0 to 3',
    ]);
    expect(judge(sizes, resize(sized(new Story(), 1), 9)).said).toHaveLength(1);
  });

  it('reports a call of ours that leaves it to Auto Scaling who goes, unless force is asked for', () => {
    const members = (seconds: number, annotations: Readonly<Record<string, string>> = {}) => {
      const story = new Story().state(i1, 'InService', { group }).state(i2, 'InService', { group });
      const spec = { autoScalingGroupName: group, scaling: { desired: 1 } };
      const status = { desired: 2, minSize: 0, maxSize: 3 };
      const metadata = { name: 'ng1', uid: 'ng1', annotations };
      return resize(story.object('nodegroups', { metadata, spec, status }).at(seconds), 1);
    };
    expect(judge(sizes, members(2.1)).said).toEqual([
      'eks-ng1: made smaller to 1 while 2 instances are in it',
    ]);
    // The controller may not know an instance that has just joined.
    expect(judge(sizes, members(1.9)).said).toEqual([]);
    expect(judge(sizes, members(2.1, { 'drover.dev/force': 'true' })).said).toEqual([]);
  });

  it('reports a size of ours beyond the spec and the surge that was told before', () => {
    const told = (story: Story, desired: number, surge: JsonObject | undefined) =>
      story.object('nodegroups', {
        metadata: { name: 'ng1', uid: 'ng1' },
        spec: { autoScalingGroupName: group, scaling: { desired } },
        status: { desired: 2, minSize: 0, maxSize: 9, ...defined({ surge }) },
      });
    const asks = (seconds: number, surge: JsonObject | undefined, desired: number): Story => {
      const sizes = { autoScalingGroupName: group, minSize: 0, maxSize: 9, desired: 2 };
      const begun = told(new Story(), 2, undefined).add({
        kind: 'scaling',
        at: new Story().micros,
        ...sizes,
        suspended: [],
      });
      const input = { AutoScalingGroupName: group, DesiredCapacity: desired };
      return told(begun.at(1), 2, surge).at(seconds).call('UpdateAutoScalingGroup', input);
    };
    const surge = { desired: 1, maxSize: 1 };
    expect(judge(sizes, asks(5, surge, 3)).said).toEqual([]);
    expect(judge(sizes, asks(5, { ...surge, retiring: 1 }, 4)).said).toEqual([]);
    expect(judge(sizes, asks(5, surge, 4)).said).toEqual([
      'eks-ng1: made larger to 4 where spec and noted surge ask for 3',
    ]);
    expect(judge(sizes, asks(5, undefined, 3)).said).toHaveLength(1);
    // A status that repeats the current size requests nothing.
    expect(judge(sizes, asks(5, { ...surge, desired: 0 }, 2)).said).toEqual([]);
  });

  it('lets a leader that stalled send what it had noted, and reports that its size is kept', () => {
    const grown = (noted: number | undefined, fault: string): Story => {
      const sizes = { autoScalingGroupName: group, minSize: 0, maxSize: 9, desired: 1 };
      const sizeCalls = noted === undefined ? [] : [{ desired: noted, epoch: 1, at: 't' }];
      const begun = new Story().object('nodegroups', {
        metadata: { name: 'ng1', uid: 'ng1', generation: 1 },
        spec: { autoScalingGroupName: group, scaling: { desired: 1 } },
        status: { desired: 1, minSize: 0, maxSize: 9, sizeCalls },
      });
      const scaled = begun.add({ kind: 'scaling', at: begun.micros, ...sizes, suspended: [] });
      const input = { AutoScalingGroupName: group, DesiredCapacity: 4 };
      return scaled.at(1).fault(fault, 'fired').at(59).call('UpdateAutoScalingGroup', input);
    };
    const beyond = 'eks-ng1: made larger to 4 where spec and noted surge ask for 1';
    expect(judge(sizes, grown(4, 'F6-leader-paused')).said).toEqual([]);
    expect(judge(sizes, grown(3, 'F6-leader-paused')).said).toEqual([beyond]);
    expect(judge(sizes, grown(undefined, 'F6-leader-paused')).said).toEqual([beyond]);
    expect(judge(sizes, grown(4, 'F5-api-error')).said).toEqual([beyond]);
    const followed = (story: Story) =>
      story.object('nodegroups', {
        metadata: {
          name: 'ng1',
          uid: 'ng1',
          generation: 2,
          annotations: { 'drover.dev/followed-generation': '2' },
        },
        spec: { autoScalingGroupName: group, scaling: { desired: 4 } },
        status: { desired: 4, minSize: 0, maxSize: 9 },
      });
    expect(judge(sizes, followed(grown(4, 'F6-leader-paused').at(62))).said).toEqual([
      'eks-ng1: wrote 4 to the spec, which nobody but we had set',
    ]);
    const wished = grown(4, 'F6-leader-paused').at(61);
    const others = followed(
      wished.add({
        kind: 'scaling',
        at: wished.micros,
        autoScalingGroupName: group,
        minSize: 0,
        maxSize: 9,
        desired: 4,
        suspended: [],
      }),
    );
    expect(judge(sizes, others).said).toEqual([]);
    const untold = new Story().object('nodegroups', {
      metadata: { name: 'ng1', uid: 'ng1', generation: 1 },
      spec: { autoScalingGroupName: group, scaling: { desired: 1 } },
      status: { desired: 1, minSize: 0, maxSize: 9 },
    });
    expect(judge(sizes, followed(untold.at(2))).said).toEqual([]);
  });

  it('takes the rest of a size that the maximum cut off for its owner’s, and no other', () => {
    const writes = (story: Story, generation: number, desired: number, maxSize: number): Story =>
      story.object('nodegroups', {
        metadata: {
          name: 'ng1',
          uid: 'ng1',
          generation,
          annotations: { 'drover.dev/followed-generation': `${generation}` },
        },
        spec: { autoScalingGroupName: group, scaling: { desired, maxSize } },
        status: { desired, minSize: 0, maxSize: 9 },
      });
    const cut = (maxSize: number): Story => {
      const begun = scaled(scaled(wrote(new Story(), 1, 0), 0).at(1), 2);
      return writes(writes(begun.at(30), 2, 1, maxSize).at(60), 3, 2, 4);
    };
    expect(judge(sizes, cut(1)).said).toEqual([]);
    expect(judge(sizes, cut(4)).said).toEqual([
      'eks-ng1: wrote 2 to the spec, which nobody but we had set',
    ]);
  });

  it('takes up of others’ changes what was written back, and no more', () => {
    /** Others terminate two instances in sequence; the first write-back has seen one of them. */
    const taken = (secondAt: number, writtenAt: number): Story => {
      const begun = scaled(wrote(new Story(), 1, 2), 2);
      return wrote(scaled(scaled(begun.at(1), 1).at(secondAt), 0).at(writtenAt), 2, 1);
    };
    expect(judge(sizes, wrote(taken(8, 8.3).at(28), 3, 0)).said).toEqual([]);
    // The write-back omitted it although it had been known for long: it does not count as a later
    // request.
    expect(judge(sizes, wrote(taken(8, 18).at(28), 3, 0)).said).toEqual([
      'eks-ng1: wrote 0 to the spec, which nobody but we had set',
    ]);
    // Both were written back: a third is the controller's own.
    const both = wrote(scaled(scaled(wrote(new Story(), 1, 3), 3).at(1), 2).at(2), 2, 2);
    expect(judge(sizes, wrote(both.at(3), 3, 1)).said).toEqual([
      'eks-ng1: wrote 1 to the spec, which nobody but we had set',
    ]);
  });

  it('reports an instance of an update’s surplus that is taken for a wish', () => {
    const told = (story: Story, generation: number, desired: number) =>
      story.object('nodegroups', {
        metadata: {
          name: 'ng1',
          uid: 'ng1',
          generation,
          annotations: { 'drover.dev/followed-generation': generation === 1 ? '0' : '2' },
        },
        spec: { autoScalingGroupName: group, scaling: { desired } },
        status: { desired, minSize: 0, maxSize: 9, surge: { desired: 6, maxSize: 6 } },
      });
    /**
     * In a group of `size` instances, other clients terminate one with decrement; then the spec is
     * written.
     */
    const taken = (size: number, userAgent = 'cluster-autoscaler') => {
      const story = told(new Story(), 1, 3).state(i1, 'InService', { group });
      const input = { InstanceId: i1, ShouldDecrementDesiredCapacity: true };
      const operation = 'TerminateInstanceInAutoScalingGroup';
      const smaller = scaled(scaled(story, size).at(5), size - 1);
      const call = { service: 'autoscaling', operation, userAgent, input };
      return told(smaller.add({ kind: 'call', at: smaller.micros, ...call }).at(8), 2, 2);
    };
    expect(judge(sizes, taken(9)).said).toEqual([
      'eks-ng1: wrote 2 to the spec, which nobody but we had set',
    ]);
    // The group has exactly the desired size: one fewer counts as a request.
    expect(judge(sizes, taken(3)).said).toEqual([]);
  });

  it('reports a scale-in below what is asked for, and takes no repeated call for another', () => {
    const wished = (story: Story, desired: number) =>
      story.object('nodegroups', {
        metadata: { name: 'ng1', uid: 'ng1' },
        spec: { autoScalingGroupName: group, scaling: { desired } },
        status: { desired: 2, minSize: 0, maxSize: 3 },
      });
    const end = (story: Story, seconds: number) =>
      story
        .at(seconds)
        .state(i1, 'Terminating', { group })
        .call('TerminateInstanceInAutoScalingGroup', {
          InstanceId: i1,
          ShouldDecrementDesiredCapacity: true,
        });
    const both = () =>
      new Story().state(i1, 'InService', { group }).state(i2, 'InService', { group });
    const again = wished(end(wished(both(), 1), 10).at(12), 2);
    expect(judge(sizes, end(again, 80)).said).toEqual([]);
    expect(judge(sizes, end(wished(both(), 2), 80)).said).toEqual([
      'eks-ng1: a scale-in left 1 instances where 2 were asked for',
    ]);
  });

  describe('of a node that an update retires', () => {
    const i3 = 'i-0123456789abcdef2';
    const goes = (story: Story, instanceId: string, left: number) =>
      scaled(story.state(instanceId, 'Terminating', { group }), left);
    const retire = (story: Story, instanceId: string, left: number) =>
      goes(story, instanceId, left).call('TerminateInstanceInAutoScalingGroup', {
        InstanceId: instanceId,
        ShouldDecrementDesiredCapacity: true,
      });
    /** The desired size is two; an update runs a third instance and will terminate i1. */
    const updated = (kind = 'Update'): Story => {
      const story = scaled(wrote(new Story(), 1, 2), 3);
      for (const id of [i1, i2, i3]) story.state(id, 'InService', { group });
      for (const id of [i1, i2])
        story.disruption(id, { causes: [{ kind, followUp: 'Terminate' }] });
      return story;
    };
    const tooFew = ['eks-ng1: a scale-in left 1 instances where 2 were asked for'];

    it('accepts that it meets one which another actor has just taken', () => {
      const both = retire(goes(updated().at(10), i3, 2).at(17), i1, 1);
      expect(judge(sizes, both).said).toEqual([]);
      // From then on, the size after the terminations by other clients is the request.
      expect(judge(sizes, wrote(both.at(18), 2, 1)).said).toEqual([]);
    });

    it('reports it where the other one could be known', () => {
      const known = retire(goes(updated().at(10), i3, 2).at(71), i1, 1);
      expect(judge(sizes, known).said).toEqual(tooFew);
    });

    it('reports two of ours for one that others took, before and after that was written back', () => {
      const once = () => retire(goes(updated().at(10), i3, 2).at(17), i1, 1);
      const none = 'eks-ng1: a scale-in left 0 instances where';
      expect(judge(sizes, retire(once().at(18), i2, 0)).said).toEqual([`${none} 2 were asked for`]);
      const written = wrote(once().at(18), 2, 1).at(40);
      expect(judge(sizes, retire(written, i2, 0)).said).toEqual([`${none} 1 were asked for`]);
    });

    it('reports one against a larger size that its controller has taken note of, and no other', () => {
      const asked = (requested: number): Story =>
        updated()
          .at(10)
          .object('nodegroups', {
            metadata: { name: 'ng1', uid: 'ng1', generation: 2 },
            spec: { autoScalingGroupName: group, scaling: { desired: 4 } },
            status: { desired: 3, minSize: 0, maxSize: 9, requested: { desired: requested } },
          })
          .at(70);
      expect(judge(sizes, retire(asked(2), i1, 2)).said).toEqual([]);
      expect(judge(sizes, retire(asked(4), i1, 2)).said).toEqual([
        'eks-ng1: a scale-in left 2 instances where 4 were asked for',
      ]);
    });

    it('reports one of ours too many, and a scale-in that is no update’s', () => {
      const twice = retire(retire(updated().at(10), i1, 2).at(17), i2, 1);
      expect(judge(sizes, twice).said).toEqual(tooFew);
      const other = retire(goes(updated('ScaleIn').at(10), i3, 2).at(17), i1, 1);
      expect(judge(sizes, other).said).toEqual(tooFew);
    });
  });

  it('accepts that we make a group larger that another actor had made smaller than it is yet', () => {
    const made = (before: number, then: number) => {
      const story = sized(new Story().state(i1, 'InService').state(i2, 'InService'), before).at(10);
      return resize(resizedBy(story, 'aws-cli', 0), then);
    };
    expect(judge(sizes, made(2, 1)).said).toEqual([]);
    const back = resizedBy(made(2, 2), us, 1);
    expect(judge(sizes, back).said).toEqual([
      'eks-ng1: made smaller to 1 while 2 instances are in it',
    ]);
  });

  it('lets an update of EKS’ strategy with force take back its surplus, one at a time', () => {
    const i3 = 'i-0123456789abcdef2';
    const scaledDown = (
      third: string,
      { strategy = 'DEFAULT', phase = 'ScalingDown', force = true } = {},
    ) => {
      const story = new Story();
      for (const id of [i1, i2]) story.state(id, 'InService', { group });
      story.state(i3, third, { group }).object('nodegroupupdates', {
        metadata: { name: 'u' },
        spec: { type: 'VersionUpdate', nodeGroup: 'ng1', force },
        status: { status: 'InProgress', phase, strategy },
      });
      return judge(sizes, resize(sized(story, 2).at(9), 1)).said;
    };
    expect(scaledDown('Terminated')).toEqual([]);
    expect(scaledDown('Terminated', { strategy: 'SURGE' })).toHaveLength(1);
    expect(scaledDown('Terminated', { phase: 'Rolling' })).toHaveLength(1);
    expect(scaledDown('Terminated', { force: false })).toHaveLength(1);
    expect(scaledDown('InService')).toHaveLength(1);
    expect(scaledDown('Terminating:Wait')).toEqual([
      'eks-ng1: made smaller to 1 while 2 instances are in it and 1 on their way out',
    ]);
  });

  it('reports a size that was not followed, once the group has stalled for two minutes', () => {
    const shrunk = (seconds: number, desired: number) =>
      sized(new Story({ settled: true }).state(i1, 'InService').state(i2, 'InService'), 2)
        .at(60)
        .state(i2, 'Terminated')
        .object('nodegroups', {
          metadata: { name: 'ng1', uid: 'ng1' },
          spec: { autoScalingGroupName: group },
          status: { desired, minSize: 0, maxSize: 3 },
        })
        .at(60 + seconds);
    expect(judge(sizes, shrunk(121, 2)).said).toEqual([
      'eks-ng1: told as 2, and it has 1 instances',
    ]);
    expect(judge(sizes, shrunk(100, 2)).said).toEqual([]);
    const scarce = shrunk(121, 2).fault('no-capacity', 'off');
    expect(judge(sizes, scarce).said).toEqual([]);
    expect(judge(sizes, shrunk(121, 1)).said).toEqual([]);
  });

  it('goes by the bounds that hold at that instant', () => {
    const shrunk = sized(sized(new Story(), 3), 2, [0, 2]);
    expect(judge(sizes, resize(shrunk, 3)).said).toHaveLength(1);
  });
});
