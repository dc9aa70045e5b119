// Canaries of the oracle about quarantine: too early, too late, without one, left behind.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/api/json.ts';
import { group as asg, judge, Story, timeAt } from '../../../../test/builders/world-check.ts';
import { repairQuarantine } from './quarantine.ts';

const instance = 'i-00000000000000101';
const limit = 3600;

const kept = (story: Story, phase: string): Story =>
  story.object('noderepairs', {
    metadata: { name: `${instance}-1`, uid: 'uid-r1' },
    spec: { nodeGroup: 'ng1', instanceId: instance, unhealthySince: timeAt(0) },
    status: { phase, quarantinedUntil: timeAt(limit) },
  });

const scene = (metadata: JsonObject = {}): Story => {
  const story = new Story({ settled: true }).at(10).object('nodegroups', {
    metadata: { name: 'ng1', uid: 'uid-ng1', ...metadata },
    spec: { autoScalingGroupName: asg },
  });
  const node = story.object('nodes', {
    metadata: { name: 'n1', uid: 'uid-n1', labels: { 'eks.amazonaws.com/nodegroup': 'ng1' } },
    spec: { providerID: `aws:///eu-west-1a/${instance}` },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  return kept(node, 'Quarantined');
};
const end = (story: Story): Story => story.call('TerminateInstances', { InstanceIds: [instance] });
const said = (story: Story): readonly string[] => judge(repairQuarantine, story).said;

describe('quarantined-instances-end-in-time', () => {
  it('reports an end before the limit, unless the group is being deleted', () => {
    const early = `${instance}: terminated before the limit of its quarantine`;
    expect(said(end(scene().at(limit - 60)))).toEqual([early]);
    expect(said(kept(end(scene().at(limit + 1)), 'Succeeded'))).toEqual([]);
    const deleting = scene({ deletionTimestamp: timeAt(5) });
    expect(said(kept(end(deleting.at(60)), 'Succeeded'))).toEqual([]);
  });

  it('reports an instance that Drover never detached', () => {
    const story = new Story({ settled: true }).at(10);
    const message = 'terminated outside of its group without a quarantine';
    expect(said(end(story))).toEqual([`${instance}: ${message}`]);
    const detach = { InstanceIds: [instance], ShouldDecrementDesiredCapacity: false };
    const taken = new Story({ settled: true }).at(10).call('DetachInstances', detach);
    expect(said(taken)).toEqual([`${instance}: detached without a quarantine`]);
  });

  it('reports an instance that is kept an hour beyond its limit, or that its group has left', () => {
    const late = `${instance}: is kept beyond the limit of its quarantine`;
    expect(said(scene().at(limit + 3700))).toEqual([late]);
    expect(said(scene().at(limit + 3500))).toEqual([]);
    const left = `${instance}: is left behind by its deleted group`;
    expect(said(scene().at(60).gone('noderepairs', `${instance}-1`))).toEqual([left]);
  });
});
