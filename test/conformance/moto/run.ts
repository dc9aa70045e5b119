// Runs moto's own tests of EKS node groups and Auto Scaling against a world, and compares the
// failures with expected-failures.json. MOTO_TESTS names a checkout of getmoto/moto, whose tests
// are not part of this project; python3 needs the packages that they import, such as freezegun.
// Without it nothing runs, and a line says so. `--write` records the failures as expected; other
// arguments replace the suites in pytest's call (`tests/test_eks -k nodegroup`).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { argv, env, exit, stdout } from 'node:process';
import { judge, plainText, type Result } from '../recorded.ts';
import { serveSettled } from './serve.ts';

const asked = argv.slice(2).filter((word) => word !== '--write');
const suites = asked.length > 0 ? asked : ['tests/test_autoscaling', 'tests/test_eks'];
const expectedFile = join(import.meta.dirname, 'expected-failures.json');

const say = (line: string): void => {
  stdout.write(`${line}\n`);
};

const runPytest = (checkout: string, url: string, report: string): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(
      'python3',
      [
        ...['-m', 'pytest', '-q', '-p', 'names', '--continue-on-collection-errors'],
        ...[`--junitxml=${report}`, ...suites],
      ],
      {
        cwd: checkout,
        env: {
          ...env,
          // The directory of names.py; `-m` adds the checkout itself.
          PYTHONPATH: [import.meta.dirname, env.PYTHONPATH ?? ''].join(delimiter),
          TEST_SERVER_MODE: 'true',
          TEST_SERVER_MODE_ENDPOINT: url,
        },
      },
    );
    let told = '';
    child.stdout.on('data', (chunk: Buffer) => {
      told += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      told += chunk.toString();
    });
    child.on('close', () => resolve(told));
  });

const readReport = (xml: string): readonly Result[] =>
  [
    ...xml.matchAll(
      /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g,
    ),
  ].map(([, suite = '', name = '', body = '']) => {
    const failed = /<(?:failure|error) message="([^"]*)"/.exec(body)?.[1];
    return {
      name: `${suite}::${plainText(name)}`,
      failure: failed === undefined ? undefined : plainText(failed),
      isSkipped: body.includes('<skipped'),
    };
  });

const main = async (): Promise<number> => {
  const checkout = env.MOTO_TESTS;
  if (checkout === undefined || !existsSync(join(checkout, 'tests', 'test_autoscaling'))) {
    say("moto's tests were not run: MOTO_TESTS names no checkout of getmoto/moto");
    return 0;
  }
  const dir = mkdtempSync(join(tmpdir(), 'drover-moto-'));
  const report = join(dir, 'report.xml');
  const { url, server } = await serveSettled();
  const told = await runPytest(checkout, url, report);
  server.closeAllConnections();
  server.close();
  if (!existsSync(report)) {
    say(`pytest wrote no report:\n${told.slice(-2000)}`);
    return 1;
  }
  const results = readReport(readFileSync(report, 'utf8'));
  rmSync(dir, { recursive: true, force: true });
  // A passing test is not an error: moto draws some names at random, and EKS accepts only some of
  // them.
  return judge(results, {
    file: expectedFile,
    version: versionOf(checkout),
    isWrite: argv.includes('--write'),
    say,
  });
};

/** Its version, and its commit if git can report it. */
const versionOf = (checkout: string): string => {
  const init = readFileSync(join(checkout, 'moto', '__init__.py'), 'utf8');
  const version = /__version__ = "([^"]+)"/.exec(init)?.[1] ?? 'of unknown version';
  const { status, stdout: head } = spawnSync('git', ['rev-parse', '--short=8', 'HEAD'], {
    cwd: checkout,
    encoding: 'utf8',
  });
  return status === 0 ? `${version}, commit ${head.trim()}` : version;
};

exit(await main());
