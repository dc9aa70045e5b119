// Many nodes that wait for their turn, in virtual time: the group's record is read once for all of
// them.
import { expect, it, vi } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import { formatTime } from '../../api/brand.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { resourceTypes } from '../../api/kube.ts';
import { createDisruptionController } from './index.ts';

const all = 50;

it('reads the ledger once for all that wait, and again after a change', async () => {
  const base = setUpControllers();
  const { kube, clock, disruptions } = base;
  const at = formatTime(clock.now());
  const announced: DisruptionCause = {
    kind: 'Maintenance',
    id: 'm',
    receivedAt: at,
    onDeadline: 'fail',
    followUp: 'Replace',
    confirmation: { state: 'Confirmed', at, reason: 'EC2: system-reboot is scheduled' },
  };
  kube.put(resourceTypes.nodegroups, {
    name: 'ng',
    spec: { ...aGroupSpec(), updateConfig: { maxUnavailable: 1 } },
    status: { desired: all, ready: all, instances: all },
  });
  for (let n = 1; n <= all; n++) {
    base.putNode(`n${n}`, { instanceId: anInstance(n) });
    const spec = { instanceId: anInstance(n), nodeGroup: 'ng', causes: [announced] };
    kube.put(resourceTypes.nodedisruptions, { name: anInstance(n), spec });
  }
  void createDisruptionController({ ...base, compat: 'eks' }).run(base.stop.signal);
  await base.startInformers();
  await clock.advance(60_000);
  const phases = (): readonly (string | undefined)[] =>
    Array.from({ length: all }, (_, n) => base.disruption(anInstance(n + 1))?.status?.phase);
  const waiting = () => phases().filter((phase) => phase === undefined || phase === 'Pending');
  expect(waiting()).toHaveLength(all - 1);
  const read = vi.spyOn(disruptions, 'list');
  base.putNode('n2', { instanceId: anInstance(2), ready: false });
  await clock.advance(1_000);
  expect(read.mock.calls.length).toBeGreaterThan(0);
  expect(read.mock.calls.length).toBeLessThan(5);
  base.stop.abort();
});
