// When a step of an update may start, in virtual time. Windows, freezes and approval hold the start
// and each node after it, never a drain in progress.
import { describe, expect, it } from 'vitest';
import { epochMs, formatTime, parseTime } from '../../src/api/brand.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { NodeGroupUpdate } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const [older, newest] = ['1.32.9-20251212', '1.32.9-20251226'];
const minutes = 60_000;

const nowOf = (life: GroupLife) => epochMs(Math.floor(life.world.kernel.now() / 1000));

const begin = async (updateConfig: JsonObject, desired = 3): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create({
    releaseVersion: older,
    scalingConfig: { minSize: 0, maxSize: 10, desiredSize: desired },
  });
  await life.until('the group is ACTIVE', () => life.isActive(desired));
  const patched = life.patch({
    spec: { updateConfig: { updateStrategy: 'SURGE', ...updateConfig } },
  });
  expect(JSON.stringify(patched)).not.toContain('"kind":"error"');
  return life;
};

/** A daily window in UTC that opens `afterMinutes` from now. */
const windowIn = (life: GroupLife, afterMinutes: number, durationSeconds: number): JsonObject => {
  const opens = new Date(nowOf(life) + afterMinutes * minutes);
  return { cron: `${opens.getUTCMinutes()} ${opens.getUTCHours()} * * *`, durationSeconds };
};

const only = (life: GroupLife): NodeGroupUpdate | undefined => life.updates()[0];
const kinds = (life: GroupLife): readonly string[] =>
  (only(life)?.status?.holds ?? []).map(({ kind }) => kind);
const isOver = (life: GroupLife): boolean =>
  !['InProgress', undefined].includes(only(life)?.status?.status);
const templates = (life: GroupLife): number => life.called('CreateLaunchTemplateVersion');
const names = (life: GroupLife): readonly string[] =>
  life.nodes().map(({ metadata }) => String(objectOr(metadata).name));

describe('a group that is deleted', () => {
  it('ends the update that waits, which is held by nothing any more', async () => {
    const life = await begin({ windowDefault: 'Closed' });
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('it is held', () => kinds(life).includes('Window'));
    await life.delete();
    await life.until('it is over', () => isOver(life), 120);
    expect(only(life)?.status).toMatchObject({ status: 'Failed', phase: 'Ended' });
    expect(kinds(life)).toEqual([]);
    await life.end();
  });
});

