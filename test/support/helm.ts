// The real helm (test/peers) for stories and for deploy/install.yaml. Renders with the defaults of
// the chart, for Kubernetes 1.36.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { howToInstall, peerProgram } from './peers.ts';

export const charts = join(import.meta.dirname, '..', '..', 'deploy', 'charts');
export const helm = peerProgram('helm');

const run = promisify(execFile);

/** Undefined where helm runs. */
export const whyNoHelm = async (): Promise<string | undefined> => {
  try {
    await run(helm, ['version', '--short']);
    return undefined;
  } catch {
    return howToInstall('helm', 'helm is not installed');
  }
};

/** The manifests of the chart drover. Rejects with helm's words. */
export const rendered = async (...args: readonly string[]): Promise<string> => {
  const namespace = args.includes('--namespace') ? [] : ['--namespace', 'kube-system'];
  const usual = ['template', 'drover', join(charts, 'drover'), '--kube-version', '1.36'];
  const { stdout } = await run(helm, [...usual, ...namespace, ...args]);
  return stdout;
};
