// A node that claims another node's instance (as in kops CVE-2023-1943): the holder of a kubelet's
// key may register a Node with any providerID. Drover drains the node that had the instance first
// and still has it; pods on the false node stay.
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { TerminationLife } from '../support/termination-world.ts';

const { nodes } = resourceTypes;
const ready = (at: string) => ({
  conditions: [
    { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: at },
    { type: 'MemoryPressure', status: 'False', reason: 'Enough', lastTransitionTime: at },
  ],
});

/** Registers a Node under its own name with the instance of demo-ng's node. */
const claim = (life: TerminationLife, name: string): void => {
  const client = life.world.kube.as({
    user: { username: 'rooted', groups: ['system:masters'] },
    userAgent: 'kubelet',
  });
  const providerID = String(objectOr(life.nodeObject()?.spec).providerID);
  const made = client.create(nodes, undefined, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: { providerID },
  });
  if (made.kind === 'error') throw new Error(made.status.message);
  const status = ready('2026-01-01T00:01:30Z');
  client.patch(nodes, { name }, { type: 'merge', body: { status }, subresource: 'status' });
};

describe('a node that claims the instance of another', () => {
  it('is not the one that is drained when that instance is terminated', async () => {
    const life = await TerminationLife.begin();
    const pods = life.podsOn().length;
    claim(life, 'liar');
    await life.driver.advance(5);
    life.terminate();
    await life.until(() => life.disruption()?.status?.phase === 'Draining', 30);
    expect(life.disruption()?.status?.node?.name).toBe(life.node);
    await life.ended(300);
    expect(life.writes('pods', 'eviction').length).toBeGreaterThan(0);
    expect(pods).toBeGreaterThan(life.writes('pods', 'eviction').length);
    expect(life.writes('nodes').filter(({ name }) => name === 'liar')).toEqual([]);
    await life.end();
  });
});
