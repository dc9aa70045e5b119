import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  dataDirAt,
  movedTo,
  newSettings,
  prepareDirectory,
  readEnvironment,
  readSettings,
  writeEnvironment,
  writePrivate,
  writeSettings,
} from './data-dir.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drover-data-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a data directory', () => {
  it('gives back the settings that were written', () => {
    const dir = dataDirAt(join(root, 'new'));
    expect(readSettings(dir)).toBeUndefined();
    prepareDirectory(dir);
    const settings = newSettings({ seed: 7, demo: true });
    writeSettings(dir, settings);
    expect(readSettings(dir)).toEqual(settings);
  });

  it('takes back the directories that it made, and only those', () => {
    const dir = dataDirAt(join(root, 'a', 'b'));
    const undo = prepareDirectory(dir);
    writeSettings(dir, newSettings({ seed: 7, demo: true }));
    undo();
    expect(readdirSync(root)).toEqual([]);
  });

  it('leaves an empty directory of the user where it was', () => {
    const dir = dataDirAt(join(root, 'mine'));
    mkdirSync(dir.path);
    const undo = prepareDirectory(dir);
    writeSettings(dir, newSettings({ seed: 7, demo: true }));
    undo();
    expect(readdirSync(dir.path)).toEqual([]);
  });

  it.each([
    ['a file', (path: string) => writeFileSync(path, 'x'), /is not a directory; it is left/],
    [
      "somebody else's directory",
      (path: string) => {
        mkdirSync(path);
        writeFileSync(join(path, 'letter'), 'x');
      },
      /is not empty and not a data directory of drover; it is left untouched/,
    ],
    [
      'settings of a newer layout',
      (path: string) => {
        mkdirSync(path);
        writeFileSync(join(path, 'settings.json'), '{"layout": 99, "token": "t"}');
      },
      /written by a newer drover \(layout 99, this one knows \d+\): start it with that drover/,
    ],
    [
      'settings that are no JSON',
      (path: string) => {
        mkdirSync(path);
        writeFileSync(join(path, 'settings.json'), '{');
      },
      /cannot be read as settings of a world: move the directory away/,
    ],
    [
      'settings of another program',
      (path: string) => {
        mkdirSync(path);
        writeFileSync(join(path, 'settings.json'), '{"editor": "vi"}');
      },
      /is not written by drover: pass another --data-dir/,
    ],
  ])('refuses %s with a reason and a remedy', (_what, make, words) => {
    const path = join(root, 'it');
    make(path);
    expect(() => readSettings(dataDirAt(path))).toThrow(words);
  });

  it('names the reason when it cannot be created', () => {
    writeFileSync(join(root, 'file'), 'x');
    expect(readSettings(dataDirAt(join(root, 'file', 'sub')))).toBeUndefined();
    expect(() => prepareDirectory(dataDirAt(join(root, 'file', 'sub')))).toThrow(
      /cannot use .*sub as data directory \(ENOTDIR.*\): choose one you may write to with --data-dir/,
    );
  });

  it('leaves no draft behind when a file cannot be written', () => {
    const file = join(root, 'taken');
    mkdirSync(join(file, 'inside'), { recursive: true });
    expect(() => writePrivate(file, 'text')).toThrow(
      /cannot write .*taken \(.*\): free some space/,
    );
    expect(existsSync(`${file}.new`)).toBe(false);
  });

  it('quotes values so that a shell reads them back', () => {
    const dir = dataDirAt(root);
    const values = { KUBECONFIG: "/it's/here", AWS_DEFAULT_REGION: 'eu-west-1' };
    writeEnvironment(dir, values);
    expect(readFileSync(dir.envFile, 'utf8')).toContain(`KUBECONFIG='/it'\\''s/here'`);
    expect(readEnvironment(dir)).toEqual(values);
  });
});

describe('ports of a world', () => {
  it('are remembered where they change, each once, and not the ones of now', () => {
    const fresh = newSettings({ seed: 1, demo: false });
    const first = movedTo(fresh, { frontPort: 1, kubePort: 2 });
    expect(first).toMatchObject({ kubePort: 2, formerKubePorts: [] });
    expect(movedTo(first, { frontPort: 1, kubePort: 2 }).formerKubePorts).toEqual([]);
    const second = movedTo(first, { frontPort: 3, kubePort: 4 });
    expect(second).toMatchObject({ frontPort: 3, kubePort: 4, formerKubePorts: [2] });
    expect(movedTo(second, { frontPort: 1, kubePort: 2 }).formerKubePorts).toEqual([4]);
    const { formerKubePorts: _older, ...older } = second;
    const dir = dataDirAt(root);
    writeFileSync(dir.settingsFile, JSON.stringify(older));
    expect(readSettings(dir)?.formerKubePorts).toEqual([]);
    writeFileSync(dir.settingsFile, JSON.stringify(second));
    expect(readSettings(dir)?.formerKubePorts).toEqual([2]);
  });
});
