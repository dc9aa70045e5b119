// Prints the files of a node: each with path and mode, without secrets. On a terminal, control
// characters are shown as text; elsewhere the content is unchanged.
import { type NodeFile, redacted } from '../../formats/index.ts';
import type { CliContext } from '../context.ts';
import { visible, visibleText } from '../visible.ts';

/** Output for a person or for a node: escaped only for the former. */
export const outText = (context: CliContext, text: string): void =>
  context.isTerminal ? context.out(visibleText(text)) : context.out(text, 'bytes');

export const printFiles = (context: CliContext, files: readonly NodeFile[]): void => {
  for (const { path, mode, content } of files.map(redacted)) {
    context.out(`==> ${visible(path)} (${mode})`);
    outText(context, content.replace(/\n$/, ''));
    context.out('');
  }
};
