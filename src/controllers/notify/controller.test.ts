// While a Secret cannot be used, each notification is counted once, not at every change.
import { expect, it } from 'vitest';
import { setUpControllers } from '../../../test/builders/controllers.ts';
import { durationMs, epochMs, formatTime } from '../../api/brand.ts';
import { notificationNames } from '../../api/controller-rights.ts';
import { resourceTypes } from '../../api/kube.ts';
import { maxPending } from '../../core/notify/index.ts';
import { type Metrics, noMetrics } from '../../ports/index.ts';
import { createNotifyController } from './index.ts';

it('a Secret that cannot be used is read once a minute, and what is dropped is counted once', async () => {
  const all = setUpControllers();
  const { kube, clock, journal } = all;
  const results: string[] = [];
  const metrics: Metrics = {
    ...noMetrics,
    add: (_name, labels) => results.push(String('result' in labels && labels.result)),
  };
  await all.startInformers();
  const { namespace, secret } = notificationNames;
  const http = { get: () => expect.unreachable(), post: () => expect.unreachable() };
  const settings = { secret: { namespace, name: secret }, allowPrivate: false };
  const notify = createNotifyController({ ...all, ...settings, http, metrics });
  void notify.run(all.stop.signal);
  await clock.advance(1_000);
  const endedAt = formatTime(epochMs(clock.now() + 1));
  const put = (index: number): void => {
    const errors = [{ code: 'NodeCreationFailure', message: 'late', resourceIds: [] }];
    kube.put(resourceTypes.nodegroupupdates, {
      name: `u${index}`,
      spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} },
      status: { status: 'Failed', phase: 'Ended', endedAt, errors },
    });
  };
  const surplus = 3;
  for (let index = 0; index < maxPending + surplus; index++) put(index);
  for (let change = 0; change < 50; change++) {
    await clock.advance(durationMs(2_000));
    put(0);
  }
  const dropped = journal.types().filter((type) => type === 'notification:dropped');
  expect(dropped).toHaveLength(surplus);
  expect(results.filter((one) => one === 'misconfigured').length).toBeLessThanOrEqual(2);
  all.stop.abort();
});
