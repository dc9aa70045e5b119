// A zone shift marks the nodes of its zone and moves no pod; taken back, the nodes are as before.
// In the embedded world.
import { describe, expect, it } from 'vitest';
import type { Node } from '../../src/api/kube.ts';
import { TerminationLife } from '../support/termination-world.ts';

const exclude = 'node.kubernetes.io/exclude-from-external-load-balancers';
const nodeOf = ({ world, node }: TerminationLife): Node =>
  world.kube.read({ group: '', resource: 'nodes' }, { name: node }) as unknown as Node;
const marks = (life: TerminationLife): readonly boolean[] => {
  const { metadata, spec } = nodeOf(life);
  return [metadata.labels?.[exclude] === 'true', spec.unschedulable === true];
};

describe('a zone shift', () => {
  it('marks the nodes of the zone, evicts nothing, and undoes its marks; a termination drains them', async () => {
    const life = await TerminationLife.begin();
    const zone = nodeOf(life).metadata.labels?.['topology.kubernetes.io/zone'] ?? '';
    life.pod('app');
    await life.driver.advance(20);
    life.drainPolicy({ zoneShift: { zones: [zone] } });
    await life.until(() => marks(life).every(Boolean), 60);
    await life.driver.advance(1_200);
    expect(life.disruption()?.status?.waitingOn).toEqual([
      { kind: 'hold', by: `manual zone shift of ${zone}` },
    ]);
    expect(life.podsOn()).toContain('app');
    expect(life.writes('pods')).toEqual([]);
    life.drainPolicy({ zoneShift: null });
    await life.ended(60);
    expect(marks(life)).toEqual([false, false]);
    expect(life.disruption()?.status?.outcome).toBe('Cancelled');
    life.drainPolicy({ zoneShift: { zones: [zone] } });
    await life.until(() => marks(life).every(Boolean), 60);
    life.terminate();
    await life.ended(600);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    await life.end();
  });
});
