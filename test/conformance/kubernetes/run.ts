// Runs specs of Kubernetes' own end-to-end tests against a world with the demo, and compares the
// failures with expected-failures.json. KUBERNETES_E2E names their program, `e2e.test`, built from
// k8s.io/kubernetes/test/e2e (`go test -c`); it is not part of this project. Without it nothing
// runs, and a line says so. `--write` records the failures as expected; other arguments replace the
// expressions on the names of specs.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, env, exit, stdout } from 'node:process';
import { ServedWorld } from '../../support/demo-world.ts';
import { judge, plainText, type Result } from '../recorded.ts';

/** Specs of what a drain rests on, of the API server and of the controllers that replace pods. */
const specs = [
  'DisruptionController',
  'ReplicaSet should',
  'ReplicationController should',
  'Deployment (should|deployment should|test Deployment|RollingUpdate|RecreateDeployment)',
  'Garbage collector',
  'CustomResourceDefinition',
  'FieldValidation',
  'Servers with support for Table',
  'Watchers',
  'ServiceAccounts should (mount an API token|allow opting out|guarantee|create a serviceAccountToken|update)',
  'SubjectReview',
  'SelfSubjectReview',
  'Certificates API',
  'ResourceQuota',
  'LimitRange',
  'Namespaces',
  'Lease',
  'SchedulerPredicates',
];
/** These need processes in containers, hours, a cluster of their own, or webhooks. */
const outside = [
  '\\[Slow',
  '\\[Disruptive',
  '\\[Serial',
  '\\[Feature:',
  '\\[Flaky',
  '\\[Windows',
  'webhook',
];
/** This many letters of a failure are kept: the message, without the spec's code after it. */
const shownLetters = 600;
const specTimeout = '15m';
/** Each spec has a namespace of its own, and mostly waits. */
const lanes = 5;

const say = (line: string): void => {
  stdout.write(`${line}\n`);
};

const runSpecs = (program: string, args: readonly string[]): Promise<void> => {
  const child = spawn(
    program,
    [
      ...['--provider=skeleton', '--allowed-not-ready-nodes=-1', '--minStartupPods=0'],
      ...['--disable-log-dump=true', '--dump-logs-on-failure=false', '--ginkgo.no-color'],
      ...[`--ginkgo.timeout=${specTimeout}`, '--ginkgo.seed=1', ...args],
      `--ginkgo.skip=${outside.join('|')}`,
    ],
    { env, stdio: ['ignore', env.SHOW === '1' ? 'inherit' : 'ignore', 'inherit'] },
  );
  return new Promise((resolve) => child.on('close', () => resolve()));
};

/** Takes focuses from the list until it is empty; several of these run at once. */
const lane = async (list: string[], run: (focus: string) => Promise<void>): Promise<void> => {
  for (let focus = list.shift(); focus !== undefined; focus = list.shift()) await run(focus);
};

/** ginkgo names a spec `[It] [sig-apps] DisruptionController should ...`. */
const readReport = (xml: string): readonly Result[] =>
  [...xml.matchAll(/<testcase name="([^"]*)"([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)]
    .filter(([, name = '']) => name.startsWith('[It] '))
    .map(([, name = '', attributes = '', body = '']) => {
      const failed = /<(?:failure|error)[^>]*>([\s\S]*?)<\/(?:failure|error)>/.exec(body)?.[1];
      return {
        name: plainText(name).slice('[It] '.length),
        failure: failed === undefined ? undefined : plainText(failed).trim().slice(0, shownLetters),
        isSkipped: attributes.includes('status="skipped"') || body.includes('<skipped'),
      };
    });

const main = async (): Promise<number> => {
  const program = env.KUBERNETES_E2E;
  if (program === undefined) {
    say("Kubernetes' specs were not run: KUBERNETES_E2E names no e2e.test");
    return 0;
  }
  const dir = mkdtempSync(join(tmpdir(), 'drover-specs-'));
  const world = await ServedWorld.start();
  const asked = argv.slice(2).filter((word) => word !== '--write');
  const list = asked.length > 0 ? asked : [...specs];
  const run = async (focus: string): Promise<void> => {
    const report = join(dir, String(list.length));
    const kubeconfig = `--kubeconfig=${world.env.KUBECONFIG}`;
    await runSpecs(program, [kubeconfig, `--report-dir=${report}`, `--ginkgo.focus=${focus}`]);
    say(`ran: ${focus}`);
  };
  await Promise.all(Array.from({ length: lanes }, () => lane(list, run)));
  await world.stop();
  const results = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.xml'))
    .flatMap((name) => readReport(readFileSync(join(dir, name), 'utf8')));
  rmSync(dir, { recursive: true, force: true });
  if (results.length === 0) {
    say('e2e.test wrote no report; SHOW=1 shows its output');
    return 1;
  }
  return judge(results, {
    file: join(import.meta.dirname, 'expected-failures.json'),
    version: env.KUBERNETES_E2E_VERSION ?? 'v1.36.3',
    isWrite: argv.includes('--write'),
    say,
  });
};

exit(await main());
