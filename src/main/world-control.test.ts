// What the client of world control says before it calls.
import { describe, expect, it } from 'vitest';
import { createWorldControl } from './world-control.ts';

describe('DROVER_URL', () => {
  it('names a world over http; another scheme is a usage error without the token', () => {
    expect(() => createWorldControl('https://drover:secret@127.0.0.1:1')).toThrow(
      'DROVER_URL begins with https://: an embedded world is served over http:// only',
    );
  });

  it('is followed where no world answers', async () => {
    const world = createWorldControl('http://drover:secret@127.0.0.1:1');
    await expect(world.status()).rejects.toThrow('no world answers at http://127.0.0.1:1');
  });
});
