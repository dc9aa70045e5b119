#!/usr/bin/env node
// Entry of the command line on any Node. It starts the bundled program of a release, or the sources
// of a checkout. It switches to the pinned Node if this one is too old, and starts processes that
// stay with settings that keep their memory small. Does nothing else.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(import.meta.url);
const root = join(dirname(program), '..');
const sources = join(root, 'src', 'main', 'drover.ts');
const isRelease = !existsSync(sources);
const entry = isRelease ? join(root, 'lib', 'main', 'drover.js') : sources;
const needed = 24;
/**
 * Processes that stay. Their young generation is kept small: 30 to 40 MB less, no slower
 * (measured).
 */
const staying = new Set(['up', 'controller', 'agent']);
const youngGeneration = '--max-semi-space-size';
const smallYoungGeneration = `${youngGeneration}=2`;
/** Heaps of controller and agent are small: one thread beside its own collects fast enough. */
const fewThreads = '--v8-pool-size=1';
/**
 * The agent has little to compute: 13 MB less without compiled code (measured, `npm run bench`).
 * Sources need WebAssembly, which Node.js strips their types with.
 */
const withoutCompilers = '--lite-mode';
/**
 * glibc gives each thread memory of its own and keeps what was freed there: 10 to 20 MB less
 * (measured).
 */
const fewArenas = { MALLOC_ARENA_MAX: '2' };

const pinnedNode = () => {
  const require = module.createRequire(import.meta.url);
  try {
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`);
    return join(dirname(manifest), 'bin', 'node');
  } catch {
    return undefined;
  }
};

const flagsFor = (args) => {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
  const stays = args.some((arg) => staying.has(arg));
  if (!stays || given.includes(youngGeneration)) return [];
  if (args.includes('up')) return [smallYoungGeneration];
  const small = [smallYoungGeneration, fewThreads];
  return isRelease && args[0] === 'agent' ? [...small, withoutCompilers] : small;
};

/** Of a process that stays; a choice of one's own is left alone. */
const environment = (flags) =>
  flags.length === 0 ? process.env : { ...fewArenas, ...process.env };

/** Becomes this program with other settings, under the same process id; returns where it cannot. */
const startAgain = (flags) => {
  if (flags.length === 0 || typeof process.execve !== 'function') return;
  const args = [...process.execArgv, ...flags, program, ...process.argv.slice(2)];
  try {
    process.execve(process.execPath, [process.execPath, ...args], environment(flags));
  } catch {
    // As it is, then: the settings only save memory.
  }
};

if (Number(process.versions.node.split('.')[0]) >= needed) {
  startAgain(flagsFor(process.argv.slice(2)));
  // What was made of the sources is kept for the next start: a third of its time, 25 MB less.
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  module.enableCompileCache(join(caches, 'drover', 'compiled'));
  await import(entry);
} else {
  const node = pinnedNode();
  if (node === undefined) {
    process.stderr.write(
      `drover needs Node ${needed} or later; this is ${process.versions.node}, and no pinned Node ` +
        `is installed for ${process.platform}-${process.arch}. Install a newer Node, or install drover ` +
        'with its optional packages (without --omit=optional).\n',
    );
    process.exit(1);
  }
  const args = process.argv.slice(2);
  const flags = flagsFor(args);
  const options = { stdio: 'inherit', env: environment(flags) };
  const child = spawn(node, [...flags, program, ...args], options);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
}
