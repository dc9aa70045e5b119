// docs/fault-kinds.md matches the code: its table is the generated one, and every kind also has a
// description written by hand.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faultsFile, faultsPage, faultTable, kinds } from '../../scripts/print-faults.ts';

const page = readFileSync(faultsFile, 'utf8');

describe('docs/fault-kinds.md', () => {
  it('is what `node scripts/print-faults.ts` prints', () => {
    expect(page).toBe(faultsPage());
  });

  it.each(kinds)('describes what one sees under %s', (kind) => {
    expect(page).toMatch(new RegExp(`^- \`${kind}\`: `, 'm'));
  });

  it('says of a kind that no one asks for that it has no effect', () => {
    const table = faultTable([{ file: 'a.ts', text: "active('never-join'" }], ['rebalance']);
    expect(table).toMatch(/^\| `never-join` \| --group --zone \| {2}\|$/m);
    expect(table).toMatch(/^\| `rebalance` \| --node \| happens once \|$/m);
    expect(table).toMatch(/^\| `no-capacity` .* \| \*\*it has no effect yet\*\* \|$/m);
  });
});
