// The built page as files in memory, each with its type and compressed form. Serves nothing outside
// of its directory: names are those found in it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  /** The name contains a hash of the content. */
  readonly isImmutable: boolean;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** By path relative to `directory`; undefined: the page is not built. */
export const readPageFiles = (directory: string): ReadonlyMap<string, PageFile> | undefined => {
  if (!existsSync(join(directory, 'index.html'))) return undefined;
  const files = readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined)
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = relative(directory, path).replaceAll(sep, '/');
      const bytes = readFileSync(path);
      const file: PageFile = {
        type: types[extname(name)] ?? 'application/octet-stream',
        bytes,
        gzip: gzipSync(bytes, { level: 9 }),
        isImmutable: name.startsWith('assets/'),
      };
      return [name, file] as const;
    });
  return new Map(files);
};
