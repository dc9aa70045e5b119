// What the controller process does when the API server refuses it, or does not answer.
import { describe, expect, it } from 'vitest';
import { FakeCloud } from '../../test/builders/controllers-cloud.ts';
import { CollectingLog, VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { createHttp } from '../adapters/http/index.ts';
import type { KubeErrorCode } from '../ports/index.ts';
import { runController, userAgentOf } from './controller.ts';

const setUp = (failure: KubeErrorCode, times: number) => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const log = new CollectingLog();
  const stop = new AbortController();
  kube.fail('get', failure, { times });
  const settings = { queueUrl: undefined, compat: 'native', leaderElect: false } as const;
  const deps = {
    kube,
    cloud: new FakeCloud(clock),
    http: createHttp(),
    clock,
    serverClock: clock,
    log,
    signal: stop.signal,
  };
  return { clock, kube, log, stop, running: runController(settings, deps) };
};

describe('runController', () => {
  it.each(['Forbidden', 'Unauthorized'] as const)(
    'ends with the rights that it needs when it is %s',
    async (code) => {
      const { running } = setUp(code, 1);
      await expect(running).rejects.toThrow(/customresourcedefinitions.*grant its identity/);
    },
  );

  it('tries again every five seconds while no one answers, says so each time, and ends when told', async () => {
    const { clock, kube, log, stop, running } = setUp('Unreachable', 1000);
    await clock.advance(16_000);
    expect(log.messages('warn')).toEqual(
      Array.from({ length: 4 }, () => 'the controllers cannot start, trying again'),
    );
    expect(kube.count('create')).toBe(0);
    stop.abort();
    await clock.settle();
    await running;
  });

  it('continues where the server answers after all', async () => {
    const { clock, kube, stop, running } = setUp('Unreachable', 2);
    await clock.advance(20_000);
    expect(kube.count('create')).toBeGreaterThan(0);
    stop.abort();
    await clock.advance(10_000);
    await running;
  });
});

describe('userAgentOf', () => {
  it.each([
    ['eks', 'vpcLambda/v0.0.0 (linux/amd64) kubernetes/$Format'],
    ['native', 'drover/1.2.3'],
  ] as const)('in mode %s is %s', (compat, agent) => {
    expect(userAgentOf(compat, '1.2.3')).toBe(agent);
  });
});
