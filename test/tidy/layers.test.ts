import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLayers, checkWeb, filesIn, layers, layersTable, packagesOf } from './layers.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the layers', () => {
  it('hold in every file of src and world', () => {
    const { files, breaches } = checkLayers(root);
    expect(breaches).toEqual([]);
    expect(files).toBeGreaterThan(50);
  });

  it('are guarded by a checker that sees each kind of breach', () => {
    const { breaches } = checkLayers(join(import.meta.dirname, 'canaries'));
    expect(breaches.sort()).toEqual([
      'cli/bad.ts uses process.env: take it as a port or argument',
      'core/bad.ts imports node:fs',
      'core/bad.ts imports the package pino',
      'core/bad.ts imports the room world (../../world/kernel/index.ts)',
      'core/bad.ts uses Date.now: take it as a port or argument',
      'stray.ts stands in no known room',
      'world/bad.ts imports the room core (../src/core/bad.ts)',
      'world/bad.ts imports the room runtime (../src/runtime/index.ts)',
    ]);
  });

  it('speak of rooms that are there and of packages that their rooms import', () => {
    const rooms = Object.keys(layers);
    expect(rooms.filter((room) => filesIn(root, room) === 0)).toEqual([]);
    for (const [room, rule] of Object.entries(layers)) {
      if (rule.rooms !== 'all')
        expect(rooms, room).toEqual(expect.arrayContaining([...rule.rooms]));
      if (rule.packages === 'all') continue;
      const imported = [...packagesOf(root, room)];
      expect(imported.toSorted(), room).toEqual([...rule.packages].toSorted());
    }
  });

  it('let the page in the browser take types of the API, and nothing else', () => {
    const web = join(root, 'web', 'src');
    const names = readdirSync(web, { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => /\.tsx?$/.test(name));
    const texts = new Map(files.map((name) => [name, readFileSync(join(web, name), 'utf8')]));
    expect(checkWeb(texts)).toEqual([]);
    expect(texts.size).toBeGreaterThan(20);
    const bad = new Map([
      ['a.ts', "import { drain } from '../../src/core/drain/index.ts';\n"],
      [
        'b.ts',
        "import { phaseLetters } from '../../src/api/page.ts';\nimport x from 'left-pad';\n",
      ],
    ]);
    expect(checkWeb(bad)).toHaveLength(3);
  });

  it('stand in docs/ARCHITECTURE.md as they are', () => {
    const doc = readFileSync(join(root, 'docs', 'ARCHITECTURE.md'), 'utf8');
    expect(doc).toContain(`\n${layersTable().join('\n')}\n`);
  });
});
