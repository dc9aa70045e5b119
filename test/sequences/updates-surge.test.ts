// Drover's own strategy in virtual time. It makes exactly as many launches as nodes, moves no pod
// twice, terminates no new node, and drains no batch that exceeds the drain timeout.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { NodeGroupUpdate } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];

const begin = async (desired: number, maxUnavailable = 1): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create({
    releaseVersion: older,
    scalingConfig: { minSize: 0, maxSize: 10, desiredSize: desired },
  });
  await life.until('the group is ACTIVE', () => life.isActive(desired));
  const updateConfig = { updateStrategy: 'SURGE', maxUnavailable };
  expect(life.patch({ spec: { updateConfig } }).kind).not.toBe('error');
  return life;
};
const only = (life: GroupLife): NodeGroupUpdate | undefined => life.updates()[0];
const isOver = (life: GroupLife): boolean =>
  !['InProgress', undefined].includes(only(life)?.status?.status);
const names = (life: GroupLife): readonly string[] =>
  life.nodes().map(({ metadata }) => String(objectOr(metadata).name));

const autoscaler = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
const isShield = (key: string): boolean => key.includes('scale-down-disabled');
const annotationsOf = ({ metadata }: JsonObject) => objectOr(objectOr(metadata).annotations);
const imageOf = (metadata: JsonObject[string] | undefined) =>
  objectOr(objectOr(metadata).labels)['eks.amazonaws.com/nodegroup-image'];
const suspended = (life: GroupLife): readonly unknown[] =>
  ((life.autoScalingGroups()[0]?.SuspendedProcesses ?? []) as readonly JsonObject[]).map(
    ({ ProcessName }) => ProcessName,
  );