describe('maintenance windows', () => {
  it('hold an update before anything of it is begun, and let it go when one opens', async () => {
    const life = await begin({});
    const window = windowIn(life, 60, 4 * 3600);
    life.patch({ spec: { updateConfig: { windows: [window] } } });
    const before = { templates: templates(life), names: names(life) };
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('it is held', () => kinds(life).includes('Window'));
    const held = only(life)?.status;
    expect(held).toMatchObject({ status: 'InProgress', phase: 'Pending' });
    const opens = parseTime(held?.holds?.[0]?.until) ?? 0;
    expect(Math.abs(opens - nowOf(life) - 60 * minutes)).toBeLessThan(2 * minutes);
    await life.driver.advance(45 * 60);
    expect(life.isActive(3)).toBe(true);
    expect({ templates: templates(life), names: names(life) }).toEqual(before);
    expect(only(life)?.status).toEqual(held);
    await life.until('it begins', () => only(life)?.status?.phase === 'Rolling', 3600);
    const startedAt = parseTime(only(life)?.status?.startedAt) ?? 0;
    expect(startedAt - opens).toBeGreaterThanOrEqual(0);
    expect(startedAt - opens).toBeLessThanOrEqual(20_000);
    expect(only(life)?.status?.holds).toBeUndefined();
    await life.until('the update is over', () => isOver(life), 4 * 3600);
    expect(only(life)?.status?.status).toBe('Successful');
    await life.end();
  });

  it('hold at the next node when they close, and end no drain', async () => {
    const life = await begin({}, 4);
    life.patch({ spec: { updateConfig: { windows: [windowIn(life, 0, 240)] } } });
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('the first drain', () => (only(life)?.status?.progress?.draining ?? 0) > 0);
    await life.until('the window is closed', () => kinds(life).includes('Window'), 1200);
    await life.driver.advance(900);
    const { done = 0, draining } = only(life)?.status?.progress ?? {};
    expect(draining).toBe(0);
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(4);
    await life.driver.advance(3 * 3600);
    expect(only(life)?.status?.progress).toMatchObject({ done, draining: 0 });
    expect(life.nodes().filter(({ spec }) => objectOr(spec).unschedulable === true)).toEqual([]);
    // Another window opens, and the update continues immediately.
    life.patch({
      spec: { updateConfig: { windows: [{ cron: '* * * * *', durationSeconds: 60 }] } },
    });
    await life.until('the update is over', () => isOver(life), 4 * 3600);
    expect(only(life)?.status?.status).toBe('Successful');
    await life.end();
  });

  it('give way to a freeze, which says why', async () => {
    const life = await begin({});
    const [from, until] = [nowOf(life), epochMs(nowOf(life) + 90 * minutes)].map((at) =>
      formatTime(epochMs(at)),
    );
    const freezes = [{ from, until, reason: 'sale' }] as JsonObject[];
    life.patch({ spec: { updateConfig: { freezes } } });
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('it is held', () => kinds(life).includes('Freeze'));
    expect(only(life)?.status?.holds?.[0]).toMatchObject({ until });
    expect(only(life)?.status?.holds?.[0]?.reason).toContain('sale');
    await life.until('it begins', () => only(life)?.status?.startedAt !== undefined, 2 * 3600);
    expect(nowOf(life)).toBeGreaterThanOrEqual(parseTime(until) ?? 0);
    await life.end();
  });

  it('are refused by the API server where they are none', async () => {
    const life = await begin({});
    const refused = (updateConfig: JsonObject): string =>
      JSON.stringify(life.patch({ spec: { updateConfig } }));
    const hour = { durationSeconds: 3600 };
    for (const cron of ['0 25 * * *', '60 * * * *', '@daily', '* * * *', '* * * * fun']) {
      expect(refused({ windows: [{ cron, ...hour }] })).toContain('a crontab line has five fields');
    }
    const nightly = { cron: '0 2 * * *', durationSeconds: 10 };
    expect(refused({ windows: [nightly] })).toContain('durationSeconds');
    expect(refused({ windows: [{ ...nightly, ...hour, timeZone: 'not a zone' }] })).toContain(
      'timeZone',
    );
    expect(refused({ windowDefault: 'Ajar' })).toContain('windowDefault');
    expect(refused({ approval: 'Maybe' })).toContain('approval');
    for (const cron of ['0 2 * * mon-fri', '*/15 22-23,0-5 1,15 * SUN', '5/10 2 * jan 7']) {
      expect(
        refused({ windows: [{ cron, ...hour, timeZone: 'America/Argentina/Ushuaia' }] }),
      ).not.toContain('"kind":"error"');
    }
    await life.end();
  });
});

const isCordoned = ({ spec }: ReturnType<GroupLife['nodes']>[number]): boolean =>
  objectOr(spec).unschedulable === true;

const monthOf = (life: GroupLife): JsonObject => ({
  from: formatTime(nowOf(life)),
  until: formatTime(epochMs(nowOf(life) + 30 * 24 * 60 * minutes)),
});
const isClosed = ({ spec }: ReturnType<GroupLife['nodes']>[number]): boolean =>
  JSON.stringify(spec).includes('drover.dev/outdated');

