// What moto's own tests give here, for docs/conformance.md, from what `test/conformance/moto/run.ts
// --write` recorded of its last run. Runs nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reasons of fewer tests than this are counted together. */
const fewTests = 3;

type Reasons = readonly (readonly [reason: string, tests: readonly [string, string][]])[];

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
  const [common, rare] = [...byReason].reduce<[Reasons, Reasons]>(
    ([many, few], one) =>
      one[1].length < fewTests ? [many, [...few, one]] : [[...many, one], few],
    [[], []],
  );
  const rows = common
    .toSorted(([a, x], [b, y]) => y.length - x.length || a.localeCompare(b))
    .map(([reason, all]) => {
      const suites = [...new Set(all.map(([test]) => suiteOf(test)))].toSorted();
      return `| ${all.length} | ${suites.join(', ')} | ${reason.replaceAll('|', '\\|')} |`;
    });
  const others = rare.reduce((sum, [, all]) => sum + all.length, 0);
  return [
    `${ran - tests.length} of ${ran} pass (moto ${checkout}); ${tests.length} are expected to fail:`,
    '',
    '| tests | of | because |',
    '|---|---|---|',
    ...rows,
    `| ${others} | both | ${rare.length} other reasons, each in the file above |`,
  ].join('\n');
};
