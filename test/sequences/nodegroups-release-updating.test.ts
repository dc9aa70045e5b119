// The release of a node group while an update runs, in virtual time: no marks, scale-in protection
// or suspended processes remain. Surplus instances remain and are reported.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { askFor, isCordoned, makeGroup, newest, runApp } from '../support/update-world.ts';

const sizes = (life: GroupLife, name: string): JsonObject => {
  const answer = life.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {
    AutoScalingGroupNames: [name],
  });
  const [group] = objectOr(answer).AutoScalingGroups as readonly JsonObject[];
  const { MinSize, MaxSize, DesiredCapacity, Instances, SuspendedProcesses } = group ?? {};
  const instances = (Instances ?? []) as readonly JsonObject[];
  return {
    MinSize: Number(MinSize),
    MaxSize: Number(MaxSize),
    DesiredCapacity: Number(DesiredCapacity),
    instances: instances.length,
    protected: instances.filter((one) => one.ProtectedFromScaleIn === true).length,
    suspended: JSON.stringify(SuspendedProcesses ?? []),
  };
};

const ours = /^drover\.dev\/|scale-down-disabled|exclude-from-external/;

/** Marks that Drover and an update put on nodes, and drains that have not ended. */
const marks = (life: GroupLife): readonly string[] => {
  const { nodedisruptions } = resourceTypes;
  const open = [...life.world.kube.readAll(nodedisruptions)]
    .filter(({ status }) => objectOr(status).phase !== 'Ended')
    .map(({ metadata }) => `drain of ${metadata.name}`);
  const onNodes = life.nodes().flatMap((node) => {
    const { annotations, labels } = objectOr(node.metadata);
    const names = Object.keys({ ...objectOr(annotations), ...objectOr(labels) });
    const taints = JSON.stringify(objectOr(node.spec).taints ?? []);
    return [
      ...names.filter((one) => ours.test(one)),
      ...(isCordoned(node) ? ['cordon'] : []),
      ...(taints === '[]' ? [] : [taints]),
    ];
  });
  return [...onNodes, ...open];
};

describe('a NodeGroup that is released while an update runs', () => {
  it.each([
    ['DEFAULT', 2],
    ['MINIMAL', 0],
    ['SURGE', 1],
    ['BLUE_GREEN', 2],
  ] as const)(
    '%s: removes its marks, ends no instance, and reports a surplus of %i',
    async (updateStrategy, surplus) => {
      const life = await GroupLife.begin({ hasEvents: true });
      await makeGroup(life);
      const name = String(life.autoScalingGroups()[0]?.AutoScalingGroupName);
      const before = sizes(life, name);
      life.patch({ spec: { deletionPolicy: 'Retain', updateConfig: { updateStrategy } } });
      // A budget that allows no eviction holds the update while it drains.
      await runApp(life, 4, 0);
      askFor(life, newest);
      await life.until('a node is marked', () => life.nodes().some(isCordoned), 1800);
      await life.driver.advance(20);
      life.user.delete(resourceTypes.nodegroups, { name: 'ng' });
      await life.until('the NodeGroup is gone', () => life.group() === undefined, 1200);
      await life.driver.advance(600);
      expect(marks(life)).toEqual([]);
      const size = 2 + surplus;
      expect(sizes(life, name)).toEqual({ ...before, DesiredCapacity: size, instances: size });
      const released = [...life.world.kube.readAll(resourceTypes.events)]
        .filter((event) => objectOr(event).reason === 'Released')
        .map((event) => String(objectOr(event).message));
      expect(released).toHaveLength(1);
      expect(/(\d+) of them are surplus/.exec(released[0] ?? '')?.[1] ?? '0').toBe(`${surplus}`);
      expect(life.updates().map(({ status }) => status?.status)).not.toContain('InProgress');
      expect(life.runningPods('web')).toBe(4);
      await life.end();
    },
  );
});

describe('the namespace of Drover', () => {
  it('may lose its leases and ConfigMaps: no instance of any group is terminated', async () => {
    const life = await GroupLife.begin({ twoLeaders: true });
    await makeGroup(life);
    const name = String(life.autoScalingGroups()[0]?.AutoScalingGroupName);
    const before = sizes(life, name);
    const namespace = 'kube-system';
    let removed = 0;
    for (const type of [resourceTypes.leases, resourceTypes.configmaps]) {
      for (const { metadata } of [...life.world.kube.readAll(type)]) {
        // aws-auth belongs to the cluster: without it no node is authorized.
        if (metadata.namespace !== namespace || metadata.name === 'aws-auth') continue;
        life.unmake(type, namespace, metadata.name);
        removed += 1;
      }
    }
    expect(removed).toBeGreaterThan(0);
    await life.driver.advance(900);
    expect(sizes(life, name)).toEqual(before);
    expect(life.called('TerminateInstanceInAutoScalingGroup')).toBe(0);
    expect(life.called('DeleteAutoScalingGroup')).toBe(0);
    expect(life.isActive(2)).toBe(true);
    await life.end();
  });
});
