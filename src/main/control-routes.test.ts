// World control reports only what is on disk: a kill right after an answer loses nothing of it.
import { describe, expect, it } from 'vitest';
import { createWorld } from '../../world/index.ts';
import { microsPerSecond } from '../../world/kernel/index.ts';
import { Pacer } from '../serve/index.ts';
import { createControlRoutes } from './control-routes.ts';

const setUp = () => {
  const world = createWorld({ seed: 1, startAt: microsPerSecond });
  const disk = { refuse: false, faults: 0 };
  const pacer = new Pacer({
    kernel: world.kernel,
    wallMs: () => 0,
    speed: 1,
    settle: () => Promise.resolve(),
    commit: () => {
      if (disk.refuse) throw new Error('the disk is full');
      disk.faults = world.faults.list().length;
    },
  });
  const routes = createControlRoutes(world, pacer, () => undefined);
  const post = (route: string, body = {}) =>
    routes[`POST /drover/v1/${route}`]?.(body, new URLSearchParams());
  return { disk, post };
};

describe('world control', () => {
  it('reports a fault once it is on disk, and its end likewise', async () => {
    const { disk, post } = setUp();
    expect(await post('inject', { kind: 'message-loss' })).toMatchObject({ kind: 'ok' });
    expect(disk.faults).toBe(1);
    expect(await post('clear')).toEqual({ kind: 'ok', body: { cleared: 1 } });
    expect(disk.faults).toBe(0);
  });

  it('tells nothing that the disk refused', async () => {
    const { disk, post } = setUp();
    disk.refuse = true;
    await expect(post('inject', { kind: 'message-loss' })).rejects.toThrow('the disk is full');
  });
});
