import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLayers, filesIn, layers, layersTable, packagesOf, planned } from './layers.ts';

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

  it('speak of rooms that are there and of packages that their rooms import', () => {
    const src = join(root, 'src');
    const rooms = Object.keys(layers);
    expect(rooms.filter((room) => filesIn(src, room) === 0)).toEqual([]);
    for (const [room, rule] of Object.entries(layers)) {
      if (rule.rooms !== 'all')
        expect(rooms, room).toEqual(expect.arrayContaining([...rule.rooms]));
      if (rule.packages === 'all') continue;
      const imported = [...packagesOf(src, room)];
      expect(imported.toSorted(), room).toEqual([...rule.packages].toSorted());
    }
  });

  it('allow nothing that is only planned', () => {
    for (const [room, { rooms = [], packages = [] }] of Object.entries(planned)) {
      const rule = layers[room];
      if (rule === undefined) {
        expect(existsSync(join(root, 'src', room)), `${room} is there: move it up`).toBe(false);
        continue;
      }
      for (const name of rooms) expect(rule.rooms, `${room}: ${name}`).not.toContain(name);
      for (const name of packages) expect(rule.packages, `${room}: ${name}`).not.toContain(name);
    }
  });

  it('stand in docs/ARCHITECTURE.md as they are', () => {
    const doc = readFileSync(join(root, 'docs', 'ARCHITECTURE.md'), 'utf8');
    expect(doc).toContain(`\n${layersTable().join('\n')}\n`);
  });
});
