// The files of a node: each under its path and mode, without secrets. On a terminal, what it would
// obey is shown as text; elsewhere they are as the node has them.
import { type NodeFile, redacted } from '../../formats/index.ts';
import type { CliContext } from '../context.ts';
import { visible, visibleText } from '../visible.ts';

/** What is printed to be read by people or by a node: escaped for the former alone. */
export const outText = (context: CliContext, text: string): void =>
  context.isTerminal ? context.out(visibleText(text)) : context.out(text, 'bytes');

export const printFiles = (context: CliContext, files: readonly NodeFile[]): void => {
  for (const { path, mode, content } of files.map(redacted)) {
    context.out(`==> ${visible(path)} (${mode})`);
    outText(context, content.replace(/\n$/, ''));
    context.out('');
  }
};
