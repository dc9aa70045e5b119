#!/usr/bin/env node
// Entry of the command line on any Node: hands over to the pinned Node when this one is too old to
// run TypeScript as it is. Does nothing else.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const entry = join(dirname(fileURLToPath(import.meta.url)), '..', 'src', 'main', 'drover.ts');
const needed = 24;

const pinnedNode = () => {
  const require = createRequire(import.meta.url);
  try {
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`);
    return join(dirname(manifest), 'bin', 'node');
  } catch {
    return undefined;
  }
};

if (Number(process.versions.node.split('.')[0]) >= needed) {
  await import(entry);
} else {
  const node = pinnedNode();
  if (node === undefined) {
    process.stderr.write(
      `drover needs Node ${needed} or later; this is ${process.versions.node}, and no pinned Node ` +
        `is installed for ${process.platform}-${process.arch}. Run \`npm ci\` in drover's directory, ` +
        'or install a newer Node.\n',
    );
    process.exit(1);
  }
  const child = spawn(node, [entry, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
}
