// The results of moto's and Kubernetes' own tests, for docs/conformance.md: from the last runs that
// `run.ts --write` below test/conformance recorded. Runs nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Recorded {
  readonly checkout: string;
  readonly ran: number;
  readonly failures: Readonly<Record<string, string>>;
}

const listOf = (suite: string, shown: number): string => {
  const file = join(import.meta.dirname, '../test/conformance', suite, 'expected-failures.json');
  const { checkout, ran, failures } = JSON.parse(readFileSync(file, 'utf8')) as Recorded;
  const tests = Object.entries(failures);
  const byReason = [...Map.groupBy(tests, ([, reason]) => reason)];
  const common = byReason
    .toSorted(([a, x], [b, y]) => y.length - x.length || a.localeCompare(b))
    .slice(0, shown)
    .map(([reason, all]) => `${reason} (${all.length})`);
  return (
    `${ran - tests.length} of ${ran} pass (${checkout}); ${tests.length} are expected to fail. ` +
    `The most common of ${byReason.length} reasons: ${common.join('; ')}.`
  );
};

export const motoList = (): string => listOf('moto', 3);
export const specsList = (): string => listOf('kubernetes', 6);
