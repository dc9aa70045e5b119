// `-o table|json|yaml` for every read command: one way to print one list of items.
import { Option } from 'commander';
import { stringify } from 'yaml';
import type { CliContext, OutputFormat } from './context.ts';
import { renderTable } from './table.ts';

export const outputOption = (): Option =>
  new Option('-o, --output <format>', 'how to print')
    .choices(['table', 'json', 'yaml'])
    .default('table');

export const printDocument = (
  context: CliContext,
  format: 'json' | 'yaml',
  document: unknown,
): void =>
  context.out(
    format === 'json' ? JSON.stringify(document, null, 2) : stringify(document).trimEnd(),
  );

/** Prints `document` as JSON or YAML, or the table made of it. */
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
