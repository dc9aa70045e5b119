// Whether a directory may hold keys and tokens: its owner's alone, and reached by no link that another
// user could turn. Looks; changes nothing.
import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';

const othersMayWrite = 0o002;
const rootUid = 0;

/** What cannot be looked at (below a file, in a closed directory) is reported by whoever writes there. */
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

/** Why `path` (absolute) is not safe to keep secrets in; undefined: it is, or does not exist yet. */
export const unsafeReason = (path: string): string | undefined => {
  const uid = process.getuid?.();
  // Windows has no such owners.
  if (uid === undefined) return undefined;
  const link = foreignLinkAbove(path, uid);
  if (link !== undefined) return `is reached through ${link}, a symbolic link of another user`;
  const stats = lookAt(path);
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return 'is a symbolic link';
  if (stats.uid !== uid) return `belongs to another user (uid ${stats.uid})`;
  return (stats.mode & othersMayWrite) === 0 ? undefined : 'can be written by every user';
};
