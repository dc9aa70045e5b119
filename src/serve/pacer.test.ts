import { describe, expect, it } from 'vitest';
import { Kernel, microsPerSecond } from '../../world/kernel/index.ts';
import { Pacer } from './pacer.ts';

const full = new Error('the disk is full');

/** A pacer at full speed whose disk refuses commits once `refuse` is set. */
const aPacer = () => {
  const disk = { refuse: false, commits: 0 };
  const kernel = new Kernel({ seed: 1, startAt: 0 });
  const tick = (): void => {
    kernel.schedule({ afterMicros: microsPerSecond, actor: 'ticker', kind: 'tick', args: {} });
  };
  kernel.register({ name: 'ticker', handle: tick });
  const pacer = new Pacer({
    kernel,
    wallMs: () => performance.now(),
    speed: 'max',
    settle: () => Promise.resolve(),
    commit: () => {
      if (disk.refuse) throw full;
      disk.commits += 1;
    },
  });
  return { pacer, disk, tick };
};

describe('the pacer', () => {
  it('lets an outside call in and tells when its changes are on disk', async () => {
    const { pacer, disk } = aPacer();
    expect(pacer.enter(() => 'done')).toBe('done');
    expect(disk.commits).toBe(0);
    await pacer.committed();
    expect(disk.commits).toBe(1);
  });

  it('stops with the error of a refused commit, and lets no request in after it', async () => {
    const { pacer, disk } = aPacer();
    const running = pacer.run(new AbortController().signal);
    disk.refuse = true;
    pacer.enter(() => undefined);
    await expect(pacer.committed()).rejects.toBe(full);
    await expect(running).rejects.toBe(full);
    expect(pacer.whole).toBe(false);
    expect(() => pacer.enter(() => 'too late')).toThrow(full);
  });

  it('does not tell watchers what could not be written', async () => {
    const { pacer, disk } = aPacer();
    let told = false;
    disk.refuse = true;
    pacer.afterCommit(() => {
      told = true;
    });
    await expect(pacer.committed()).rejects.toBe(full);
    expect(told).toBe(false);
  });

  it('ends an advance that the end of the world overtakes', async () => {
    const { pacer, tick } = aPacer();
    const end = new AbortController();
    const running = pacer.run(end.signal);
    pacer.enter(tick);
    const advanced = pacer.advance(1e15);
    const refused = expect(advanced).rejects.toThrow('the world stopped before it got there');
    end.abort();
    await running;
    await refused;
  });
});
