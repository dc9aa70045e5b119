// The files of a node on a terminal: each under its path and mode, without secrets.
import { type NodeFile, redacted } from '../../formats/index.ts';
import type { CliContext } from '../context.ts';

export const printFiles = (context: CliContext, files: readonly NodeFile[]): void => {
  for (const { path, mode, content } of files.map(redacted)) {
    context.out(`==> ${path} (${mode})`);
    context.out(content.replace(/\n$/, ''));
    context.out('');
  }
};
