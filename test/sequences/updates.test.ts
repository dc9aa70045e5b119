// Version updates of node groups in virtual time, with EKS' strategies. The tests check the order
// of phases, EKS' numbers and codes, and the state that remains after a failure.

import { describe, expect, it } from 'vitest';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];

interface Wish {
  readonly desired?: number;
  readonly updateConfig?: JsonObject;
}

/** A managed group, one release behind the newest. */
const begin = async ({ desired = 3, updateConfig }: Wish = {}): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create({
    releaseVersion: older,
    scalingConfig: { minSize: 0, maxSize: 6, desiredSize: desired },
    ...defined({ updateConfig }),
  });
  await life.until('the group is ACTIVE', () => life.isActive(desired));
  return life;
};

/** Requests the version as `kubectl patch` or Git does. */
const askFor = (life: GroupLife, releaseVersion: string): void => {
  expect(life.patch({ spec: { releaseVersion } }).kind).not.toBe('error');
};

const only = (life: GroupLife): NodeGroupUpdate | undefined => life.updates()[0];
const isOver = (life: GroupLife): boolean => {
  const { status } = only(life)?.status ?? {};
  return status !== undefined && status !== 'InProgress';
};
const phases = (life: GroupLife): readonly string[] =>
  (only(life)?.status?.phases ?? []).map(({ phase }) => phase);
const names = (life: GroupLife): readonly string[] =>
  life.nodes().map(({ metadata }) => String(objectOr(metadata).name));
const isCordoned = (node: JsonObject): boolean => objectOr(node.spec).unschedulable === true;

/** Marked nodes count too, since they run their pods. */
const isReadyNode = ({ status }: JsonObject): boolean =>
  JSON.stringify(objectOr(status).conditions).includes('"type":"Ready","status":"True"');

describe('an update as EKS does it', () => {
  it('replaces every node, in the phases of EKS, and takes the surplus back', async () => {
    const life = await begin();
    const before = names(life);
    life.deploy(6, 1);
    await life.driver.advance(60);
    askFor(life, newest);
    await life.until('more nodes than asked for', () => life.nodes().length === 9, 600);
    expect(only(life)?.status).toMatchObject({ phase: 'ScalingUp', surge: 6, maxUnavailable: 1 });
    await life.until('the update is over', () => isOver(life), 7200);
    expect(only(life)?.status).toMatchObject({
      status: 'Successful',
      from: { releaseVersion: older },
      target: { releaseVersion: newest },
      original: { minSize: 0, maxSize: 6, desired: 3 },
      progress: { total: 3, done: 3, draining: 0, failed: 0 },
    });
    expect(phases(life)).toEqual([
      ...['Preparing', 'ScalingUp', 'Marking', 'Rolling', 'ScalingDown', 'Ended'],
    ]);
    await life.until('the group is ACTIVE', () => life.isActive(3));
    expect(names(life).filter((name) => before.includes(name))).toEqual([]);
    expect(life.group()?.status).toMatchObject({ releaseVersion: newest, desired: 3, maxSize: 6 });
    expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 6, desired: 3 });
    // No further update starts by itself.
    await life.driver.advance(300);
    expect(life.updates()).toHaveLength(1);
    await life.end();
  });

  it('marks all old nodes before it empties the first, one at a time', async () => {
    const life = await begin();
    life.deploy(6, 1);
    await life.driver.advance(60);
    const before = new Set(names(life));
    askFor(life, newest);
    await life.until('the first drain', () => phases(life).includes('Rolling'), 900);
    const old = life.nodes().filter(({ metadata }) => before.has(String(objectOr(metadata).name)));
    expect(old).toHaveLength(3);
    expect(old.every(isCordoned)).toBe(true);
    let most = 0;
    await life.until(
      'the update is over',
      () => {
        most = Math.max(most, only(life)?.status?.progress?.draining ?? 0);
        return isOver(life);
      },
      7200,
    );
    expect(most).toBe(1);
    await life.end();
  });

  it('MINIMAL makes no surplus and is never short of more than may be unavailable', async () => {
    const life = await begin({ updateConfig: { updateStrategy: 'MINIMAL', maxUnavailable: 1 } });
    askFor(life, newest);
    let [most, least] = [0, 9];
    await life.until(
      'the update is over',
      () => {
        most = Math.max(most, life.group()?.status?.desired ?? 0);
        least = Math.min(least, life.nodes().filter(isReadyNode).length);
        return isOver(life);
      },
      7200,
    );
    expect(only(life)?.status?.status).toBe('Successful');
    expect([most, least]).toEqual([3, 2]);
    await life.end();
  });

  it('of a group without nodes is a template and done', async () => {
    const life = await begin({ desired: 0 });
    askFor(life, newest);
    await life.until('the update is over', () => isOver(life), 120);
    expect(only(life)?.status?.status).toBe('Successful');
    expect(life.group()?.status?.releaseVersion).toBe(newest);
    await life.end();
  });
});

