// The journals of ten stories, as text for review. `npm run golden` rewrites them.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stories } from './stories.ts';

const folder = join(import.meta.dirname, 'golden');
const maxLines = 40;
const columns = 100;
const isRewriting = process.env.GOLDEN === 'write';
const names = Object.keys(stories);
const files = readdirSync(folder);

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

describe('golden stories', () => {
  it.each(names)('%s is reported as its file says', async (name) => {
    const file = join(folder, `${name}.txt`);
    const told = await stories[name]?.();
    if (isRewriting) writeFileSync(file, told ?? '');
    expect(existsSync(file), 'npm run golden writes it').toBe(true);
    expect(told).toBe(readFileSync(file, 'utf8'));
  });

  it('keeps no file that no story tells', () => {
    const leftover = files.filter((file) => !names.includes(file.replace(/\.txt$/, '')));
    if (isRewriting) for (const file of leftover) rmSync(join(folder, file));
    else expect(leftover).toEqual([]);
  });

  it.each(names)('%s has at most 40 lines of 100 columns', (name) => {
    const lines = linesOf(readFileSync(join(folder, `${name}.txt`), 'utf8'));
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.length).toBeLessThanOrEqual(maxLines);
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  });
});
