// No story escapes the oracles: a world with controllers is started through test/support/stories.ts,
// which asks how it is to be judged.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const stories = join(import.meta.dirname, '..', 'e2e');

/** Starts of worlds in which controllers act and nobody judges. */
const unjudged = (text: string): readonly string[] =>
  [...text.matchAll(/ServedWorld\.start\(([\s\S]*?)\);/g)]
    .map((match) => match[1] ?? '')
    .filter((options) => !options.includes("'--no-controller'"));

describe('the end-to-end stories', () => {
  it.each(readdirSync(stories))('%s starts no controllers unjudged', (file) => {
    expect(unjudged(readFileSync(join(stories, file), 'utf8'))).toEqual([]);
  });

  it('are guarded by a look that sees such a start', () => {
    const bad = "world = await ServedWorld.start({\n  args: ['--demo', '--port', '0'],\n});";
    expect(unjudged(bad)).toHaveLength(1);
    expect(unjudged('await ServedWorld.start();')).toEqual(['']);
    expect(unjudged("await ServedWorld.start({ args: ['--no-controller'] });")).toEqual([]);
  });
});
