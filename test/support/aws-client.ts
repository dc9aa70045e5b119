// Which aws CLI the tests drive: `aws` on PATH, or the one that AWS_CLI names, so that v1 and v2
// can be tried side by side. Starts nothing but `aws --version`.
import { execFileSync } from 'node:child_process';
import { basename, delimiter, dirname, resolve } from 'node:path';

const given = process.env.AWS_CLI ?? '';
if (given !== '' && basename(given) !== 'aws') {
  throw new Error(`AWS_CLI is ${given}: name a program called aws, as kubeconfigs call it`);
}

/** PATH of whoever may run `aws`: kubectl does, where its kubeconfig says so. */
export const clientPath: string = [
  ...(given === '' ? [] : [dirname(resolve(given))]),
  process.env.PATH ?? '',
].join(delimiter);

/** Where the process that runs the stories has asked already. */
export const versionVariable = 'DROVER_AWS_VERSION';

/** As it calls itself, such as `aws-cli/2.23.6`; undefined where there is none. */
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
 * How the CLI ends when it, or the service, refuses: v2 tells the service's refusals (254) apart.
 */
export const refusedCodes: readonly number[] =
  awsVersion?.startsWith('aws-cli/1.') === true ? [255] : [252, 254, 255];
