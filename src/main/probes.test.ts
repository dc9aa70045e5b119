// The readiness of the controller: few requests however often it is asked, and no reason in it.
import { describe, expect, it } from 'vitest';
import { CollectingLog, VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { readyRoute } from './probes.ts';

const setUp = () => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const log = new CollectingLog();
  return { clock, kube, log, route: readyRoute({ kube, clock, log }) };
};

describe('/readyz', () => {
  it('asks the API server at most once in two seconds', async () => {
    const { clock, kube, route } = setUp();
    const asked = Array.from({ length: 50 }, () => route());
    await clock.settle();
    for (const one of asked) expect(await one).toMatchObject({ status: 200 });
    await clock.advance(1_999);
    await route();
    expect(kube.count('get')).toBe(1);
    await clock.advance(1);
    await route();
    expect(kube.count('get')).toBe(2);
  });

  it('has a fixed text when the server does not answer; the log has the reason, once', async () => {
    const { clock, kube, log, route } = setUp();
    kube.fail('get', 'Unreachable', { times: 2 });
    for (const status of [503, 503, 200]) {
      expect(await route()).toEqual({
        status,
        body: status === 200 ? 'ok\n' : 'no answer of the API server; see the log\n',
      });
      await clock.advance(2_000);
    }
    expect(log.messages('warn')).toHaveLength(1);
  });
});