describe('Drover’s own strategy', () => {
  it.each([
    [3, 1],
    [6, 2],
    [2, 3],
  ])(
    'of %d nodes, %d at once, makes exactly as many, and ends nothing new',
    async (desired, most) => {
      const life = await begin(desired, most);
      life.deploy(desired * 3, 2);
      await life.driver.advance(120);
      const before = names(life);
      const launched = new Set<string>();
      let draining = 0;
      life.patch({ spec: { releaseVersion: newest } });
      await life.until(
        'the update is over',
        () => {
          for (const name of names(life)) if (!before.includes(name)) launched.add(name);
          draining = Math.max(draining, only(life)?.status?.progress?.draining ?? 0);
          return isOver(life);
        },
        7200,
      );
      expect(only(life)?.status).toMatchObject({ status: 'Successful', strategy: 'SURGE' });
      expect(launched.size).toBe(desired);
      expect(draining).toBeLessThanOrEqual(most);
      await life.until(
        'the group is ACTIVE',
        () => life.isActive(desired) && names(life).length === desired,
      );
      expect(names(life).toSorted()).toEqual([...launched].toSorted());
      expect(life.group()?.status).toMatchObject({ desired, maxSize: 10, releaseVersion: newest });
      expect(life.group()?.status?.surge).toBeUndefined();
      const tainted = life.nodes().filter((node) => JSON.stringify(node.spec).includes('outdated'));
      expect(tainted).toEqual([]);
      await life.end();
    },
  );

  it('gives everything back when a budget never allows', async () => {
    const life = await begin(3);
    life.deploy(6, 0);
    await life.driver.advance(120);
    const before = names(life);
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('the update is over', () => isOver(life), 7200);
    expect(only(life)?.status?.errors?.[0]?.code).toBe('PodEvictionFailure');
    await life.until(
      'the group is ACTIVE',
      () => life.isActive(3) && names(life).length === 3,
      1800,
    );
    expect(names(life).toSorted()).toEqual(before.toSorted());
    const marked = life
      .nodes()
      .filter(({ spec }) => /outdated|unschedulable":true/.test(JSON.stringify(spec)));
    expect(marked).toEqual([]);
    await life.end();
  });

  it('retires instead of replacing when fewer are wanted meanwhile', async () => {
    const life = await begin(5);
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('one is done', () => (only(life)?.status?.progress?.done ?? 0) >= 1, 3600);
    life.patch({ spec: { scaling: { desired: 3 } } });
    await life.until('the update is over', () => isOver(life), 7200);
    expect(only(life)?.status?.status).toBe('Successful');
    await life.until(
      'the group is ACTIVE',
      () => life.isActive(3) && names(life).length === 3,
      1800,
    );
    await life.end();
  });

  it('begins nothing new while it is paused, and continues afterwards', async () => {
    const life = await begin(3);
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('one is done', () => (only(life)?.status?.progress?.done ?? 0) >= 1, 3600);
    const name = only(life)?.metadata.name ?? '';
    life.patchUpdate(name, { spec: { paused: true } });
    await life.driver.advance(600);
    const done = only(life)?.status?.progress?.done;
    await life.driver.advance(1200);
    expect(only(life)?.status?.progress).toMatchObject({ done, draining: 0 });
    life.patchUpdate(name, { spec: { paused: false } });
    await life.until('the update is over', () => isOver(life), 7200);
    expect(only(life)?.status?.status).toBe('Successful');
    await life.end();
  });

  it('rolls back what it has done when it is aborted so', async () => {
    const life = await begin(3);
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('one is done', () => (only(life)?.status?.progress?.done ?? 0) >= 1, 3600);
    const name = only(life)?.metadata.name ?? '';
    life.patchUpdate(name, { spec: { abort: 'RollBack' } });
    const back = () => life.updates().find(({ spec }) => spec.action === 'Rollback');
    await life.until('the way back', () => back()?.status?.status === 'Successful', 7200);
    expect(life.updates().find(({ metadata }) => metadata.name === name)?.status?.status).toBe(
      'Cancelled',
    );
    await life.until('the group is ACTIVE', () => life.isActive(3) && names(life).length === 3);
    expect(life.group()?.status?.releaseVersion).toBe(older);
    const images = life.nodes().map(({ metadata }) => imageOf(metadata));
    expect(new Set(images).size).toBe(1);
    expect(images[0]).toBe(life.group()?.status?.imageId);
    await life.end();
  });

  it('keeps zones and the cluster autoscaler still, and lets both go again', async () => {
    const life = await begin(3);
    const user = life.nodes()[0];
    life.annotate(String(objectOr(user?.metadata).name), { [autoscaler]: 'false' });
    life.patch({ spec: { releaseVersion: newest } });
    await life.until(
      'the first drain',
      () => (only(life)?.status?.progress?.draining ?? 0) > 0,
      3600,
    );
    expect(suspended(life)).toEqual(['AZRebalance']);
    const shields = life.nodes().map((node) => annotationsOf(node)[autoscaler]);
    // The autoscaler ignores any other value; a user's value is restored at the end.
    expect(shields.filter((value) => value !== 'true')).toEqual([]);
    await life.until('the update is over', () => isOver(life), 7200);
    expect(suspended(life)).toEqual([]);
    expect(
      life.nodes().flatMap((node) => Object.keys(annotationsOf(node)).filter(isShield)),
    ).toEqual([]);
    await life.end();
  });
});

describe('what is asked for in the spec', () => {
  it('is held to EKS’ rule of versions, as what comes through EKS is', async () => {
    const life = await begin(2);
    for (const version of ['1.33', '1.31']) {
      life.patch({ spec: { version, releaseVersion: null } });
      const isRefused = (): boolean =>
        life
          .updates()
          .some(
            ({ spec, status }) => spec.change.version === version && status?.status === 'Failed',
          );
      await life.until('it is refused', isRefused, 120);
    }
    const errors = life.updates().map(({ status }) => status?.errors?.[0]);
    expect(errors).toHaveLength(2);
    for (const error of errors) {
      expect(error?.code).toBe('OperationNotPermitted');
      expect(error?.message).toContain('should be equal to Cluster kubernetes version 1.32');
    }
    expect(life.isActive(2)).toBe(true);
    await life.end();
  });

  it('is what the group is when an update is stopped after its last old node', async () => {
    const life = await begin(2);
    life.patch({ spec: { releaseVersion: newest } });
    const isLast = (): boolean => {
      const { total = 9, done = 0, draining = 0 } = only(life)?.status?.progress ?? {};
      return done + draining === total;
    };
    await life.until('the last drain', isLast, 3600);
    life.patchUpdate(only(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await life.until('the update is over', () => isOver(life), 7200);
    expect(only(life)?.status?.status).toBe('Cancelled');
    await life.until('it tells so', () => life.group()?.status?.releaseVersion === newest, 60);
    await life.end();
  });

  it('with force goes as many at once as may be, whatever budgets say', async () => {
    const life = await begin(4, 2);
    life.deploy(8, 0);
    await life.driver.advance(60);
    life.forceUpdate(newest);
    let most = 0;
    await life.until(
      'the update is over',
      () => {
        most = Math.max(most, only(life)?.status?.progress?.draining ?? 0);
        return isOver(life);
      },
      9000,
    );
    expect(only(life)?.status?.status).toBe('Successful');
    expect(most).toBe(2);
    await life.end();
  });
});
