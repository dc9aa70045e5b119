// `-o table|json|yaml` for every read command: one way to print one list of items.
import { Option } from 'commander';
import { stringify } from 'yaml';
import type { CliContext, OutputFormat } from './context.ts';
import { renderTable } from './table.ts';
import { visibleJson, visibleText } from './visible.ts';

export const outputOption = (): Option =>
  new Option('-o, --output <format>', 'output format')
    .choices(['table', 'json', 'yaml'])
    .default('table');

/** YAML interprets escapes only within double quotes, so every text is quoted that way. */
const yamlText = (document: unknown): string => {
  const text = stringify(document).trimEnd();
  if (visibleText(text) === text) return text;
  const quoted = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' } as const;
  return visibleText(stringify(document, { ...quoted, lineWidth: 0 }).trimEnd());
};

/** Contains no control characters for a terminal; parsed again it is the same document. */
export const printDocument = (
  context: CliContext,
  format: 'json' | 'yaml',
  document: unknown,
): void =>
  context.out(
    format === 'json' ? visibleJson(JSON.stringify(document, null, 2)) : yamlText(document),
  );

/** Prints `document` as JSON or YAML, or the corresponding table. */
export const print = (
  context: CliContext,
  format: OutputFormat,
  document: unknown,
  table: () => {
    readonly header: readonly string[];
    readonly rows: readonly (readonly string[])[];
  },
): void => {
  switch (format) {
    case 'json':
    case 'yaml':
      printDocument(context, format, document);
      return;
    case 'table': {
      const { header, rows } = table();
      for (const line of renderTable(header, rows)) context.out(line);
    }
  }
};
