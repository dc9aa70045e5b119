// Updates by Drover's own strategy if some or all zones have no capacity for new nodes, in virtual
// time. The other zones continue; the group's policy decides whether nodes of short zones are
// drained last, kept, or drained before their replacement.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { UpdateCapacity } from '../../src/api/update-policy.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  imageOf,
  isCordoned,
  latest,
  makeGroup,
  namesOf,
  newest,
  older,
  phasesOf,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const begin = async (zones: number, capacity?: UpdateCapacity): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 3, maxSize: 9, zones });
  const updateConfig = {
    updateStrategy: 'SURGE',
    maxUnavailable: 1,
    ...(capacity === undefined ? {} : { capacity: { ...capacity } }),
  };
  expect(life.patch({ spec: { updateConfig } }).kind).not.toBe('error');
  return life;
};

const zonesOf = (life: GroupLife): readonly string[] =>
  Object.keys(life.group()?.status?.perZone ?? {});
const zoneOf = ({ metadata }: JsonObject): string =>
  String(objectOr(objectOr(metadata).labels)['topology.kubernetes.io/zone']);
const oldOnes = (life: GroupLife): readonly JsonObject[] => {
  const { imageId } = latest(life)?.status?.target ?? {};
  return life.nodes().filter((node) => imageOf(node) !== imageId);
};

describe('a zone without capacity', () => {
  it('is told, and its nodes go last, after a wait; new ones come elsewhere', async () => {
    const life = await begin(3, { waitSeconds: 900 });
    const [zone = ''] = zonesOf(life);
    life.world.faults.inject('no-capacity', { zone });
    askFor(life, newest);
    const isLast = (): boolean => oldOnes(life).length === 1;
    await life.until('one is left', isLast, 3600);
    expect(oldOnes(life).map(zoneOf)).toEqual([zone]);
    expect(latest(life)?.status?.shortages).toEqual([
      expect.objectContaining({
        zone,
        code: 'AsgInstanceLaunchFailures',
        message: expect.stringContaining('InsufficientInstanceCapacity'),
      }),
    ]);
    const began = Date.parse(latest(life)?.status?.shortages?.[0]?.at ?? '');
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Successful');
    const ended = Date.parse(latest(life)?.status?.endedAt ?? '');
    expect(ended - began).toBeGreaterThan(900_000);
    await untilAtRest(life, 3);
    expect(life.nodes().map(zoneOf)).not.toContain(zone);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('keeps its nodes where the group says so, and the update names it', async () => {
    const life = await begin(3, { onShortage: 'Fail', waitSeconds: 60 });
    const [zone = ''] = zonesOf(life);
    life.world.faults.inject('no-capacity', { zone });
    askFor(life, newest);
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(latest(life)?.status).toMatchObject({
      status: 'Failed',
      progress: { total: 3, done: 2 },
      errors: [{ code: 'NodeCreationFailure', message: expect.stringContaining(zone) }],
    });
    expect(oldOnes(life).map(zoneOf)).toEqual([zone]);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    await life.end();
  });
});

it('a subnet without addresses keeps its zone’s nodes under EKS’ code', async () => {
  const life = await begin(3, { onShortage: 'Fail', waitSeconds: 60 });
  const [subnet = ''] = life.group()?.spec.subnets ?? [];
  life.world.faults.inject('no-addresses', { subnet });
  askFor(life, newest);
  await untilOver(life);
  expect(latest(life)?.status?.errors?.[0]?.code).toBe('InsufficientFreeAddresses');
  expect(latest(life)?.status?.progress).toMatchObject({ total: 3, done: 2 });
  life.world.faults.clear();
  await untilAtRest(life, 3);
  await life.end();
});

describe('no room for first new nodes anywhere', () => {
  it('ends the update with nothing moved, as EKS does', async () => {
    const life = await begin(1);
    const before = namesOf(life);
    life.world.faults.inject('no-capacity', {});
    askFor(life, newest);
    await untilOver(life);
    await untilAtRest(life, 3);
    expect(latest(life)?.status?.errors?.[0]?.code).toBe('NodeCreationFailure');
    expect(namesOf(life).toSorted()).toEqual(before.toSorted());
    expect(life.group()?.status?.releaseVersion).toBe(older);
    await life.end();
  });

  it('drains first and replaces then where the group says so', async () => {
    const life = await begin(1, { onShortage: 'Minimal', waitSeconds: 60 });
    life.world.faults.inject('no-capacity', {});
    askFor(life, newest);
    await life.until('it rolls', () => phasesOf(latest(life)).includes('Rolling'), 600);
    expect(latest(life)?.status).toMatchObject({ surge: 0 });
    expect(latest(life)?.status?.message).toMatch(/drained first.*InsufficientInstanceCapacity/);
    const isDown = (): boolean => (latest(life)?.status?.progress?.draining ?? 0) > 0;
    await life.until('the first drain', isDown, 600);
    // The replacement gets the capacity that the old node frees.
    life.world.faults.clear();
    let most = 0;
    await life.until(
      'it is over',
      () => {
        most = Math.max(most, Number(life.autoScalingGroups()[0]?.DesiredCapacity));
        return latest(life)?.status?.status !== 'InProgress';
      },
      7200,
    );
    expect(latest(life)?.status?.status).toBe('Successful');
    expect(latest(life)?.status?.shortages ?? []).toEqual([]);
    expect(latest(life)?.status?.message ?? '').not.toMatch(/No room/);
    expect(most).toBe(3);
    await untilAtRest(life, 3);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
