// Places where a world cannot run: busy ports, and directories that belong to other programs or
// newer versions, are in use, read-only, or on a full disk. Each gives one error; existing files
// stay, and files that were begun are removed. A running world whose disk fills up stops, and
// restarts without damage.
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { eventually, missing, type Ran, run, ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const bin = join(import.meta.dirname, '..', '..', 'bin', 'drover.mjs');
const root = mkdtempSync(join(tmpdir(), 'drover-places-'));

/** Runs `drover up`, which is expected to exit by itself. */
const up = (dataDir: string, ...args: readonly string[]): Promise<Ran> =>
  run(process.execPath, [bin, 'up', '--demo', '--no-controller', '--data-dir', dataDir, ...args], {
    timeoutMs: 30_000,
  });

const refuses = async (ran: Promise<Ran>, words: RegExp): Promise<void> => {
  const { code, stdout, stderr } = await ran;
  assert.equal(code, 1, `${stdout}${stderr}`);
  assert.match(stderr, words);
  assert.equal(stderr.trim().split('\n').length, 1, `one error: ${stderr}`);
  assert.equal(stdout, '');
};

const contents = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(path, entry.name), 'latin1')]),
  );

after(() => rmSync(root, { recursive: true, force: true }));

describe('places where a world cannot live', { timeout: 300_000 }, () => {
  it('a busy port, of which it makes no directory', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const mine = join(root, 'mine');
    mkdirSync(mine);
    const words = /port \d+ on 127\.0\.0\.1 is in use: pass another --port \(0 picks a free one\)/;
    await refuses(up(join(root, 'a', 'b'), '--port', String(address.port)), words);
    await refuses(up(mine, '--port', String(address.port)), words);
    server.close();
    assert.deepEqual(readdirSync(root), ['mine'], 'no directory of ours');
    assert.deepEqual(
      readdirSync(mine),
      [],
      'an empty directory of the user stays, and stays empty',
    );
  });

  it('a file in place of the directory', async () => {
    const file = join(root, 'letter');
    writeFileSync(file, 'dear');
    await refuses(up(file), /letter is not a directory; it is left untouched: pass another/);
    await refuses(
      up(join(file, 'sub')),
      /cannot use .*sub as data directory \(ENOTDIR.*choose one/,
    );
    assert.equal(readFileSync(file, 'utf8'), 'dear');
  });

  it('a directory of another actor', async () => {
    const dir = join(root, 'theirs');
    mkdirSync(dir);
    writeFileSync(join(dir, 'notes'), 'x');
    await refuses(up(dir), /is not empty and not a data directory of drover; it is left untouched/);
    assert.deepEqual(readdirSync(dir), ['notes']);
  });

  it('a directory of a newer drover, or one that cannot be read', async () => {
    const dir = join(root, 'newer');
    mkdirSync(dir);
    const file = join(dir, 'settings.json');
    writeFileSync(file, '{"layout": 99, "token": "t"}');
    await refuses(
      up(dir),
      /written by a newer drover \(layout 99, .*start it with that drover, or/,
    );
    writeFileSync(file, '{');
    await refuses(up(dir), /cannot be read as settings of a world: move the directory away, or/);
    writeFileSync(file, '{"theme": "dark"}');
    await refuses(up(dir), /is not written by drover: pass another --data-dir/);
    assert.deepEqual(readdirSync(dir), ['settings.json']);
  });
});

describe('a directory in use', { timeout: 300_000 }, () => {
  let world: ServedWorld;
  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'] });
  before(() => {
    world = suite.world;
  });

  it('is refused to a second drover, and the first one continues', async () => {
    const { 'world.db': _db, 'world.db-wal': _wal, ...before } = contents(world.dataDir);
    await refuses(
      up(world.dataDir, '--port', '0'),
      /is in use: another drover runs on it: `drover env` says where .* `drover down` stops it/,
    );
    const { 'world.db': _db2, 'world.db-wal': _wal2, ...afterwards } = contents(world.dataDir);
    assert.deepEqual(afterwards, before);
    assert.equal((await world.drover('world', 'status')).code, 0);
  });

  it('whose state is that of a newer drover or of no world at all is left as it is', async () => {
    const copy = join(root, 'copy');
    cpSync(world.dataDir, copy, { recursive: true });
    rmSync(join(copy, 'world.db-wal'), { force: true });
    writeFileSync(join(copy, 'world.db'), 'this is a letter, not a database. '.repeat(200));
    const before = contents(copy);
    await refuses(up(copy, '--port', '0'), /world\.db .*move the directory away, or pass another/);
    assert.deepEqual(contents(copy), before);
    cpSync(join(world.dataDir, 'world.db'), join(copy, 'world.db'));
    const db = new DatabaseSync(join(copy, 'world.db'));
    db.exec('PRAGMA user_version = 99');
    db.close();
    await refuses(up(copy, '--port', '0'), /written by a newer drover: start it with the newer/);
  });
});

/** A file system with `options`; undefined if mounting is not permitted. */
const mount = async (name: string, options: string): Promise<string | undefined> => {
  const path = join(root, name);
  mkdirSync(path);
  try {
    const { code } = await run('mount', [
      '-t',
      'tmpfs',
      '-o',
      `${options},mode=700`,
      'tmpfs',
      path,
    ]);
    return code === 0 ? path : undefined;
  } catch {
    return undefined;
  }
};
const unmount = async (path: string): Promise<void> => {
  await run('umount', [path]);
};

describe('a disk', { timeout: 300_000 }, () => {
  it('that is too small leaves nothing behind', async (t) => {
    for (const size of ['8k', '24k', '40k']) {
      const path = await mount(`small-${size}`, `size=${size}`);
      if (path === undefined) return t.skip('mounting a tmpfs is not permitted here');
      try {
        await refuses(up(join(path, 'd'), '--port', '0'), /free some space/);
        assert.deepEqual(readdirSync(path), [], size);
      } finally {
        await unmount(path);
      }
    }
  });

  it('that is read-only is named with its reason', async (t) => {
    const path = await mount('readonly', 'size=4m,ro');
    if (path === undefined) return t.skip('mounting a tmpfs is not permitted here');
    try {
      const words = /cannot use .* as data directory \(EROFS.*choose one you may write to/;
      await refuses(up(path, '--port', '0'), words);
      await refuses(up(join(path, 'd'), '--port', '0'), words);
    } finally {
      await unmount(path);
    }
  });

  const filling = { skip: skipWhen('a disk that fills up', whyNot) };
  it(
    'that fills up stops the world with one error, and the world comes back whole',
    filling,
    async (t) => {
      const path = await mount('filling', 'size=24m');
      if (path === undefined) return t.skip('mounting a tmpfs is not permitted here');
      const dataDir = join(path, 'd');
      const fill = join(path, 'fill');
      try {
        const world = await ServedWorld.start({
          args: ['--demo', '--no-controller', '--port', '0'],
          dataDir,
        });
        const created = await world.kubectl('create', 'cm', 'kept', '--from-literal=a=1');
        assert.equal(created.code, 0, created.stderr);
        await run('dd', ['if=/dev/zero', `of=${fill}`, 'bs=4k']);
        // Every further write of the world needs space that the disk does not have.
        const refused = await eventually('a write that fails', async () => {
          const ran = await world.kubectl('create', 'ns', `n${Date.now()}`);
          return ran.code === 0 ? undefined : ran.stderr;
        });
        assert.doesNotMatch(refused, /created/);
        const { code, stderr } = await world.ended();
        assert.equal(code, 1);
        assert.match(
          stderr,
          /^drover: cannot write the world's state to .*free some space and start/m,
        );
        assert.equal(stderr.match(/^drover: /gm)?.length, 1, stderr);
        assert.doesNotMatch(stderr, /\n\s+at /, 'no stack');
        assert.ok(!readdirSync(dataDir).includes('drover.pid'));
        rmSync(fill);
        const again = await ServedWorld.start({ args: ['--no-controller'], dataDir });
        assert.match(again.readyLine, /resumed where it was/);
        const kept = await again.kubectl('get', 'cm', 'kept', '-o', 'jsonpath={.data.a}');
        assert.equal(kept.stdout, '1', kept.stderr);
        assert.equal((await again.drover('world', 'advance', '1m')).code, 0);
        const nodes = await again.kubectl('get', 'nodes', '--no-headers');
        assert.equal(nodes.stdout.match(/ Ready /g)?.length, 4, nodes.stdout);
        for (const event of again.audit())
          assert.ok(event.verb.length > 0, 'every audit line is whole');
        await again.stop({ keep: true });
      } finally {
        rmSync(fill, { force: true });
        await unmount(path);
      }
    },
  );
});
