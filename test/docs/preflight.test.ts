// docs/preflight.md has one section for each check, in order, which starts with the check's title.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checks } from '../../src/core/update/preflight/index.ts';

const page = readFileSync(new URL('../../docs/preflight.md', import.meta.url), 'utf8');
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const [name = '', ...lines] = text.split('\n');
    return { name, body: lines.join(' ').trim() };
  });

describe('docs/preflight.md', () => {
  it('has a section for every check, and no other', () => {
    expect(sections.map(({ name }) => name)).toEqual(checks.map(({ name }) => name));
    expect(checks.length).toBeGreaterThan(20);
  });

  it.each(checks)('opens $name with its title', ({ name, title }) => {
    const body = sections.find((section) => section.name === name)?.body ?? '';
    expect(body.startsWith(title)).toBe(true);
  });

  it.each(checks)('says of $name what is a blocker or a warning', ({ name }) => {
    expect(sections.find((section) => section.name === name)?.body).toMatch(
      /\*\*(blocker|warning)s?\*\*/i,
    );
  });
});