describe('old nodes of strategies that mark them all', () => {
  it.each([
    ['DEFAULT', 'Marking', 'a pause', 'Paused'],
    ['DEFAULT', 'Marking', 'a window that closes', 'Window'],
    ['BLUE_GREEN', 'ScalingUp', 'a pause', 'Paused'],
    ['BLUE_GREEN', 'ScalingUp', 'a window that closes', 'Window'],
    ['BLUE_GREEN', 'ScalingUp', 'a freeze', 'Freeze'],
  ])(
    'are left alone by %s, which waits in %s, when %s comes before',
    async (strategy, phase, _what, kind) => {
      const life = await begin({ updateStrategy: strategy });
      life.patch({ spec: { releaseVersion: newest } });
      await life.until('new nodes come', () => only(life)?.status?.phase === 'ScalingUp');
      const hold = (isHeld: boolean): void => {
        const windowDefault = isHeld ? 'Closed' : 'Open';
        const freezes = isHeld ? [monthOf(life)] : [];
        if (kind === 'Window') life.patch({ spec: { updateConfig: { windowDefault } } });
        else if (kind === 'Freeze') life.patch({ spec: { updateConfig: { freezes } } });
        else life.patchUpdate(only(life)?.metadata.name ?? '', { spec: { paused: isHeld } });
      };
      hold(true);
      await life.until('it is held', () => kinds(life).includes(kind), 1200);
      // Longer than the time limit for marking.
      await life.driver.advance(40 * 60);
      expect(only(life)?.status).toMatchObject({ status: 'InProgress', phase });
      expect(kinds(life)).toEqual([kind]);
      expect(life.nodes().filter((one) => isCordoned(one) || isClosed(one))).toEqual([]);
      hold(false);
      await life.until('the update is over', () => isOver(life), 4 * 3600);
      expect(only(life)?.status?.status).toBe('Successful');
      await life.end();
    },
  );
});

const approve = (life: GroupLife, value: string): void => {
  const name = only(life)?.metadata.name ?? '';
  life.patchUpdate(name, { metadata: { annotations: { 'drover.dev/approved': value } } });
};

describe('approval', () => {
  it('is waited for however long it takes, and begins it at once', async () => {
    const life = await begin({ approval: 'Required' });
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('it is held', () => kinds(life).includes('Approval'));
    await life.driver.advance(25 * 3600);
    expect(only(life)?.status).toMatchObject({ status: 'InProgress', phase: 'Pending' });
    approve(life, 'perhaps');
    await life.until('it says so', () =>
      (only(life)?.status?.holds?.[0]?.reason ?? '').includes(
        '"perhaps", which approves nothing: expected is "true"',
      ),
    );
    approve(life, 'true');
    await life.until('it begins', () => only(life)?.status?.startedAt !== undefined, 20);
    await life.until('the update is over', () => isOver(life), 4 * 3600);
    expect(only(life)?.status?.status).toBe('Successful');
    await life.end();
  });

  it('that does not come ends with an abort that leaves no trace, and is not asked for again', async () => {
    const life = await begin({ approval: 'Required' });
    const before = { templates: templates(life), names: names(life) };
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('it is held', () => kinds(life).includes('Approval'));
    life.patchUpdate(only(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await life.until('it is over', () => isOver(life), 60);
    expect(only(life)?.status).toMatchObject({ status: 'Cancelled', phase: 'Ended' });
    // The spec still requests the version; a new generation of the spec is not a new request.
    life.patch({ spec: { scaling: { desired: 4 } } });
    await life.until('the group is ACTIVE', () => life.isActive(4));
    await life.driver.advance(600);
    expect(life.updates()).toHaveLength(1);
    expect(templates(life)).toBe(before.templates);
    await life.end();
  });

  it('of what the spec no longer asks for is not waited for', async () => {
    const life = await begin({ approval: 'Required' });
    const now = life.group()?.spec.releaseVersion ?? null;
    life.patch({ spec: { releaseVersion: newest } });
    await life.until('it is held', () => kinds(life).includes('Approval'));
    life.patch({ spec: { releaseVersion: now } });
    await life.until('it is over', () => isOver(life), 60);
    expect(only(life)?.status?.status).toBe('Cancelled');
    expect(only(life)?.status?.message).toContain('another revision by now');
    await life.driver.advance(300);
    expect(life.updates()).toHaveLength(1);
    expect(life.isActive(3)).toBe(true);
    await life.end();
  });

  it('is kept when a user changes EKS’ part through EKS', async () => {
    const life = await begin({ approval: 'Required' });
    await life.updateConfig({ updateConfig: { maxUnavailable: 2 } });
    await life.until('it is 2', () => life.group()?.spec.updateConfig?.maxUnavailable === 2);
    expect(life.group()?.spec.updateConfig?.approval).toBe('Required');
    await life.end();
  });
});
