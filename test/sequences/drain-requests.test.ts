// What a drain of a node with 24 pods costs the API server, also when each notice comes several
// times. The watch of the node's pods is one request more; the audit log shows it at its end.
import { expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const pods = 24;

/** `verb resource/subresource code` of the controllers' requests while `isOn`. */
const begin = async (stopSeconds: number) => {
  const requests: string[] = [];
  let isOn = false;
  const audit = (event: JsonObject): void => {
    const { resource, subresource } = objectOr(event.objectRef);
    const isController = String(objectOr(event.user).username).includes('node-manager');
    if (!isOn || !isController) return;
    const what = subresource === undefined ? resource : `${resource}/${subresource}`;
    requests.push(`${event.verb} ${what} ${objectOr(event.responseStatus).code}`);
  };
  const life = await GroupLife.begin({ audit, compat: 'native' });
  await life.create({
    scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 1 },
    instanceTypes: ['m5.4xlarge'],
  });
  await life.until('the group is active', () => life.isActive(1), 900);
  life.deploy(pods, pods, 'ng', { 'world.drover.dev/stop-seconds': String(stopSeconds) });
  await life.driver.advance(60);
  const record = (): void => {
    isOn = true;
  };
  return { life, requests, record };
};

const counted = (requests: readonly string[], of: RegExp): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const one of requests.filter((text) => of.test(text))) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
};

/**
 * A pod that is removed 5 s after the marks or later shows that the watch is complete up to then.
 * Where all pods are removed earlier, a list shows it.
 */
it.each([
  [undefined, 1, 1],
  [undefined, 7, 0],
  ['message-duplicate', 7, 0],
] as const)(
  'costs one request a pod and at most three more, with the fault %j and pods that stop in %i s',
  async (fault, stopSeconds, lists) => {
    const { life, requests, record } = await begin(stopSeconds);
    if (fault !== undefined) life.world.faults.inject(fault, {});
    const answer = life.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {}) as {
      AutoScalingGroups: readonly {
        AutoScalingGroupName: string;
        Instances: readonly { InstanceId: string }[];
      }[];
    };
    const group = answer.AutoScalingGroups.find(({ AutoScalingGroupName: name }) =>
      name.includes('-ng-'),
    );
    record();
    life.world.aws.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId: group?.Instances[0]?.InstanceId ?? '',
      ShouldDecrementDesiredCapacity: true,
    });
    await life.driver.advance(120);
    expect(counted(requests, /^\w+ (?:pods|nodes)[ /]/)).toEqual({
      'patch nodes 200': 1,
      ...(lists === 0 ? {} : { 'list pods 200': lists }),
      'create pods/eviction 201': pods,
    });
    expect(counted(requests, /nodedisruptions/)).toEqual({
      'create nodedisruptions 201': 1,
      'patch nodedisruptions/status 200': 4,
    });
    await life.end();
  },
);
