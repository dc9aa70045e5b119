// docs/conformance.md matches the code: its generated parts are up to date.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { conformance, conformanceFile } from '../../scripts/print-conformance.ts';

describe('docs/conformance.md', () => {
  it('is what `node scripts/print-conformance.ts` prints', async () => {
    expect(readFileSync(conformanceFile, 'utf8')).toBe(await conformance());
  });
});
