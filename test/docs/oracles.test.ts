// docs/designs/oracles.md lists the oracles that exist.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { oraclesFile, oraclesPage } from '../../scripts/print-oracles.ts';

it('the table of docs/designs/oracles.md is what scripts/print-oracles.ts prints', () => {
  expect(readFileSync(oraclesFile, 'utf8')).toBe(oraclesPage());
});
