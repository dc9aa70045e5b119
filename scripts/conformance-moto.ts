// The results of moto's own tests, for docs/conformance.md: from the last run that
// `test/conformance/moto/run.ts --write` recorded. Runs nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const shownReasons = 3;

interface Recorded {
  readonly checkout: string;
  readonly ran: number;
  readonly failures: Readonly<Record<string, string>>;
}

const recordedFile = join(import.meta.dirname, '../test/conformance/moto/expected-failures.json');

export const motoList = (): string => {
  const { checkout, ran, failures } = JSON.parse(readFileSync(recordedFile, 'utf8')) as Recorded;
  const tests = Object.entries(failures);
  const byReason = [...Map.groupBy(tests, ([, reason]) => reason)];
  const common = byReason
    .toSorted(([a, x], [b, y]) => y.length - x.length || a.localeCompare(b))
    .slice(0, shownReasons)
    .map(([reason, all]) => `${reason} (${all.length})`);
  return (
    `${ran - tests.length} of ${ran} pass (moto ${checkout}); ${tests.length} are expected to fail. ` +
    `The most common of ${byReason.length} reasons: ${common.join('; ')}.`
  );
};
