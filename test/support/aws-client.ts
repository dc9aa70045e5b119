// The aws CLI that the tests use: `aws` on PATH, or the one in AWS_CLI, so that v1 and v2 can be
// tested. Runs only `aws --version`.
import { execFileSync } from 'node:child_process';
import { basename, delimiter, dirname, resolve } from 'node:path';

const given = process.env.AWS_CLI ?? '';
if (given !== '' && basename(given) !== 'aws') {
  throw new Error(`AWS_CLI is ${given}: name a program called aws, as kubeconfigs call it`);
}

/** PATH for processes that run `aws`, such as kubectl with an exec plugin. */
export const clientPath: string = [
  ...(given === '' ? [] : [dirname(resolve(given))]),
  process.env.PATH ?? '',
].join(delimiter);

/** Set when the test runner has already determined the version. */
export const versionVariable = 'DROVER_AWS_VERSION';

/** The CLI's own version text, such as `aws-cli/2.23.6`; undefined without a CLI. */
export const awsVersion: string | undefined = ((): string | undefined => {
  const known = process.env[versionVariable];
  if (known !== undefined) return known;
  try {
    const env = { ...process.env, PATH: clientPath };
    const told = execFileSync('aws', ['--version'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    return told.toString().trim().split(' ')[0];
  } catch {
    return undefined;
  }
})();

/**
 * Exit codes of the CLI for refusals: v2 has a code of its own (254) for refusals by the service.
 */
export const refusedCodes: readonly number[] =
  awsVersion?.startsWith('aws-cli/1.') === true ? [255] : [252, 254, 255];
