// Canaries of the oracle about deleted node groups.
import { describe, expect, it } from 'vitest';
import { i1, judge, Story } from '../../../test/builders/world-check.ts';
import { groupsGone } from './groups-gone/index.ts';

const uuid = '02c1ba5d-75b6-fbdf-4569-aa31827ad412';
const group = `eks-ng-${uuid}`;
const object = (adopted: boolean, policy: object = { deletionPolicy: 'Delete' }) => ({
  metadata: { name: 'ng', uid: 'ng', finalizers: ['drover.dev/nodegroup'] },
  spec: adopted ? { autoScalingGroupName: group, ...policy } : {},
  status: { autoScalingGroupName: group },
});
const profile = { InstanceProfileName: `eks-${uuid}` };
const template = { LaunchTemplateName: `eks-${uuid}` };
const named = { AutoScalingGroupName: group };
const made = (): Story =>
  new Story()
    .object('nodegroups', object(false))
    .call('CreateInstanceProfile', profile)
    .call('CreateLaunchTemplate', template)
    .call('CreateAutoScalingGroup', named);
const gone = (story: Story, adopted = false, policy?: object): Story =>
  story.add({
    kind: 'object',
    at: story.micros,
    type: 'DELETED',
    resource: 'nodegroups',
    object: object(adopted, policy),
  });
const deleted = (story: Story): Story => gone(story);

describe('nothing-left-after-delete', () => {
  it('accepts a group that goes after all that was made for it', () => {
    const ended = made()
      .call('DeleteAutoScalingGroup', named)
      .call('DeleteLaunchTemplate', template)
      .call('DeleteInstanceProfile', profile);
    expect(judge(groupsGone, deleted(ended))).toEqual({ said: [], saw: 1 });
  });

  it('reports a template, a profile, a group and an instance that are left', () => {
    const unprofiled = made()
      .call('DeleteAutoScalingGroup', named)
      .call('DeleteLaunchTemplate', template);
    expect(judge(groupsGone, deleted(unprofiled)).said).toEqual([
      `ng: deleted before instance profile eks-${uuid}`,
    ]);
    const without = made()
      .call('DeleteAutoScalingGroup', named)
      .call('DeleteInstanceProfile', profile);
    expect(judge(groupsGone, deleted(without)).said).toEqual([
      `ng: deleted before launch template eks-${uuid}`,
    ]);
    expect(judge(groupsGone, deleted(made())).said[0]).toContain(`Auto Scaling group ${group}`);
    const served = made()
      .call('DeleteAutoScalingGroup', named)
      .call('DeleteLaunchTemplate', template)
      .call('DeleteInstanceProfile', profile);
    const left = served.state(i1, 'InService', { group });
    expect(judge(groupsGone, deleted(left)).said).toEqual([`ng: deleted before ${i1}`]);
  });

  it('reports a group that goes a moment too early', () => {
    const cleared = made()
      .call('DeleteLaunchTemplate', template)
      .call('DeleteInstanceProfile', profile);
    const early = deleted(cleared).call('DeleteAutoScalingGroup', named);
    expect(judge(groupsGone, early).said).toEqual([
      `ng: deleted before Auto Scaling group ${group}`,
    ]);
  });

  it('holds for adopted groups, and not for those that no one held', () => {
    const adopted = gone(new Story().object('nodegroups', object(true)), true);
    expect(judge(groupsGone, adopted).said).toHaveLength(1);
    expect(judge(groupsGone, gone(new Story(), true))).toEqual({ said: [], saw: 0 });
  });

  it('wants an adopted group to stay, unless its policy is Delete', () => {
    const held = () => new Story().object('nodegroups', object(true, {}));
    expect(judge(groupsGone, gone(held(), true, {}))).toEqual({ said: [], saw: 1 });
    const ended = held().call('DeleteAutoScalingGroup', named);
    expect(judge(groupsGone, gone(ended, true, {})).said).toEqual([
      `ng: policy Retain, and ${group} was deleted`,
    ]);
  });
});
