// Zone shift: which members get a cause with a hold, and what withdraws it.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aGroup,
  aManualCause,
  anId,
  aPod,
  draining,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { ScalingInstance } from '../../api/cloud.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { decideDisruption } from './decide.ts';
import { decideZoneShift, shiftedZonesOf } from './zone-shift.ts';

const member = (more: Partial<ScalingInstance> = {}): ScalingInstance => ({
  instanceId: anId,
  autoScalingGroupName: 'asg-1',
  availabilityZone: 'eu-west-1a',
  lifecycleState: 'InService',
  instanceType: 'm5.large',
  protectedFromScaleIn: false,
  ...more,
});
const shift = (more: Partial<DisruptionCause> = {}): DisruptionCause =>
  aManualCause({ id: 'zone-shift/eu-west-1a/x', hold: true, ...more });

interface Given {
  readonly zones?: readonly string[];
  readonly instance?: Partial<ScalingInstance> | 'none';
  readonly causes?: readonly DisruptionCause[];
  readonly node?: string | undefined;
}

const decide = (given: Given) => {
  const { zones = ['eu-west-1a'], instance, causes } = given;
  const nodeName = 'node' in given ? given.node : 'n1';
  return decideZoneShift(
    {
      groupName: 'ng',
      zones: new Set(zones),
      instances: instance === 'none' ? [] : [member(instance)],
      disruptions: causes === undefined ? [] : [aDisruption(causes)],
      nodeNameOf: () => nodeName,
    },
    tPlus(0),
  ).map((action) => (action.kind === 'record' ? `record ${action.cause.id}` : action.kind));
};

describe('decideZoneShift', () => {
  const recorded = [`record zone-shift/eu-west-1a/${timePlus(0)}`];
  const rows: readonly [string, Given, readonly string[]][] = [
    ['a member of the zone', {}, recorded],
    ['of another zone', { zones: ['eu-west-1b'] }, []],
    ['shifted already', { causes: [shift()] }, []],
    ['shifted before, and taken back', { causes: [shift({ cancelledAt: timePlus(0) })] }, recorded],
    ['that is terminated', { instance: { lifecycleState: 'Terminating:Wait' } }, []],
    ['without a node', { node: undefined }, []],
    ['of a zone that is no longer shifted', { zones: [], causes: [shift()] }, ['withdraw']],
    ['that left its group', { zones: [], instance: 'none', causes: [shift()] }, ['withdraw']],
    ['that an operator drains', { zones: [], causes: [aManualCause()] }, []],
  ];
  it.each(rows)('%s', (_name, given, expected) => {
    expect(decide(given)).toEqual(expected);
  });
});

describe('shiftedZonesOf', () => {
  it('is empty for a group that is being deleted', () => {
    const group = aGroup({ zoneShift: { zones: ['eu-west-1a'] } });
    expect([...shiftedZonesOf(group)]).toEqual(['eu-west-1a']);
    const metadata = { ...group.metadata, deletionTimestamp: timePlus(0) };
    expect([...shiftedZonesOf({ ...group, metadata })]).toEqual([]);
    expect([...shiftedZonesOf(undefined)]).toEqual([]);
  });
});

describe('a shifted node', () => {
  it('is marked and keeps its pods, also past the drain timeout; taken back, it is as before', () => {
    const model = draining([shift()], [aPod('p1')]);
    model.at(4_000);
    model.settle();
    expect(decideDisruption(model.observation).waitingOn).toMatchObject([{ kind: 'hold' }]);
    expect(model.observation.node?.spec.unschedulable).toBe(true);
    model.causes([shift({ cancelledAt: timePlus(4_000) })]);
    model.settle();
    expect(model.status).toMatchObject({ phase: 'Ended', outcome: 'Cancelled' });
    expect(model.observation.node?.spec.unschedulable).toBeUndefined();
  });
});
