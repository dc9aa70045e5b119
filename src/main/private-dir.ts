// Whether a directory may hold keys and tokens: its owner's alone, and reached by no link that
// another user could turn. Looks; changes nothing.
import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

const othersMayWrite = 0o002;
const rootUid = 0;

/**
 * What cannot be looked at (below a file, in a closed directory) is reported by whoever writes
 * there.
 */
const lookAt = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** The nearest directory above that is a link which neither the caller nor root made. */
const foreignLinkAbove = (path: string, uid: number): string | undefined => {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    const stats = lookAt(at);
    if (stats?.isSymbolicLink() === true && stats.uid !== uid && stats.uid !== rootUid) return at;
  }
  return undefined;
};

export interface Unsafe {
  /** Continues a sentence that begins with "it". */
  readonly reason: string;
  readonly remedy: string;
}

const makeItYourOwn = 'make it your own (chown, chmod 700)';

/**
 * Why `path` (absolute) is not safe to keep secrets in; undefined: it is, or does not exist yet.
 */
export const unsafety = (path: string): Unsafe | undefined => {
  const uid = process.getuid?.();
  // Windows has no such owners.
  if (uid === undefined) return undefined;
  const link = foreignLinkAbove(path, uid);
  if (link !== undefined) {
    const reason = `is reached through ${link}, a symbolic link of another user`;
    return { reason, remedy: 'name it by a path without that link' };
  }
  const stats = lookAt(path);
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) {
    return { reason: 'is a symbolic link', remedy: 'name the directory that the link points to' };
  }
  if (stats.uid !== uid) {
    return { reason: `belongs to another user (uid ${stats.uid})`, remedy: makeItYourOwn };
  }
  if ((stats.mode & othersMayWrite) === 0) return undefined;
  return { reason: 'can be written by every user', remedy: makeItYourOwn };
};
