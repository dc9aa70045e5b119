// The files of deploy/ for `drover controller`, apart from the CRDs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deployDirectory, deployFiles } from '../../scripts/print-deploy.ts';

describe('rights and fence of the controller', () => {
  it('are in deploy/ as the code has them (node scripts/print-deploy.ts)', () => {
    for (const [name, text] of Object.entries(deployFiles())) {
      expect(readFileSync(join(deployDirectory, name), 'utf8')).toBe(text);
    }
  });
});
