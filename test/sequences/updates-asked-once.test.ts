// One request for a version update makes one update. The cases are a changed spec and a command at
// once, a failed update and a restart, other changes of the spec, and a tool that repeats the same
// spec.
import { describe, expect, it } from 'vitest';
import { updateNameOf } from '../../src/core/update/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askAgain,
  askFor,
  latest,
  makeGroup,
  newest,
  older,
  untilAtRest,
  untilOver,
  updatesOf,
} from '../support/update-world.ts';

const kind = { group: 'drover.dev', resource: 'nodegroupupdates' };

/**
 * Records the update as `drover update nodegroup` does, just before or after the controller reads
 * the spec.
 */
const command = (life: GroupLife, releaseVersion: string) => {
  const group = life.group();
  if (group === undefined) throw new Error('no group');
  const change = { version: '1.32', releaseVersion };
  return life.user.create(kind, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name: updateNameOf(group, { change }, life.updates()) },
    spec: { nodeGroup: 'ng', type: 'VersionUpdate', action: 'Update', params: [], change },
  });
};

describe('a changed spec and a command that ask for the same at once', () => {
  it('are one update, whichever comes first', async () => {
    for (const isFirst of [true, false]) {
      const life = await GroupLife.begin();
      await makeGroup(life);
      if (isFirst) expect(command(life, newest).kind).not.toBe('error');
      askFor(life, newest);
      if (!isFirst) {
        await life.until('the spec is an update', () => life.updates().length > 0, 60);
        expect(JSON.stringify(command(life, newest))).toContain('already exists');
      }
      await untilOver(life);
      await untilAtRest(life, 2);
      expect(updatesOf(life).map(({ status }) => status?.status)).toEqual(['Successful']);
      await life.end();
    }
  });
});

const none = '1.32.9-20991231';

describe('a spec whose update failed', () => {
  it('is not tried again by a restart, by time or by another change of the spec', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    let dies = true;
    // Between the update's end and its record in the group's status.
    life.faults.afterWrite = ({ resource }) => {
      if (!dies || resource !== 'nodegroupupdates' || latest(life)?.status?.endedAt === undefined)
        return;
      dies = false;
      life.patch({ spec: { labels: { team: 'a' } } });
      life.killFor(20);
    };
    askFor(life, none);
    await untilOver(life);
    await life.driver.advance(120);
    expect(dies).toBe(false);
    for (const team of ['b', 'c']) {
      life.killFor(5);
      life.patch({ spec: { labels: { team } } });
      await life.driver.advance(1800);
    }
    expect(updatesOf(life).map(({ status }) => status?.status)).toEqual(['Failed']);
    askFor(life, newest);
    await life.until('another request is one', () => life.updates().length === 2, 120);
    await untilOver(life);
    expect(latest(life)?.status?.status).toBe('Successful');
    await life.end();
  });

  it('and was reverted is not tried again because Git applies it again', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life, { desired: 2, maxSize: 6 });
    const rollback = { auto: true };
    life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE', rollback } } });
    life.world.faults.inject('never-join', {});
    askFor(life, newest);
    await life.until('it went back', () => life.group()?.spec.releaseVersion === older, 7200);
    for (let times = 0; times < 3; times++) {
      askFor(life, newest);
      await life.driver.advance(1800);
    }
    expect(updatesOf(life).map(({ status }) => status?.status)).toEqual(['Failed', 'Successful']);
    const [failed] = updatesOf(life);
    expect(life.group()?.status).toMatchObject({
      failedUpdate: failed?.metadata.name,
      health: [{ message: expect.stringContaining('the spec asks for the same again') }],
    });
    life.world.faults.clear();
    askAgain(life);
    await untilOver(life);
    await untilAtRest(life, 2);
    expect(latest(life)?.status?.status).toBe('Successful');
    expect(life.group()?.status?.releaseVersion).toBe(newest);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
