// Canaries of the launch-template part of oracle 11: the version of new instances was noted before.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { judge, Story } from '../../../test/builders/world-check.ts';
import { intent } from './intent/index.ts';

const group = (story: Story, labels: JsonObject = {}): Story =>
  story.object('nodegroups', {
    metadata: { name: 'ng1', uid: 'uid-ng1' },
    spec: { labels },
    status: { autoScalingGroupName: 'eks-ng1' },
  });

const update = (story: Story, status: JsonObject): Story =>
  story.object('nodegroupupdates', {
    metadata: { name: 'u', uid: 'uid-u' },
    spec: { nodeGroup: 'ng1', type: 'VersionUpdate' },
    status: { status: 'InProgress', ...status },
  });

const use = (story: Story, Version: string): Story =>
  story.call('UpdateAutoScalingGroup', {
    AutoScalingGroupName: 'eks-ng1',
    LaunchTemplate: { LaunchTemplateId: 'lt-1', Version },
  });

const target = { phase: 'ScalingUp', target: { templateVersion: '2' } };
const begun = (story: Story): Story => update(story.at(1000), { phase: 'Preparing' });

describe('intent-before-effect', () => {
  it('accepts the template that an update has named, and the one that restores', () => {
    const story = use(update(begun(group(new Story())), target).at(1001), '2');
    const back = use(update(story, { ...target, restored: '3' }).at(1002), '3');
    expect(judge(intent, back)).toEqual({ said: [], saw: 2 });
  });

  it('reports one that is used before it is named, by a moment, or that never is', () => {
    const early = update(use(begun(group(new Story())).at(1001), '2').at(1002), target);
    const said = 'ng1: uses version 2 of its launch template, which u had not noted before';
    expect(judge(intent, early).said).toEqual([said]);
    const other = use(update(begun(group(new Story())), target).at(1001), '4');
    expect(judge(intent, other).said).toHaveLength(1);
  });

  it('says nothing of what labels asked for, nor without an update', () => {
    const labelled = group(begun(group(new Story())).at(1001), { a: 'b' });
    expect(judge(intent, use(labelled.at(1002), '2')).said).toEqual([]);
    expect(judge(intent, use(group(new Story()).at(1), '2'))).toEqual({ said: [], saw: 0 });
  });
});
