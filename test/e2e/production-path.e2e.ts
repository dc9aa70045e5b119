// The way to production as the documents print it, from an empty directory with nothing but the
// packed release: docs/start.md, which writes nothing, then docs/your-cluster.md up to a drained
// node, and the release of the group. The commands are read from the pages; names are replaced.
// A world without controllers stands for the user's cluster and account.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { eventually, missing, type Ran, run, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const root = join(import.meta.dirname, '..', '..');
const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

/** Command lines of a page's fenced blocks, without comments, continued lines joined. */
const commandsOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, 'docs', page), 'utf8').matchAll(/^```\n(.*?)^```$/gms)]
    .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.replace(/ +#.*$/, '').trim())
    .filter((line) => line !== '');

const only = (page: string, begin: string): string => {
  const [line, ...more] = commandsOf(page).filter((one) => one.startsWith(begin));
  assert.ok(line !== undefined && more.length === 0, `${page} has one command ${begin}`);
  return line;
};

const groupName = 'my-asg';
/** A busy machine takes ten seconds for each aws call of `drover setup aws`. */
const shellMs = 400_000;
const reads = /^(?:Describe|Get|List|Lookup|Receive)/;

describe('the way to production', {
  skip: skipWhen('the way to production', whyNot),
  timeout: 1_100_000,
}, () => {
  let folder = '';
  let world: ServedWorld;
  let aws: Steps;
  let kubectl: Steps;
  let env: NodeJS.ProcessEnv;
  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'], unjudged: true });

  before(async () => {
    world = suite.world;
    aws = stepsOf('aws', (args) => world.aws(...args));
    kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    folder = mkdtempSync(join(tmpdir(), 'drover-production-'));
    const bin = join(folder, 'node_modules', '.bin');
    env = {
      ...world.env,
      PATH: [bin, dirname(process.execPath), world.env.PATH].join(':'),
      // Neither the user's cache nor a registry: the release brings all that it needs.
      npm_config_cache: join(folder, '.npm'),
      npm_config_offline: 'true',
      npm_config_omit: 'optional',
      // The user's own cluster is not found by the world's address.
      DROVER_URL: undefined,
    };
    await pack();
    await makeGroup();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** From a copy of the checkout: other stories build in the checkout at the same time. */
  const pack = async (): Promise<void> => {
    const copy = mkdtempSync(join(tmpdir(), 'drover-checkout-'));
    const left = new Set(['.git', 'node_modules', 'lib', '.drover']);
    for (const name of readdirSync(root)) {
      if (!left.has(name)) cpSync(join(root, name), join(copy, name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const line = only('start.md', 'npm ci && ').replace('npm ci && ', '');
    await promisify(execFile)('sh', ['-c', `${line} --pack-destination '${folder}'`], {
      cwd: copy,
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
      maxBuffer: 1e8,
    });
    rmSync(copy, { recursive: true, force: true });
  };

  /** A group of two that an operator made with aws alone, like the demo's self-managed one. */
  const makeGroup = async (): Promise<void> => {
    const like = JSON.parse(
      await aws.ok(
        'autoscaling describe-auto-scaling-groups --output json --query',
        "AutoScalingGroups[?contains(AutoScalingGroupName, 'demo-self-ng')] | [0]",
      ),
    ) as {
      readonly VPCZoneIdentifier: string;
      readonly LaunchTemplate: { readonly LaunchTemplateId: string };
    };
    await aws.ok(
      `autoscaling create-auto-scaling-group --auto-scaling-group-name ${groupName} --min-size 0`,
      ...['--max-size', '3', '--desired-capacity', '2'],
      ...['--launch-template', `LaunchTemplateId=${like.LaunchTemplate.LaunchTemplateId}`],
      ...['--vpc-zone-identifier', like.VPCZoneIdentifier],
    );
    await eventually('its nodes are Ready', async () =>
      (await nodesOfGroup()).length === 2 ? true : undefined,
    );
  };

  const instancesOf = async (): Promise<readonly string[]> =>
    JSON.parse(
      await aws.ok(
        `autoscaling describe-auto-scaling-groups --auto-scaling-group-names ${groupName}`,
        ...['--output', 'json', '--query', 'AutoScalingGroups[0].Instances[].InstanceId'],
      ),
    ) as readonly string[];
  const nodesOfGroup = async (): Promise<readonly string[]> => {
    const ids = await instancesOf();
    const path = '{range .items[*]}{.spec.providerID} {.metadata.name}{"\\n"}{end}';
    const rows = (await kubectl.ok('get nodes -o', `jsonpath=${path}`)).trim().split('\n');
    return rows.filter((row) => ids.some((id) => row.includes(id)));
  };

  /** As typed in a shell in the empty directory. */
  const shell = (line: string): Promise<Ran> =>
    run('sh', ['-c', `cd "${folder}" && ${line}`], { env, timeoutMs: shellMs });
  const done = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await shell(line);
    assert.equal(code, 0, `${line} exits with ${code}:\n${stdout}${stderr}`);
    return stdout;
  };

  it('docs/start.md reads, and writes nothing to the cluster or to AWS', async () => {
    writeFileSync(join(folder, 'user-data.txt'), '#!/bin/bash\n/etc/eks/bootstrap.sh demo\n');
    copyFileSync(world.auditLogPath, join(folder, 'audit.log'));
    const auditBefore = world.audit().length;
    const begun = new Date().toISOString();
    const lines = commandsOf('start.md').filter((line) => line.startsWith('npx ./drover-'));
    assert.ok(lines.length >= 6, `${lines.length} commands`);
    for (const line of lines) {
      const named = line
        .replaceAll('~/.kube/config', String(world.env.KUBECONFIG))
        .replaceAll('my-cluster/my-nodegroup', 'ironman-2022/demo-ng')
        .replaceAll('my-nodegroup', 'demo-ng');
      const { code, stdout, stderr } = await shell(named);
      // 3: findings, such as a lint error or a blocker.
      assert.ok(code === 0 || code === 3, `${named} exits with ${code}:\n${stdout}${stderr}`);
      assert.notEqual(stdout.trim(), '', named);
    }
    const written = world
      .audit()
      .slice(auditBefore)
      .filter(({ verb, userAgent = '' }) => {
        return userAgent.startsWith('drover') && !['get', 'list', 'watch'].includes(verb);
      })
      .filter(({ objectRef }) => !/reviews$/.test(objectRef?.resource ?? ''));
    assert.deepEqual(written, []);
    const calls = JSON.parse(
      await aws.ok(
        `cloudtrail lookup-events --start-time ${begun} --output json --query Events[].EventName`,
      ),
    ) as readonly string[];
    assert.deepEqual(
      [...new Set(calls)].filter((name) => !reads.test(name)),
      [],
    );
  });

  it('docs/your-cluster.md installs the controller, and a node is drained', async () => {
    await done('npm install --silent ./drover-0.1.0.tgz');
    assert.deepEqual(
      readdirSync(join(folder, 'node_modules')).filter((n) => !n.startsWith('.')),
      ['drover'],
    );
    const prepared = await done(
      only('your-cluster.md', 'drover setup aws --adopt-only --node-role my-nodes'),
    );
    const queueUrl = /--queue-url (\S+)/.exec(prepared)?.[1] ?? '';
    const apply = only('your-cluster.md', 'kubectl apply -f deploy/');
    await done(`cd node_modules/drover && ${apply}`);

    const [program = '', ...args] = (
      commandsOf('your-cluster.md').find((line) =>
        line.startsWith('drover controller --queue-url http'),
      ) ?? ''
    )
      .replace(/https:\S+/, queueUrl)
      .split(' ');
    assert.equal(program, 'drover');
    const controller = spawn(join(folder, 'node_modules', '.bin', 'drover'), args, {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((resolve) => controller.on('close', resolve));
    let log = '';
    controller.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    try {
      await eventually('it leads', async () => {
        assert.equal(controller.exitCode, null, log);
        return log.includes('"message":"leading"') ? true : undefined;
      });
      await adoptAndDrain();
      await done(`drover release ${groupName} --yes`);
    } finally {
      controller.kill('SIGTERM');
      await ended;
    }
    const hooks = await aws.ok(
      `autoscaling describe-lifecycle-hooks --auto-scaling-group-name ${groupName} --output text`,
    );
    assert.equal(hooks.trim(), '', 'nothing of ours is left on the group');
    // The drained instance stays in its group's list until EC2 has ended it.
    await eventually('the group has two instances as before', async () =>
      (await instancesOf()).length === 2 ? true : undefined,
    );
  });

  const adoptAndDrain = async (): Promise<void> => {
    await done(`drover adopt --asg ${groupName} --yes`);
    const [instance = ''] = await instancesOf();
    await aws.ok(
      `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${instance}`,
      '--no-should-decrement-desired-capacity',
    );
    const path = '{.status.phase} {.status.outcome}';
    const outcome = await eventually(
      'the disruption ends',
      async () => {
        const ran = await world.kubectl(
          'get',
          'nodedisruption',
          instance,
          '-o',
          `jsonpath=${path}`,
        );
        return ran.stdout.startsWith('Ended') ? ran.stdout : undefined;
      },
      180_000,
    );
    assert.equal(outcome, 'Ended Drained');
    await eventually(
      'another machine has taken its place',
      async () => ((await nodesOfGroup()).length === 2 ? true : undefined),
      180_000,
    );
  };
});
