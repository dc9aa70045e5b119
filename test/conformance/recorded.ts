// Compares a run of another project's tests with the failures recorded beside it, each with its
// reason, or records the run. Knows neither the tests nor how they are run.
import { readFileSync, writeFileSync } from 'node:fs';

export interface Result {
  readonly name: string;
  readonly failure: string | undefined;
  readonly isSkipped: boolean;
}

/**
 * The recorded failures. The first reason whose `matches` occurs in a test's name or failure
 * applies.
 */
interface Recorded {
  readonly source: string;
  /** Version of the tests, and the number of them that ran; docs/conformance.md prints both. */
  readonly checkout: string;
  readonly ran: number;
  readonly reasons: readonly { readonly matches: string; readonly reason: string }[];
  /** Test -> reason. */
  readonly failures: Readonly<Record<string, string>>;
}

/** The text of an XML attribute or element. */
export const plainText = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#10;', ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const reasonOf = ({ name, failure = '' }: Result, { reasons }: Recorded): string =>
  reasons.find((one) => `${name}: ${failure}`.includes(one.matches))?.reason ??
  failure.slice(0, 160);

const record = (
  failed: readonly Result[],
  ran: number,
  { expected, file, version }: { expected: Recorded; file: string; version: string },
): void => {
  const failures = Object.fromEntries(
    failed
      .map((one) => [one.name, reasonOf(one, expected)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  // A checkout without git history is assumed to be of the recorded commit.
  const isSame = expected.checkout.startsWith(`${version},`);
  const checkout = isSame ? expected.checkout : version;
  const text = JSON.stringify({ ...expected, checkout, ran, failures }, undefined, 1);
  writeFileSync(file, `${text}\n`);
};

/** The exit code: 1 if a test fails that is not recorded. A recorded one may pass. */
export const judge = (
  results: readonly Result[],
  {
    file,
    version,
    isWrite,
    say,
  }: {
    readonly file: string;
    readonly version: string;
    readonly isWrite: boolean;
    readonly say: (line: string) => void;
  },
): number => {
  const expected = JSON.parse(readFileSync(file, 'utf8')) as Recorded;
  const ran = results.filter((one) => !one.isSkipped);
  const failed = ran.filter((one) => one.failure !== undefined);
  say(`${ran.length} tests ran: ${ran.length - failed.length} passed`);
  if (isWrite) {
    record(failed, ran.length, { expected, file, version });
    say('recorded: now run `node scripts/print-conformance.ts`');
    return 0;
  }
  const news = failed.filter((one) => expected.failures[one.name] === undefined);
  const names = new Set(failed.map((one) => one.name));
  const passing = ran.filter((one) => !names.has(one.name) && expected.failures[one.name]);
  for (const one of news) say(`not expected: ${one.name}: ${one.failure?.slice(0, 200)}`);
  for (const one of passing) say(`passes, though it is on the list: ${one.name}`);
  return news.length === 0 ? 0 : 1;
};
