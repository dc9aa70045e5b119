// Steps against a cloud that does not answer or refuses, in virtual time.
import { describe, expect, it } from 'vitest';
import { anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { resourceTypes } from '../../api/kube.ts';
import type { Step } from '../../api/plan.ts';
import { Applier } from './apply.ts';
import { Heartbeats } from './hooks.ts';
import { Recollections } from './recollection.ts';

const instanceId = anInstance(1);
const hook = { autoScalingGroupName: 'asg-1', hookName: 'Terminate-LC-Hook', instanceId };
const beat: Step = { kind: 'HeartbeatHook', ...hook };
const complete: Step = { kind: 'CompleteHook', ...hook, result: 'CONTINUE' };
const key = 'asg-1/Terminate-LC-Hook';

const setUp = async () => {
  const base = setUpControllers();
  const { clock, kube, nodes, stop } = base;
  base.putNode('n1', { instanceId });
  await base.startInformers();
  const answered: string[] = [];
  const deps = { ...base, compat: 'eks' as const };
  const heartbeats = new Heartbeats(deps, (name) => answered.push(name));
  const applier = new Applier(deps, heartbeats, () => undefined);
  const recollection = new Recollections().of(instanceId, 1);
  const disruption: NodeDisruption = {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: instanceId, uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: { instanceId, causes: [] },
  };
  const uid = nodes.get('n1')?.metadata.uid ?? '';
  const body = { spec: { unschedulable: true } };
  const at = { node: 'n1', uid, resourceVersion: '1' };
  const cordon: Step = { kind: 'PatchNode', ...at, patch: 'merge', body, why: 'test' };
  const run = async (...steps: Step[]) => {
    const ended = { done: false, error: undefined as unknown };
    const pass = { disruption, node: nodes.get('n1'), recollection, signal: stop.signal };
    const settle = (error?: unknown): void => {
      Object.assign(ended, { done: true, error });
    };
    applier.run({ subject: instanceId, steps, waitingOn: [] }, pass).then(() => settle(), settle);
    await clock.settle();
    return ended;
  };
  const isCordoned = () =>
    JSON.stringify(kube.peek(resourceTypes.nodes, 'n1')).includes('"unschedulable":true');
  return { ...base, answered, heartbeats, recollection, cordon, run, isCordoned };
};

describe('a cloud that hangs', () => {
  it('holds up no mark, and is asked once at a time per hook', async () => {
    const { cloud, clock, answered, recollection, cordon, run, isCordoned } = await setUp();
    cloud.hang('heartbeatHook');
    expect((await run(beat, cordon)).done).toBe(true);
    expect(isCordoned()).toBe(true);
    await run(beat);
    expect(cloud.count('heartbeatHook')).toBe(1);
    await clock.advance(5_000);
    expect(answered).toEqual([instanceId]);
    expect(recollection.memory.hooks.get(key)).toMatchObject({ failures: 1 });
    cloud.hang('heartbeatHook', false);
    await run(beat);
    expect(recollection.memory.hooks.get(key)).toMatchObject({
      failures: 0,
      lastHeartbeatAt: clock.now(),
    });
  });
  it('fails a completion after 5 s, and the next steps follow', async () => {
    const { cloud, clock, recollection, cordon, run, isCordoned } = await setUp();
    cloud.hang('completeHook');
    const ended = await run(complete, cordon);
    expect([ended.done, isCordoned()]).toEqual([false, false]);
    await clock.advance(5_000);
    expect([ended.done, isCordoned()]).toEqual([true, true]);
    expect(recollection.memory.hooks.get(key)).toMatchObject({
      failures: 1,
      message: expect.stringContaining('5000 ms'),
    });
  });
  it('does not keep the steps behind a question about the instance from being done', async () => {
    const { cloud, cordon, run, isCordoned } = await setUp();
    cloud.fail('describeInstances', 'ServerError');
    const ask: Step = { kind: 'Confirm', what: 'instance', subject: instanceId };
    const ended = await run(ask, cordon);
    expect(isCordoned()).toBe(true);
    expect(ended.error).toMatchObject({ code: 'ServerError' });
  });
  it('is waited for at the end of the process no longer than its answer takes', async () => {
    const { cloud, clock, heartbeats, stop, run } = await setUp();
    cloud.hang('heartbeatHook');
    await run(beat);
    stop.abort(new Error('stop'));
    await clock.settle();
    await expect(heartbeats.settled()).resolves.toBeUndefined();
  });
});

describe('a heartbeat that the completion has overtaken', () => {
  it('does not change how the hook ended', async () => {
    const { cloud, recollection, run } = await setUp();
    await run(complete);
    cloud.fail('heartbeatHook', 'NoActiveLifecycleAction');
    await run(beat);
    expect(recollection.memory.hooks.get(key)).toMatchObject({ result: 'Completed' });
  });
});

describe('a termination that is refused', () => {
  const terminate: Step = { kind: 'TerminateInstance', instanceId, decrementDesired: false };
  it.each([
    ['running', false],
    ['shutting-down', true],
    ['terminated', true],
    [undefined, true],
  ])('of an instance that is %s: done is %s', async (state, done) => {
    const { cloud, recollection, run } = await setUp();
    if (state !== undefined) cloud.putInstanceState(instanceId, state);
    cloud.fail('terminateInGroup', 'InvalidRequest');
    await run(terminate);
    expect(recollection.memory.terminate).toMatchObject({
      done,
      failures: 1,
      message: 'told to fail: InvalidRequest',
    });
  });
  it('is not done while no one says what became of the instance', async () => {
    const { cloud, recollection, run } = await setUp();
    cloud.fail('terminateInGroup', 'InvalidRequest');
    cloud.fail('describeInstances', 'Throttled');
    const ended = await run(terminate);
    expect(ended).toEqual({ done: true, error: undefined });
    expect(recollection.memory.terminate).toMatchObject({ done: false });
  });
});

describe('a reboot that is refused', () => {
  it.each([
    ['running', false],
    ['stopped', true],
    ['shutting-down', true],
    ['terminated', true],
    [undefined, true],
  ])('of an instance that is %s: done is %s', async (state, done) => {
    const { cloud, recollection, run } = await setUp();
    if (state !== undefined) cloud.putInstanceState(instanceId, state);
    cloud.fail('rebootInstance', 'InvalidRequest');
    await run({ kind: 'RebootInstance', instanceId });
    expect(recollection.memory.reboot).toMatchObject({ done, failures: 1 });
  });
  it('is not done for another reason, even if the instance has ended', async () => {
    const { cloud, recollection, run } = await setUp();
    cloud.putInstanceState(instanceId, 'terminated');
    cloud.fail('rebootInstance', 'Throttled');
    await run({ kind: 'RebootInstance', instanceId });
    expect(recollection.memory.reboot).toMatchObject({ done: false });
  });
});

describe('whether an instance is leaving', () => {
  const ask = { kind: 'Confirm', what: 'leaving', subject: instanceId } as const;
  const inGroup: Step = { ...ask, autoScalingGroupName: 'asg-1' };
  it.each([
    ['InService', inGroup, false],
    ['Terminating', inGroup, true],
    ['Terminating:Wait', inGroup, true],
    ['Terminated', inGroup, true],
    ['InService', ask, false],
    ['Terminating:Wait', ask, true],
  ])('is reported by Auto Scaling: %s', async (lifecycleState, step, found) => {
    const { cloud, recollection, run } = await setUp();
    cloud.putGroup('asg-0');
    cloud.putGroup('asg-1', { instances: [{ instanceId, lifecycleState }] });
    await run(step);
    expect(recollection.memory.leaving).toMatchObject({ found });
    expect(cloud.count('describeInstances')).toBe(0);
  });
  it.each([
    ['running', inGroup, false],
    ['shutting-down', inGroup, true],
    ['running', ask, false],
    ['terminated', ask, true],
  ])('is reported by EC2 where its group has it no more: %s', async (state, step, found) => {
    const { cloud, recollection, run } = await setUp();
    cloud.putGroup('asg-1');
    cloud.putInstanceState(instanceId, state);
    await run(step);
    expect(recollection.memory.leaving).toMatchObject({ found });
  });
  it('is not known while no one answers', async () => {
    const { cloud, recollection, run } = await setUp();
    cloud.fail('describeGroups', 'Throttled');
    const ended = await run(inGroup);
    expect(ended.error).toMatchObject({ code: 'Throttled' });
    expect(recollection.memory.leaving).toBeUndefined();
  });
});
