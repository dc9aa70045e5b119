// docs/rules matches the catalogue: one page for each rule, and no other.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rulePages, rulesDirectory } from '../../scripts/print-rules.ts';

describe('docs/rules', () => {
  it('is what `node scripts/print-rules.ts` prints', () => {
    const pages = rulePages();
    expect(readdirSync(rulesDirectory).sort()).toEqual([...pages.keys()].sort());
    for (const [name, text] of pages) {
      expect(readFileSync(join(rulesDirectory, name), 'utf8'), name).toBe(text);
    }
  });
});
