// Waves with soak and approval, and health probes, in virtual time. The tests check the number of
// new nodes at each pause, and that no step starts while a probe fails.
import { describe, expect, it } from 'vitest';
import { epochMs, parseTime } from '../../src/api/brand.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { NodeGroupUpdate } from '../../src/api/nodegroup-update.ts';
import type { Http } from '../../src/ports/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];

const nowOf = (life: GroupLife) => epochMs(Math.floor(life.world.kernel.now() / 1000));

const begin = async (
  updateConfig: JsonObject,
  desired: number,
  http?: Http,
): Promise<GroupLife> => {
  const life = await GroupLife.begin(http === undefined ? {} : { http });
  await life.create({
    releaseVersion: older,
    scalingConfig: { minSize: 0, maxSize: 10, desiredSize: desired },
  });
  await life.until('the group is ACTIVE', () => life.isActive(desired));
  const patched = life.patch({ spec: { updateConfig } });
  expect(JSON.stringify(patched)).not.toContain('"kind":"error"');
  life.patch({ spec: { releaseVersion: newest } });
  return life;
};

const only = (life: GroupLife): NodeGroupUpdate | undefined => life.updates()[0];
const kinds = (life: GroupLife): string =>
  (only(life)?.status?.holds ?? []).map(({ kind }) => kind).join();
const done = (life: GroupLife): number => only(life)?.status?.progress?.done ?? 0;
const isOver = (life: GroupLife): boolean =>
  !['InProgress', undefined].includes(only(life)?.status?.status);

describe('waves', () => {
  it.each(['SURGE', 'DEFAULT', 'MINIMAL'])(
    'of %s rest after each share, for a while and for who approves',
    async (updateStrategy) => {
      const waves = [
        { percent: 20, soakSeconds: 900 },
        { percent: 60, soakSeconds: 60, gates: ['Approval'] },
        { percent: 100, soakSeconds: 300 },
      ];
      const life = await begin({ updateStrategy, maxUnavailable: 2, waves }, 5);
      await life.until('the first rest', () => kinds(life) === 'Soak', 3600);
      expect(done(life)).toBe(1);
      expect(only(life)?.status?.wave).toMatchObject({ number: 1, of: 3, upTo: 1 });
      const until = parseTime(only(life)?.status?.holds?.[0]?.until) ?? 0;
      await life.until('it goes on', () => only(life)?.status?.wave?.number === 2, 1200);
      expect(nowOf(life)).toBeGreaterThanOrEqual(until);
      expect(nowOf(life) - until).toBeLessThan(20_000);
      await life.until('the second rest', () => kinds(life) === 'Soak,WaveApproval', 3600);
      expect(done(life)).toBe(3);
      await life.driver.advance(6 * 3600);
      expect(kinds(life)).toBe('WaveApproval');
      expect(done(life)).toBe(3);
      const annotations = { 'drover.dev/approved-wave': '2' };
      life.patchUpdate(only(life)?.metadata.name ?? '', { metadata: { annotations } });
      await life.until('the last rest', () => done(life) === 5 && kinds(life) === 'Soak', 3600);
      expect(only(life)?.status?.status).toBe('InProgress');
      await life.until('the update is over', () => isOver(life), 3600);
      expect(only(life)?.status).toMatchObject({ status: 'Successful' });
      await life.until('the group is ACTIVE', () => life.isActive(5), 600);
      await life.end();
    },
  );

  it('rest as long as they should whatever is killed meanwhile', async () => {
    const waves = [{ percent: 50, soakSeconds: 1800, gates: ['Approval'] }];
    const life = await begin({ updateStrategy: 'SURGE', waves }, 2);
    await life.until('the rest', () => kinds(life).startsWith('Soak'), 3600);
    const { wave, holds } = only(life)?.status ?? {};
    for (let i = 0; i < 5; i++) {
      life.killFor(60);
      await life.driver.advance(200);
    }
    expect(only(life)?.status).toMatchObject({ wave, holds });
    const annotations = { 'drover.dev/approved-wave': '1' };
    life.patchUpdate(only(life)?.metadata.name ?? '', { metadata: { annotations } });
    await life.until('it goes on', () => kinds(life) === '', 1800);
    expect(nowOf(life)).toBeGreaterThanOrEqual(parseTime(holds?.[0]?.until) ?? 0);
    await life.until('the update is over', () => isOver(life), 3600);
    expect(only(life)?.status).toMatchObject({ status: 'Successful' });
    await life.end();
  });

  it('whose new nodes do not join fail as ever', async () => {
    const life = await begin(
      { updateStrategy: 'SURGE', waves: [{ percent: 50, soakSeconds: 60 }] },
      4,
    );
    await life.until(
      'the first drain',
      () => (only(life)?.status?.progress?.draining ?? 0) > 0,
      600,
    );
    life.world.faults.inject('never-join', {});
    await life.until('the update is over', () => isOver(life), 3 * 3600);
    expect(only(life)?.status?.errors?.[0]?.code).toBe('NodeCreationFailure');
    await life.end();
  });

  it('and probes that say nothing are refused by the API server', async () => {
    const life = await begin({ updateStrategy: 'SURGE', approval: 'Required' }, 1);
    const refused = (updateConfig: JsonObject): string =>
      JSON.stringify(life.patch({ spec: { updateConfig } }));
    expect(refused({ waves: [{ percent: 0 }] })).toContain('percent');
    expect(refused({ waves: [{ percent: 101 }] })).toContain('percent');
    expect(refused({ waves: [{ percent: 50 }, { percent: 20 }] })).toContain(
      'percent grows from wave to wave',
    );
    const [from, until] = ['2026-12-24T00:00:00Z', '2026-12-24T00:30:00+01:00'];
    expect(refused({ freezes: [{ from, until }] })).toContain('from is earlier than until');
    expect(refused({ waves: [{ percent: 50 }, { percent: 50 }] })).toContain(
      'percent grows from wave to wave',
    );
    expect(refused({ waves: [{ percent: 50, gates: ['Luck'] }] })).toContain('gates');
    const http = { url: 'http://w' };
    expect(refused({ probes: [{ name: 'p' }] })).toContain('either http or condition');
    expect(refused({ probes: [{ name: 'p', http: { url: 'ftp://w' } }] })).toContain('url');
    expect(refused({ probes: [{ name: 'p', http, intervalSeconds: 1 }] })).toContain('interval');
    expect(refused({ probes: [{ name: 'p', http, onFailure: 'Cry' }] })).toContain('onFailure');
    expect(refused({ probes: [{ name: 'p', http }] })).not.toContain('"kind":"error"');
    await life.end();
  });
});

