// No story escapes the oracles: tests start a world with controllers through
// test/support/stories.ts, which requires a choice of how it is judged.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const stories = join(import.meta.dirname, '..', 'e2e');

/** Starts of worlds in which controllers act and no oracle judges. */
const unjudged = (text: string): readonly string[] =>
  [...text.matchAll(/ServedWorld\.start\(([\s\S]*?)\);/g)]
    .map((match) => match[1] ?? '')
    .filter((options) => !options.includes("'--no-controller'"));

/** Whether a test uses an optional client without checking that it is installed. */
const presumes = (text: string): boolean =>
  /\.(kubectl(Input)?|aws)\(/.test(text) && !(text.includes('missing(') && /skip\w*\(/i.test(text));

describe('the end-to-end stories', () => {
  it.each(readdirSync(stories))('%s is skipped where its clients are not installed', (file) => {
    expect(presumes(readFileSync(join(stories, file), 'utf8'))).toBe(false);
  });

  it('are guarded by a look that sees a client that is taken for granted', () => {
    expect(presumes("await world.kubectl('get', 'nodes');")).toBe(true);
    expect(presumes("stepsOf('aws', (args) => world.aws(...args));")).toBe(true);
    expect(presumes("const whyNot = await missing('aws', []); world.aws();")).toBe(true);
    const asks = "missing('aws', []); describe('s', { skip: skipWhen('s', whyNot) }); world.aws();";
    expect(presumes(asks)).toBe(false);
    expect(presumes("await world.drover('get', 'ng');")).toBe(false);
  });

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
