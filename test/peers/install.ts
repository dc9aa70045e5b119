// `npm run peers:install [NAME...]`: installs the pinned peers with go and pip into a cache outside
// the repository. Prints what it did with each, and why one could not be installed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  dataPath,
  installedPath,
  type Peer,
  type PeerName,
  peers,
  peersDirectory,
} from '../support/peers.ts';
import { askedPeers, manifestOf } from './asked.ts';

/** Ends the attempt; anything else that fails is a failure of the tool, printed by it. */
class NotInstalled extends Error {}

const run = (command: string, args: readonly string[], cwd: string, env = {}): string => {
  try {
    return execFileSync(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    }).toString();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new NotInstalled(`${command} is not in PATH`);
    }
    throw new NotInstalled(`${command} ${args[0]} failed, see above`);
  }
};

/** Every program is static, so that it runs on any Linux. */
const goEnv = { CGO_ENABLED: '0' } as const;

const build = (name: PeerName, folder: string, what: string, flags: readonly string[]): void => {
  const args = ['build', '-mod=readonly', ...flags, '-o', installedPath(name), what];
  run('go', args, folder, goEnv);
};

const installGo = (name: PeerName, peer: Peer & { readonly kind: 'go' }): void => {
  const folder = dirname(manifestOf(name) ?? '');
  build(name, folder, peer.package, []);
  if (peer.data === undefined) return;
  const list = ['list', '-mod=readonly', '-f', '{{.Module.Dir}}', peer.package];
  const module = run('go', list, folder, goEnv).trim();
  const data = dataPath(name);
  rmSync(`${data}.new`, { recursive: true, force: true });
  cpSync(join(module, peer.data), `${data}.new`, { recursive: true });
  rmSync(data, { recursive: true, force: true });
  renameSync(`${data}.new`, data);
};

/**
 * An environment holds its own path and cannot be moved: the new one is built beside the old one,
 * which is deleted once the new program has run.
 */
const installPip = (name: PeerName): void => {
  const all = join(peersDirectory(), 'python');
  mkdirSync(all, { recursive: true });
  const home = mkdtempSync(join(all, `${name}-`));
  const program = join(home, 'bin', name);
  try {
    run('python3', ['-m', 'venv', home], '/');
    const args = ['install', '--quiet', '--disable-pip-version-check', '--require-hashes'];
    run(join(home, 'bin', 'pip'), [...args, '--requirement', manifestOf(name) ?? ''], '/');
    run(program, ['--help'], '/');
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
  const link = `${home}.link`;
  symlinkSync(program, link);
  renameSync(link, installedPath(name));
  const old = readdirSync(all).filter((entry) => entry === name || entry.startsWith(`${name}-`));
  for (const entry of old) {
    const path = join(all, entry);
    if (path !== home) rmSync(path, { recursive: true, force: true });
  }
};

const installSource = (name: PeerName, peer: Peer & { readonly kind: 'source' }): void => {
  const checkout = process.env[peer.source] ?? '';
  if (checkout === '') {
    throw new NotInstalled(
      `its tags are not versions of a Go module; ${peer.source} names a checkout of ` +
        `github.com/${peer.repository} that has commit ${peer.commit}`,
    );
  }
  const folder = join(peersDirectory(), 'source', name);
  const archive = `${folder}.tar`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const args = ['archive', '--output', archive, peer.commit, peer.directory];
  run('git', ['-C', checkout, ...args], '/');
  run('tar', ['-x', '-f', archive, '-C', folder], '/');
  rmSync(archive);
  build(name, join(folder, peer.directory), '.', peer.flags);
};

/** What was installed: the manifest's checksum, or the commit. */
const stampOf = (name: PeerName, peer: Peer): string => {
  if (peer.kind === 'source') return peer.commit;
  const manifest = manifestOf(name) ?? '';
  const files = peer.kind === 'go' ? [manifest, manifest.replace(/mod$/, 'sum')] : [manifest];
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
};

/** Whether the peer is there afterwards. */
const install = (name: PeerName): boolean => {
  const peer: Peer = peers[name];
  const stamp = join(peersDirectory(), 'stamps', name);
  const wanted = stampOf(name, peer);
  const say = (words: string): void =>
    void process.stdout.write(`${name} ${peer.version}: ${words}\n`);
  if (existsSync(installedPath(name)) && existsSync(stamp)) {
    if (readFileSync(stamp, 'utf8') === wanted) {
      say(`is installed, ${installedPath(name)}`);
      return true;
    }
  }
  for (const path of [installedPath(name), stamp]) mkdirSync(dirname(path), { recursive: true });
  try {
    if (peer.kind === 'go') installGo(name, peer);
    else if (peer.kind === 'pip') installPip(name);
    else installSource(name, peer);
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    say(`not installed, ${error.message}`);
    return false;
  }
  writeFileSync(stamp, wanted);
  say(`installed, ${installedPath(name)}`);
  return true;
};

const done = askedPeers('peers:install').map(install);
process.exitCode = done.every(Boolean) ? 0 : 1;
