// When the controller asks the cloud about notices, and what a single slow service delays.

import { describe, expect, it } from 'vitest';
import { aGroupSpec, anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import { formatTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause, NodeDisruptionStatus } from '../../api/disruption.ts';
import { resourceTypes } from '../../api/kube.ts';
import { hookCause, spotCause } from '../../core/termination/notices/causes.ts';
import { createConfirmationController } from './index.ts';

const setUp = () => {
  const it = setUpControllers();
  const { kube, cloud, clock } = it;
  kube.put(resourceTypes.nodegroups, { name: 'ng', spec: aGroupSpec() });
  const start = async () => {
    await it.startInformers();
    void createConfirmationController(it).run(it.stop.signal);
    await clock.settle();
  };
  const putDisruption = (
    name: string,
    causes: readonly DisruptionCause[],
    status?: NodeDisruptionStatus,
  ) =>
    kube.put(resourceTypes.nodedisruptions, {
      name,
      spec: { instanceId: name, nodeGroup: 'ng', causes: [...causes] },
      ...defined({ status }),
    });
  const aHookCause = (): DisruptionCause => {
    const group = it.nodeGroups.get('ng') ?? expect.unreachable();
    const now = clock.now();
    const times = { heartbeatTimeoutSeconds: 1_800, globalTimeoutSeconds: 172_800 };
    const hook = { autoScalingGroupName: 'asg-1', hookName: 'Terminate-LC-Hook', token: 't1' };
    return hookCause({ ...hook, startedAt: now, times, group, now });
  };
  const stateOf = (instanceId: string, lifecycleState: string) =>
    cloud.putGroup('asg-1', { instances: [{ instanceId, lifecycleState }] });
  return { ...it, start, putDisruption, aHookCause, stateOf };
};

const ended: NodeDisruptionStatus = { episode: 1, phase: 'Ended', outcome: 'Drained' };

describe('the cloud is asked', () => {
  it('no more, and nothing is looked at, once a disruption has ended with its node', async () => {
    const { start, putDisruption, aHookCause, stateOf, clock, disruptions, disruption } = setUp();
    const [i1] = [anInstance(1)];
    stateOf(i1, 'Terminating:Wait');
    await start();
    putDisruption(i1, [aHookCause()]);
    await clock.advance(2_000);
    const { causes } = disruption(i1)?.spec ?? expect.unreachable();
    expect(causes).toMatchObject([{ confirmation: { state: 'Confirmed' } }]);
    putDisruption(i1, causes, ended);
    await clock.advance(120_000);
    let looks = 0;
    const list = disruptions.list.bind(disruptions);
    Object.assign(disruptions, {
      list: () => {
        looks++;
        return list();
      },
    });
    await clock.advance(600_000);
    // One per minute for each kind of notice.
    expect(looks).toBeLessThanOrEqual(5 * 10);
  });

  it.each([
    ['takes a heartbeat of', undefined, 'Confirmed'],
    ['does not wait in', 'NoActiveLifecycleAction', 'Pending'],
  ] as const)(
    'by a heartbeat where it describes nothing: it %s the hook',
    async (_, code, state) => {
      const { start, putDisruption, aHookCause, stateOf, clock, cloud, disruption } = setUp();
      const i1 = anInstance(1);
      stateOf(i1, 'Terminating:Wait');
      cloud.fail('describeGroups', 'Throttled', 1_000);
      if (code !== undefined) cloud.fail('heartbeatHook', code, 1_000);
      await start();
      putDisruption(i1, [aHookCause()]);
      await clock.advance(20_000);
      expect(disruption(i1)?.spec.causes).toMatchObject([{ confirmation: { state } }]);
      expect(cloud.count('heartbeatHook') > 1).toBe(state === 'Pending');
    },
  );

  it('of Auto Scaling whatever EC2 keeps waiting', async () => {
    const { start, putDisruption, aHookCause, stateOf, clock, cloud, disruption } = setUp();
    const [i1, i2] = [anInstance(1), anInstance(2)];
    stateOf(i1, 'Terminating:Wait');
    cloud.hang('describeInstances');
    await start();
    const now = clock.now();
    const spot = { kind: 'SpotInterruption', instanceId: i2, at: formatTime(now) } as const;
    putDisruption(i2, [spotCause({ ...spot, sentAt: now, cloudAheadMs: 0, now })]);
    await clock.advance(3_000);
    putDisruption(i1, [aHookCause()]);
    await clock.advance(3_000);
    expect(disruption(i1)?.spec.causes).toMatchObject([{ confirmation: { state: 'Confirmed' } }]);
  });
});
