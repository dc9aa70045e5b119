// Zones of a group that Drover's own strategy updates: they end even. Otherwise EC2 Auto Scaling
// would rebalance them: launch one more node and terminate a new one.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];

const membersOf = (life: GroupLife): readonly JsonObject[] =>
  (life.autoScalingGroups()[0]?.Instances ?? []) as readonly JsonObject[];

const perZone = (life: GroupLife): readonly number[] => {
  const counts = new Map<string, number>();
  for (const { AvailabilityZone: zone } of membersOf(life)) {
    counts.set(String(zone), (counts.get(String(zone)) ?? 0) + 1);
  }
  return [...counts].toSorted(([a], [b]) => a.localeCompare(b)).map(([, count]) => count);
};

/** Terminates an instance and decrements the size, as an operator may. */
const end = async (life: GroupLife, zone: string): Promise<void> => {
  const member = membersOf(life).find(({ AvailabilityZone }) =>
    String(AvailabilityZone).endsWith(zone),
  );
  const size = membersOf(life).length;
  life.world.aws.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
    InstanceId: String(member?.InstanceId),
    ShouldDecrementDesiredCapacity: true,
  });
  await life.until(`there is one less in zone ${zone}`, () => membersOf(life).length < size, 1800);
};

describe('zones of a group that is updated', () => {
  it.each([
    ['with one more in the last zone', 'ab', 1, [1, 1, 2]],
    ['with one less in the first zone', 'a', 1, [1, 2, 2]],
    ['all at once', 'ab', 4, [1, 1, 2]],
  ] as const)('%s end even, and nothing new is ended', async (_, ended, most, before) => {
    const life = await GroupLife.begin();
    await life.create({
      releaseVersion: older,
      scalingConfig: { minSize: 0, maxSize: 10, desiredSize: 6 },
    });
    await life.until('the group is ACTIVE', () => life.isActive(6));
    for (const zone of ended) await end(life, zone);
    const size = 6 - ended.length;
    await life.until('the group is ACTIVE', () => life.isActive(size));
    expect(perZone(life)).toEqual(before);
    const updateConfig = { updateStrategy: 'SURGE', maxUnavailable: most };
    const old = new Set(membersOf(life).map(({ InstanceId }) => InstanceId));
    const launched = new Set<unknown>();
    const look = (): void => {
      for (const { InstanceId } of membersOf(life)) {
        if (!old.has(InstanceId)) launched.add(InstanceId);
      }
    };
    life.patch({ spec: { updateConfig, releaseVersion: newest } });
    const isOver = (): boolean => {
      look();
      return life.updates()[0]?.status?.endedAt !== undefined;
    };
    await life.until('the update is over', isOver, 7200);
    expect(life.updates()[0]?.status?.status).toBe('Successful');
    for (let minutes = 0; minutes < 30; minutes++) {
      await life.driver.advance(60);
      look();
    }
    expect(launched.size).toBe(size);
    expect(
      membersOf(life)
        .map(({ InstanceId }) => InstanceId)
        .toSorted(),
    ).toEqual([...launched].toSorted());
    expect(Math.max(...perZone(life)) - Math.min(...perZone(life))).toBeLessThan(2);
    expect(perZone(life)).toHaveLength(3);
    expect(objectOr(life.group()?.status).surge).toBeUndefined();
    await life.end();
  });
});
