// Files below a machine's root, written atomically: to a temporary file, synced, renamed. Links
// never lead out of the root.
import { createHash, randomBytes } from 'node:crypto';
import {
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { HostError, type HostErrorCode, type HostFile } from '../../ports/index.ts';

const codes: Readonly<Record<string, HostErrorCode>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';
const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

const failed = (what: string, error: unknown): HostError => {
  if (error instanceof HostError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new HostError(codes[codeOf(error)] ?? 'io', `${what} (${why})`, { cause: error });
};

/** The local path of the machine's `path`; resolves its nearest existing directory. */
const placeOf = async (root: string, path: string): Promise<string> => {
  const top = await realpath(root);
  const wanted = resolve(top, `.${sep}${path}`);
  let there = wanted;
  while (there !== top) {
    try {
      await lstat(there);
      break;
    } catch (error) {
      if (!isMissing(error)) throw error;
      there = dirname(there);
    }
  }
  const real = await realpath(there).catch((error: unknown) => {
    // A dangling link: writing would create the file that it names.
    if (isMissing(error)) throw new HostError('outside', `${path} is a link to nothing`);
    throw error;
  });
  const within = relative(top, real);
  if (within === '..' || within.startsWith(`..${sep}`)) {
    throw new HostError('outside', `${path} of ${root} is ${real}`);
  }
  return join(real, relative(there, wanted));
};

const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

export const readHostFile = async (
  root: string,
  path: string,
): Promise<{ readonly bytes: Uint8Array; readonly mode: string } | undefined> => {
  try {
    const place = await placeOf(root, path);
    const { mode } = await stat(place);
    return { bytes: await readFile(place), mode: (mode & 0o7777).toString(8).padStart(4, '0') };
  } catch (error) {
    if (isMissing(error) || codeOf(error) === 'ENOTDIR') return undefined;
    throw failed(`cannot read ${path}`, error);
  }
};

export const listHostDirectory = async (root: string, path: string): Promise<readonly string[]> => {
  try {
    return (await readdir(await placeOf(root, path))).toSorted();
  } catch (error) {
    if (isMissing(error) || codeOf(error) === 'ENOTDIR') return [];
    throw failed(`cannot list ${path}`, error);
  }
};

export const writeHostFile = async (root: string, file: HostFile): Promise<void> => {
  let beside: string | undefined;
  try {
    await mkdir(root, { recursive: true });
    const place = await placeOf(root, file.path);
    await mkdir(dirname(place), { recursive: true, mode: 0o755 });
    // A name that no reader of the directory uses: drop-ins end in .conf, units in .service.
    beside = join(dirname(place), `.${basename(place)}.${randomBytes(6).toString('hex')}.drover`);
    const handle = await open(beside, 'wx', 0o600);
    try {
      await handle.writeFile(file.content);
      await handle.chmod(Number.parseInt(file.mode, 8));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, place);
    await syncDirectory(dirname(place));
  } catch (error) {
    if (beside !== undefined) await rm(beside, { force: true }).catch(() => undefined);
    throw failed(`cannot write ${file.path}`, error);
  }
};

export const removeHostFile = async (root: string, path: string): Promise<void> => {
  try {
    await rm(await placeOf(root, path), { force: true });
  } catch (error) {
    throw failed(`cannot remove ${path}`, error);
  }
};

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
