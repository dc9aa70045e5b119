// What moto's own tests give here, for docs/conformance.md, from what `test/conformance/moto/run.ts
// --write` recorded of its last run. Runs nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Recorded {
  readonly checkout: string;
  readonly ran: number;
  readonly failures: Readonly<Record<string, string>>;
}

const recordedFile = join(import.meta.dirname, '../test/conformance/moto/expected-failures.json');

const suiteOf = (test: string): string =>
  test.split('::')[0]?.split('.').slice(0, 2).join('/') ?? '';

export const motoTable = (): string => {
  const { checkout, ran, failures } = JSON.parse(readFileSync(recordedFile, 'utf8')) as Recorded;
  const tests = Object.entries(failures);
  const byReason = Map.groupBy(tests, ([, reason]) => reason);
  const rows = [...byReason]
    .toSorted(([a, x], [b, y]) => y.length - x.length || a.localeCompare(b))
    .map(([reason, all]) => {
      const suites = [...new Set(all.map(([test]) => suiteOf(test)))].toSorted();
      return `| ${all.length} | ${suites.join(', ')} | ${reason.replaceAll('|', '\\|')} |`;
    });
  return [
    `${ran - tests.length} of ${ran} pass (moto ${checkout}); ${tests.length} are expected to fail:`,
    '',
    '| tests | of | because |',
    '|---|---|---|',
    ...rows,
  ].join('\n');
};
