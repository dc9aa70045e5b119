import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCycles } from './cycles.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the imports of src and world', () => {
  it('form no cycle, imports of types included', () => {
    const { imports, cycles } = importCycles(root);
    expect(cycles).toEqual([]);
    expect(imports).toBeGreaterThan(5_000);
  });

  it('are guarded by a checker that sees cycles of two and three files, and of types alone', () => {
    const { cycles } = importCycles(join(import.meta.dirname, 'canaries'));
    expect(cycles).toEqual(
      [
        ['src/api/cycle-of-types-a.ts', 'src/api/cycle-of-types-b.ts'],
        [
          'src/api/cycle-of-three-a.ts',
          'src/api/cycle-of-three-b.ts',
          'src/api/cycle-of-three-c.ts',
        ],
      ].toSorted((a, b) => String(a).localeCompare(String(b))),
    );
  });
});