describe('an update that cannot continue', () => {
  it('is PodEvictionFailure after 15 minutes, naming pod and budget; the nodes are uncordoned', async () => {
    const life = await begin();
    life.deploy(6, 0);
    await life.driver.advance(60);
    const before = names(life);
    askFor(life, newest);
    await life.until('the update is over', () => isOver(life), 7200);
    const { status, errors, failedNodes } = only(life)?.status ?? {};
    expect(status).toBe('Failed');
    expect(errors?.[0]).toMatchObject({ code: 'PodEvictionFailure' });
    expect(errors?.[0]?.message).toMatch(/default\/web-.*budget default\/web/);
    expect(failedNodes).toHaveLength(1);
    await life.until(
      'the group is ACTIVE',
      () => life.isActive(3) && life.nodes().length === 3,
      1800,
    );
    const left = life.nodes();
    expect(left.filter(isCordoned)).toEqual([]);
    expect(names(life).toSorted()).toEqual(before.toSorted());
    expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 6, desired: 3 });
    // EKS reports the release with which the group was last completely up to date.
    expect(life.group()?.status?.releaseVersion).toBe(older);
    await life.driver.advance(600);
    expect(life.updates()).toHaveLength(1);
    await life.end();
  });

  it('with force deletes what is left after the 15 minutes, not before', async () => {
    const life = await begin({ desired: 1 });
    life.deploy(2, 0);
    await life.driver.advance(60);
    await life.forceUpdate(newest);
    await life.until('the first drain', () => phases(life).includes('Rolling'), 900);
    await life.driver.advance(14 * 60);
    expect(life.nodes().filter(isCordoned)).toHaveLength(1);
    expect(life.runningPods('web')).toBe(2);
    await life.until('the update is over', () => isOver(life), 7200);
    expect(only(life)?.status?.status).toBe('Successful');
    await life.end();
  });

  it('is NodeCreationFailure when new nodes do not join, and no old node was touched', async () => {
    const life = await begin();
    const before = names(life);
    life.world.faults.inject('never-join', {});
    askFor(life, newest);
    let touched = 0;
    await life.until(
      'the update is over',
      () => {
        touched = Math.max(touched, life.nodes().filter(isCordoned).length);
        return isOver(life);
      },
      7200,
    );
    expect(touched).toBe(0);
    const { status, errors } = only(life)?.status ?? {};
    expect(status).toBe('Failed');
    expect(errors?.[0]?.code).toBe('NodeCreationFailure');
    expect(errors?.[0]?.message).toContain(
      "Couldn't proceed with upgrade process as new nodes are not joining node group ng",
    );
    await life.until('the group is ACTIVE', () => life.isActive(3), 1800);
    expect(names(life).toSorted()).toEqual(before.toSorted());
    // New nodes start from the old release again.
    life.world.faults.clear();
    life.patch({ spec: { scaling: { desired: 4 } } });
    await life.until('a fourth node', () => life.isActive(4), 900);
    const images = new Set(
      life
        .nodes()
        .map(
          ({ metadata }) =>
            objectOr(objectOr(metadata).labels)['eks.amazonaws.com/nodegroup-image'],
        ),
    );
    expect(images.size).toBe(1);
    await life.end();
  });

  it('continues where it stopped when it is asked for again', async () => {
    const life = await begin();
    life.deploy(6, 1);
    await life.driver.advance(60);
    askFor(life, newest);
    await life.until(
      'one node is done',
      () => (only(life)?.status?.progress?.done ?? 0) === 1,
      7200,
    );
    const [update] = life.updates();
    life.patchUpdate(update?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await life.until('the update is over', () => isOver(life), 3600);
    expect(only(life)?.status?.status).toBe('Cancelled');
    await life.until(
      'the group is ACTIVE',
      () => life.isActive(3) && life.nodes().length === 3,
      1800,
    );
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    const done = names(life);
    await life.forceUpdate(newest);
    await life.until(
      'the second is over',
      () => life.updates().every((one) => updateStatusOf(one) !== 'InProgress'),
      7200,
    );
    const second = life.updates().find((one) => one.metadata.name !== update?.metadata.name);
    expect(second?.status?.status).toBe('Successful');
    expect(second?.status?.progress?.total).toBeLessThan(3);
    expect(done.length).toBe(3);
    await life.end();
  });
});
