// Recording a drain: one cause, even with concurrent writers.

import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aHookCause,
  aManualCause,
  aNode,
  anId,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import { defined } from '../../api/defined.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { resourceTypes } from '../../api/kube.ts';
import { type DrainRequest, manualCause, readDisruption, recordDrain } from './record.ts';

const request = (more: Partial<DrainRequest> = {}): DrainRequest => ({
  now: tPlus(0),
  userName: 'sam',
  timeoutSeconds: undefined,
  onDeadline: 'fail',
  reason: undefined,
  ...more,
});
const type = resourceTypes.nodedisruptions;
const kinds = (disruption: NodeDisruption | undefined): readonly string[] =>
  disruption?.spec.causes.map(({ kind }) => kind) ?? [];

const setUp = (existing?: NodeDisruption): FakeKube => {
  const kube = new FakeKube(new VirtualClock());
  if (existing !== undefined) {
    const { spec, status } = existing;
    kube.put(type, { name: anId, spec, ...defined({ status }) });
  }
  return kube;
};

describe('manualCause', () => {
  it('only empties the node, and has the deadline that was asked for', () => {
    expect(manualCause(request({ timeoutSeconds: 900, onDeadline: 'force' }))).toEqual({
      kind: 'Manual',
      id: 'manual/sam/2026-01-01T00:00:00.000Z',
      receivedAt: '2026-01-01T00:00:00.000Z',
      deadline: '2026-01-01T00:15:00.000Z',
      onDeadline: 'force',
      followUp: 'Release',
      requestedBy: 'sam',
      reason: 'drover drain',
    });
  });
  it('has no deadline unless one was asked for', () => {
    expect(manualCause(request())).not.toHaveProperty('deadline');
  });
});

describe('recordDrain', () => {
  it('creates the disruption of the instance, and touches nothing else', async () => {
    const kube = setUp();
    const recorded = await recordDrain(kube, aNode(), request());
    expect(recorded).toMatchObject({ name: anId, node: 'n1', isNew: true });
    expect(kinds(await readDisruption(kube, anId))).toEqual(['Manual']);
    const writes = kube.requests.filter(({ verb }) => verb !== 'get');
    expect(writes.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      'create nodedisruptions',
    ]);
  });

  it('adds its cause beside others', async () => {
    const kube = setUp(aDisruption([aHookCause()]));
    await recordDrain(kube, aNode(), request());
    expect(kinds(await readDisruption(kube, anId))).toEqual(['LifecycleHook', 'Manual']);
  });

  it('joins a drain by hand that is under way', async () => {
    const kube = setUp(aDisruption([aManualCause()]));
    const recorded = await recordDrain(kube, aNode(), request());
    expect(recorded).toMatchObject({ causeId: 'manual/1', isNew: false });
    expect(kinds(await readDisruption(kube, anId))).toEqual(['Manual']);
  });

  it('adds a second cause when it brings a deadline of its own', async () => {
    const kube = setUp(aDisruption([aManualCause()]));
    const recorded = await recordDrain(kube, aNode(), request({ timeoutSeconds: 60 }));
    expect(recorded.isNew).toBe(true);
    expect(kinds(await readDisruption(kube, anId))).toEqual(['Manual', 'Manual']);
  });

  it('asks again when the last drain has ended', async () => {
    const status = {
      episode: 1,
      phase: 'Ended' as const,
      outcome: 'Drained' as const,
      handledCauses: ['manual/1'],
    };
    const kube = setUp(aDisruption([aManualCause()], status));
    expect(await recordDrain(kube, aNode(), request())).toMatchObject({ isNew: true });
  });

  it.each(['create', 'patch'] as const)(
    'reads again when another was faster to %s',
    async (verb) => {
      const kube = setUp(verb === 'patch' ? aDisruption([aHookCause()]) : undefined);
      kube.fail(verb, verb === 'create' ? 'AlreadyExists' : 'Conflict', { times: 3 });
      await recordDrain(kube, aNode(), request());
      expect(kinds(await readDisruption(kube, anId))).toContain('Manual');
    },
  );

  it('gives up, and says so, when others write without end', async () => {
    const kube = setUp();
    kube.fail('create', 'Conflict', { times: 100 });
    await expect(recordDrain(kube, aNode(), request())).rejects.toThrow(
      /changed by others 8 times/,
    );
  });

  it('names the remedy where the kind is not served', async () => {
    const kube = setUp();
    kube.fail('create', 'NotFound');
    await expect(recordDrain(kube, aNode(), request())).rejects.toThrow(/drover controller/);
  });
});
