// Whether a directory may contain keys and tokens: owned by the user only, and not reached through
// a link that another user could change. Changes nothing.
import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

const othersMayWrite = 0o002;
const rootUid = 0;

/**
 * A path that cannot be examined (below a file, in an inaccessible directory) is reported by the
 * code that writes there.
 */
const lookAt = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

/** The nearest ancestor that is a link created by neither the caller nor root. */
const foreignLinkAbove = (path: string, uid: number): string | undefined => {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    const stats = lookAt(at);
    if (stats?.isSymbolicLink() === true && stats.uid !== uid && stats.uid !== rootUid) return at;
  }
  return undefined;
};

export interface Unsafe {
  /** Continues a sentence that starts with "it". */
  readonly reason: string;
  readonly remedy: string;
}

const makeItYourOwn = 'make it your own (chown, chmod 700)';

/** Why `path` (absolute) is not safe for secrets; undefined when safe or not yet existing. */
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
