import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLayers } from './layers.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the layers', () => {
  it('hold in every file of src', () => {
    const { files, breaches } = checkLayers(join(root, 'src'));
    expect(breaches).toEqual([]);
    expect(files).toBeGreaterThan(50);
  });

  it('are guarded by a checker that sees each kind of breach', () => {
    const { breaches } = checkLayers(join(import.meta.dirname, 'canaries', 'src'));
    expect(breaches.sort()).toEqual([
      'cli/bad.ts uses process.env: take it as a port or argument',
      'core/bad.ts imports node:fs',
      'core/bad.ts imports the package pino',
      'core/bad.ts imports the room world (../world/kernel/index.ts)',
      'core/bad.ts uses Date.now: take it as a port or argument',
      'stray.ts stands in no known room',
      'world/bad.ts imports the room core (../core/bad.ts)',
      'world/bad.ts imports the room runtime (../runtime/index.ts)',
    ]);
  });
});
