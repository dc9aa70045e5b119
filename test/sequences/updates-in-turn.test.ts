// The order in which a group's updates run if it differs from the order of their creation. The
// cases are an automatic rollback, and an update that is recreated after its object was deleted.
import { describe, expect, it } from 'vitest';
import { resourceTypes } from '../../src/api/kube.ts';
import { changeBack } from '../../src/cli/commands/rollback.ts';
import { inTurn } from '../../src/core/update/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  areOver,
  askFor,
  imageOf,
  makeGroup,
  newest,
  older,
  untilAtRest,
  untilOver,
  updatesOf,
} from '../support/update-world.ts';

const record = (life: GroupLife, name: string, releaseVersion: string): void =>
  life.make(resourceTypes.nodegroupupdates, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name },
    spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: { releaseVersion } },
  });

const named = (life: GroupLife, name: string) =>
  life.updates().find(({ metadata }) => metadata.name === name);

/** One update runs, and another waits for its end. */
const begin = async (next = newest): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life);
  life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE', maxUnavailable: 1 } } });
  record(life, 'first', newest);
  const isRolling = () => named(life, 'first')?.status?.progress?.done === 1;
  await life.until('it has updated a node', isRolling, 3600);
  record(life, 'second', next);
  await life.until('it waits', () => named(life, 'second')?.status?.phase === 'Pending', 60);
  return life;
};

describe('an update that waits while the one before it is reverted', () => {
  it('begins when the way back is done, and is not undone by it', async () => {
    const life = await begin();
    life.patchUpdate('first', { spec: { abort: 'RollBack' } });
    await untilOver(life);
    await untilAtRest(life, 2);
    expect(updatesOf(life).map(({ metadata, status }) => [metadata.name, status?.status])).toEqual([
      ['first', 'Cancelled'],
      ['first-rollback', 'Successful'],
      ['second', 'Successful'],
    ]);
    expect(life.group()?.status?.releaseVersion).toBe(newest);
    expect(life.group()?.spec.releaseVersion).toBe(newest);
    expect(life.updates()).toHaveLength(3);
    // The revision to which `drover rollback nodegroup` returns.
    const lastFirst = life.updates().toSorted((a, b) => inTurn(b, a));
    expect(changeBack('ng', lastFirst).releaseVersion).toBe(older);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});

describe('an update that vanishes while another waits for it', () => {
  it('is set back before that one begins', async () => {
    const life = await begin(older);
    life.patchUpdate('first', { metadata: { finalizers: null } });
    life.user.delete(resourceTypes.nodegroupupdates, { name: 'first' });
    await life.until('it is there again', () => named(life, 'first') !== undefined, 60);
    await life.until(
      'it is over',
      () => named(life, 'first')?.status?.status === 'Cancelled',
      3600,
    );
    await untilOver(life);
    await untilAtRest(life, 2);
    const begun = named(life, 'second')?.status?.startedAt ?? '';
    expect(begun >= (named(life, 'first')?.status?.endedAt ?? '9')).toBe(true);
    expect(named(life, 'second')?.status?.status).toBe('Successful');
    expect(new Set(life.nodes().map(imageOf)).size).toBe(1);
    // The second update's change of the spec is not a request of its own.
    expect(life.updates()).toHaveLength(2);
    const [group = {}] = life.autoScalingGroups();
    expect(group).toMatchObject({ MinSize: 0, MaxSize: 4, DesiredCapacity: 2 });
    expect(group.SuspendedProcesses ?? []).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('leaves what the spec asks for afterwards to be an update of its own', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    askFor(life, newest);
    await life.until('it runs', () => life.updates()[0]?.status?.phase === 'Rolling', 3600);
    const name = life.updates()[0]?.metadata.name ?? '';
    life.patchUpdate(name, { metadata: { finalizers: null } });
    life.user.delete(resourceTypes.nodegroupupdates, { name });
    await life.until('it is over', () => life.updates().length === 1 && areOver(life), 7200);
    await untilAtRest(life, 2);
    life.patch({ spec: { releaseVersion: null } });
    await life.driver.advance(60);
    await life.until('all are over', () => areOver(life), 7200);
    const before = life.updates().length;
    life.patch({ spec: { version: '1.31' } });
    await life.until('there is an update', () => life.updates().length === before + 1, 60);
    await untilOver(life);
    await life.end();
  });
});
