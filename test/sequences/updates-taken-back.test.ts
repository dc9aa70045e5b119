// An operator terminates an instance that the update was about to terminate and decrement: the
// group keeps its size and Auto Scaling launches a replacement. That is not a request for one more
// node.
import { expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';
import { areOver, askFor, latest, makeGroup, newest, runApp } from '../support/update-world.ts';

it('an instance that is ended otherwise while it is retired leaves the sizes as they are asked for', async () => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 2, maxSize: 9 });
  life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE', maxUnavailable: 1 } } });
  await runApp(life, 3, 1);
  askFor(life, newest);
  const disruptions = { group: 'drover.dev', resource: 'nodedisruptions' };
  const drained = () =>
    [...life.world.kube.readAll(disruptions)].find(
      ({ spec, status }) =>
        JSON.stringify(spec).includes('"followUp":"Terminate"') &&
        JSON.stringify(status ?? {}).includes('"outcome":"Drained"'),
    );
  await life.until('one is drained and cools down', () => drained() !== undefined, 3600);
  // Auto Scaling refuses the update's own call for a while.
  life.faults = {
    cloudCall: (operation) =>
      operation === 'TerminateInstanceInAutoScalingGroup'
        ? { kind: 'refused', code: 'Throttled' }
        : { kind: 'ok' },
  };
  await life.driver.advance(75);
  life.fromOutside('TerminateInstanceInAutoScalingGroup', {
    InstanceId: drained()?.metadata.name ?? '',
    ShouldDecrementDesiredCapacity: false,
  });
  await life.driver.advance(30);
  life.faults = {};
  await life.until('it is over', () => areOver(life), 2 * 3600);
  await life.driver.advance(900);
  expect(latest(life)?.status?.status).toBe('Successful');
  expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 9, desired: 2 });
  expect(life.autoScalingGroups()[0]).toMatchObject({ DesiredCapacity: 2, MaxSize: 9 });
  expect(life.check().violations).toEqual([]);
  await life.end();
});
