// One row of `drover get nodes`, and the health that `drover explain` prints first.
import { describe, expect, it } from 'vitest';
import { aMember, aRepair, aRepairGroup, bad, timeAt } from '../../../test/builders/core-repair.ts';
import { explainRepair } from '../../core/explain/index.ts';
import { nodeRow } from '../../core/overview/index.ts';
import { healthLines } from './explain.ts';

const { node, health } = aMember(1, 40, { conditions: [bad(0)] });
if (node === undefined) throw new Error('no node');
const group = aRepairGroup();

describe('drover get nodes', () => {
  it('says of an ill node what is wrong, since when, and when it is repaired', () => {
    const repair = aRepair(1, 0, {
      phase: 'Waiting',
      action: 'Replace',
      eligibleAt: timeAt(30),
      message: 'm',
    });
    expect(nodeRow({ node, health, group, repair })).toMatchObject({
      name: 'n1',
      health: 'Unhealthy',
      finding: 'Ready NodeStatusUnknown',
      since: timeAt(0).replace('.000', ''),
      waitsFor: `repair: Replace at ${timeAt(30)} unless it recovers (${repair.metadata.name}: m)`,
    });
  });

  it('says nothing of a healthy node', () => {
    const well = aMember(1, 40);
    expect(nodeRow({ node, health: well.health, group })).toMatchObject({
      health: 'Healthy',
      finding: null,
      waitsFor: null,
    });
  });
});

describe('drover explain', () => {
  it('names what holds a repair up, each with its end', () => {
    const repair = aRepair(1, 0, {
      phase: 'Blocked',
      action: 'Replace',
      eligibleAt: timeAt(30),
      blockedBy: [
        { kind: 'groupUnhealthy', message: '3 of 10' },
        { kind: 'cooldown', message: 'rests', until: timeAt(45) },
      ],
    });
    const lines = healthLines({
      node,
      disruption: undefined,
      inHealth: { health, group, repair, renewedAt: timeAt(-1) },
    });
    expect(lines).toEqual([
      `health: Unhealthy since ${timeAt(0)}`,
      `finding: Ready NodeStatusUnknown since ${timeAt(0)}`,
      `lease: the kubelet renewed it last at ${timeAt(-1)}`,
      `repair: Replace was due at ${timeAt(30)} and is held up (${repair.metadata.name})`,
      'held up by groupUnhealthy: 3 of 10',
      `held up by cooldown: rests, until ${timeAt(45)}`,
    ]);
  });

  it('says what would follow where node repair is off, where no rule is, and without a group', () => {
    const off = aRepairGroup({ nodeRepairConfig: { enabled: false } });
    expect(explainRepair(health, { group: off })).toEqual([
      `repair: none; node repair of node group ng is off, with it: Replace at ${timeAt(30)}`,
    ]);
    const rules = [{ condition: 'Ready', actions: ['NoAction'] as const }];
    expect(explainRepair(health, { group: aRepairGroup({ nodeRepair: { rules } }) })).toEqual([
      'repair: none; no rule repairs this',
    ]);
    expect(explainRepair(health, {})).toEqual(['repair: none; the node belongs to no NodeGroup']);
  });
});
