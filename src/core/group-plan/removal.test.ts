// What is deleted with a node group that has no instances, in which order, and what that waits for.
import { describe, expect, it } from 'vitest';
import { aGroupSpec } from '../../../test/builders/controllers.ts';
import { epochMs } from '../../api/brand.ts';
import type { NodeGroupSpec } from '../../api/nodegroup.ts';
import { ownerTag } from '../../api/nodegroup.ts';
import { decideRemoval, type RemovalObservation, removalFailure } from './removal.ts';

const own = { [ownerTag]: 'u1' };
const foreign = { [ownerTag]: 'u2' };
const derivedName = 'eks-u1';

const observed = (
  more: Partial<RemovalObservation> = {},
  { autoScalingGroupName, ...spec }: Partial<NodeGroupSpec> = {},
): RemovalObservation =>
  ({
    group: {
      metadata: { name: 'ng', uid: 'u1' },
      spec: {
        ...aGroupSpec({ nodeRole: 'arn:aws:iam::1:role/team/nodes', ...spec }),
        autoScalingGroupName,
      },
    },
    repairs: [],
    scaling: undefined,
    mayStand: false,
    parts: { template: undefined, profile: undefined, securityGroup: undefined },
    ...more,
  }) as unknown as RemovalObservation;

const aScaling = (tags: object, instances = 0) =>
  ({
    name: 'asg',
    tags,
    desiredCapacity: instances,
    instances: Array.from({ length: instances }, (_, nth) => ({ instanceId: `i-${nth}` })),
  }) as unknown as NonNullable<RemovalObservation['scaling']>;

const partsOf = (tags: Readonly<Record<string, string>>) => ({
  template: { id: 'lt-1', name: derivedName, version: '1', tags, data: {} },
  profile: { name: derivedName, roles: ['nodes'], tags },
  securityGroup: undefined,
});

const aRepair = (phase: string) => ({
  metadata: { name: 'r1' },
  spec: { nodeGroup: 'ng' },
  status: { phase },
});

const kindsOf = (observation: RemovalObservation): readonly string[] =>
  decideRemoval(observation).steps.map(({ kind }) => kind);

const all = ['DeleteGroup', 'DeleteTemplate', 'DeleteProfile', 'EndGroup'];

describe('the removal of a node group', () => {
  it.each<[string, RemovalObservation, readonly string[]]>([
    ['everything it made', observed({ scaling: aScaling(own), parts: partsOf(own) }), all],
    ['what is left after a crash', observed({ parts: partsOf(own) }), all.slice(1)],
    [
      'nothing of others',
      observed({ scaling: aScaling(foreign), parts: partsOf(foreign) }),
      ['EndGroup'],
    ],
    [
      'no template of an adopted group that another NodeGroup has taken over',
      observed(
        { scaling: aScaling(foreign), parts: partsOf(own) },
        { autoScalingGroupName: 'asg' },
      ),
      ['EndGroup'],
    ],
    [
      'its own template beside a foreign group of its name',
      observed({ scaling: aScaling(foreign), parts: partsOf(own) }),
      all.slice(1),
    ],
    [
      'the security group before the finalizer',
      observed({
        parts: {
          ...partsOf(foreign),
          securityGroup: { id: 'sg-1', name: 'ra', vpcId: 'v', tags: own },
        },
      }),
      ['DeleteSecurityGroup', 'EndGroup'],
    ],
  ])('deletes %s', (_, observation, kinds) => {
    expect(kindsOf(observation)).toEqual(kinds);
  });

  it('withdraws the role as aws-auth names it', () => {
    const [end] = decideRemoval(observed()).steps;
    expect(end).toEqual({ kind: 'EndGroup', role: 'arn:aws:iam::1:role/nodes' });
  });

  it.each<[string, Partial<RemovalObservation>, object]>([
    [
      'an instance in quarantine',
      { repairs: [aRepair('Quarantined')] as unknown as RemovalObservation['repairs'] },
      { kind: 'quarantine', repairs: ['r1'] },
    ],
    [
      'a second answer without the group',
      { mayStand: true },
      { kind: 'absence', autoScalingGroupName: 'eks-ng-u1' },
    ],
    [
      'instances that were launched meanwhile',
      { scaling: aScaling(own, 2) },
      { kind: 'members', total: 2 },
    ],
  ])('waits for %s', (_, more, waiting) => {
    const plan = decideRemoval(observed({ ...more, parts: partsOf(own) }));
    expect([plan.steps, plan.waitingOn]).toEqual([[], [waiting]]);
  });

  it('deletes no group with policy Retain: its tag was read late, and it is released', () => {
    const found = { scaling: aScaling(own), parts: partsOf(own) };
    const plan = decideRemoval(observed(found, { deletionPolicy: 'Retain' }));
    const waiting = { kind: 'tag', autoScalingGroupName: 'asg' };
    expect([plan.steps, plan.waitingOn]).toEqual([[], [waiting]]);
  });
});

describe('a part that is in use elsewhere', () => {
  const issue = { code: 'Ec2SecurityGroupDeletionFailure', message: 'in use', resourceIds: [] };
  const now = epochMs(Date.parse('2026-01-01T00:02:00Z'));
  const { group } = observed();

  it('is a failure after a minute', () => {
    expect(removalFailure(group, issue, { since: now - 59_000, now })).toBeUndefined();
    expect(removalFailure(group, issue, { since: now - 60_000, now })).toMatchObject({
      at: '2026-01-01T00:02:00.000Z',
    });
  });

  it('stays the failure that was reported', () => {
    const failure = { ...issue, generation: 1, at: '2026-01-01T00:00:00.000Z' };
    const told = { ...group, status: { failure } } as unknown as typeof group;
    expect(removalFailure(told, issue, { since: now, now })?.at).toBe(failure.at);
  });
});