/** An application whose status is the number that `answer` returns. */
const answering = (answer: () => number) => {
  const asked: string[] = [];
  const http: Http = {
    get: async (url) => {
      asked.push(url);
      return { status: answer() };
    },
    post: () => Promise.reject(new Error('a probe is a GET')),
  };
  return { http, asked };
};

describe('a health probe', () => {
  it('holds the next node while it fails, and lets go when it passes', async () => {
    let status = 200;
    const { http, asked } = answering(() => status);
    const probes = [{ name: 'web', http: { url: 'http://web/healthz' }, intervalSeconds: 20 }];
    const life = await begin({ updateStrategy: 'SURGE', probes }, 4, http);
    await life.until('one is done', () => done(life) >= 1, 3600);
    status = 503;
    await life.until('it is held', () => kinds(life) === 'Probe', 600);
    expect(only(life)?.status?.holds?.[0]?.reason).toContain('http://web/healthz answered 503');
    await life.driver.advance(900);
    const before = done(life);
    const calls = asked.length;
    await life.driver.advance(1800);
    expect(only(life)?.status?.progress).toMatchObject({ done: before, draining: 0 });
    expect(before).toBeLessThan(4);
    expect(only(life)?.status?.failingProbes?.[0]?.failures).toBeGreaterThan(3);
    expect(asked.length - calls).toBeGreaterThan(50);
    expect(asked.length - calls).toBeLessThan(95);
    status = 200;
    await life.until('the update is over', () => isOver(life), 3600);
    expect(only(life)?.status).toMatchObject({ status: 'Successful' });
    expect(only(life)?.status?.failingProbes).toBeUndefined();
    await life.end();
  });

  it('opens no gate of a wave while no one looks at it, and is looked at again after a pause', async () => {
    let status = 200;
    const { http } = answering(() => status);
    const probes = [{ name: 'web', http: { url: 'http://web/' }, intervalSeconds: 3600 }];
    const waves = [{ percent: 50, gates: ['Probes'] }];
    const life = await begin({ updateStrategy: 'SURGE', waves, probes }, 4, http);
    await life.until('a node is begun', () => only(life)?.status?.progress?.draining === 1, 3600);
    await life.until('one is done', () => done(life) === 1, 3600);
    await life.until('the next', () => only(life)?.status?.progress?.draining === 1, 3600);
    const { name = '' } = only(life)?.metadata ?? {};
    life.patchUpdate(name, { spec: { paused: true } });
    await life.driver.advance(1800);
    expect(done(life)).toBe(2);
    expect(only(life)?.status?.wave?.number).toBe(1);
    expect(kinds(life)).toBe('Paused,WaveProbes');
    status = 503;
    life.patchUpdate(name, { spec: { paused: false } });
    await life.until('it is held', () => kinds(life).includes('Probe'), 60);
    await life.driver.advance(600);
    expect(kinds(life)).toBe('WaveProbes,Probe');
    expect(done(life)).toBe(2);
    await life.end();
  });

  it('ends the update where that is asked for, and the group is whole again', async () => {
    let status = 200;
    const { http } = answering(() => status);
    const probes = [
      { name: 'web', http: { url: 'http://web/', expectedStatus: 204 }, onFailure: 'Fail' },
    ];
    status = 204;
    const life = await begin({ updateStrategy: 'SURGE', probes }, 3, http);
    await life.until('one is done', () => done(life) >= 1, 3600);
    status = 200;
    await life.until('the update is over', () => isOver(life), 3600);
    expect(only(life)?.status).toMatchObject({ status: 'Failed' });
    expect(only(life)?.status?.errors?.[0]?.message).toMatch(
      /probe web .* failed 3 times in a row/,
    );
    await life.until('it is whole', () => life.group()?.status?.ready === 3, 600);
    await life.end();
  });

  it('by a condition reads it off the object', async () => {
    const probes = [
      {
        name: 'nodegroup',
        condition: {
          apiVersion: 'drover.dev/v1alpha1',
          kind: 'NodeGroup',
          name: 'base',
          type: 'Ready',
        },
      },
      {
        name: 'web',
        condition: {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          namespace: 'default',
          name: 'web',
          type: 'Available',
        },
      },
    ];
    const life = await begin({ updateStrategy: 'SURGE', probes }, 2);
    await life.until('it is held', () => kinds(life) === 'Probe', 600);
    expect(only(life)?.status?.holds?.[0]?.reason).toContain('there is no Deployment default/web');
    await life.driver.advance(600);
    expect(done(life)).toBe(0);
    life.deploy(1, 1);
    await life.until('the update is over', () => isOver(life), 3600);
    expect(only(life)?.status).toMatchObject({ status: 'Successful' });
    await life.end();
  });
});
