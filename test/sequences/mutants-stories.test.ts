// The stories with which mutants are hunted: no oracle reports anything about the code as it is.
import { describe, expect, it } from 'vitest';
import { storyNames, tellStory } from '../mutants/stories.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('stories of mutants', () => {
  it.each(storyNames)('%s: no one objects to the code as it is', async (name) => {
    expect(await tellStory(name, { settle, compat: 'eks' })).toEqual([]);
    expect(await tellStory(name, { settle, compat: 'native' })).toEqual([]);
  });

  it('that no one wrote are refused', async () => {
    await expect(tellStory('x', { settle, compat: 'eks' })).rejects.toThrow('no story x');
  });
});
