// What `drover setup aws` prints, run as it is: the commands in an account of the embedded world,
// twice, and notices in the queue that they made; the template as a stack of CloudFormation.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const run = promisify(execFile);
const whyNot = await missing('aws', ['--version']);

describe('drover setup aws', {
  skip: skipWhen('stories of drover setup aws', whyNot),
  timeout: 900_000,
}, () => {
  let world: ServedWorld;
  const suite = suiteWorld({ args: ['--demo', '--port', '0', '--no-controller'] });
  before(() => {
    world = suite.world;
  });
  const aws = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await world.aws(...args);
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };

  const setup = (...args: readonly string[]) =>
    world.drover('setup', 'aws', '--node-role', 'nodes-*', ...args);
  const asPolicy = [
    ...['--attribute-names', 'Policy', '--query', 'Attributes.Policy', '--output', 'text'],
  ];
  const terminateOne = async (): Promise<void> => {
    const instance = await aws(
      ...['autoscaling', 'describe-auto-scaling-instances', '--output', 'text', '--query'],
      "AutoScalingInstances[?LifecycleState=='InService' && " +
        "(contains(AutoScalingGroupName, 'demo-ng') || " +
        "contains(AutoScalingGroupName, 'ng1-public'))].InstanceId | [0]",
    );
    await aws(
      ...['autoscaling', 'terminate-instance-in-auto-scaling-group'],
      ...['--instance-id', instance, '--no-should-decrement-desired-capacity'],
    );
  };
  const receivesTermination = (url: string): Promise<true> =>
    eventually('the queue has the lifecycle action', async () => {
      const received = await aws('sqs', 'receive-message', '--queue-url', url);
      return received.includes('EC2 Instance-terminate Lifecycle Action') ? true : undefined;
    });

  it('makes a queue that gets the notices of a termination, and may run again', async () => {
    const { stdout } = await setup('--queue', 'mine', '--adopt-only');
    await run('sh', ['-c', stdout], { env: world.env });
    const again = await run('sh', ['-c', stdout], { env: world.env });
    const url = /--queue-url (\S+)/.exec(again.stdout)?.[1] ?? '';
    assert.match(url, /\/mine$/);

    const attributes = await aws('sqs', 'get-queue-attributes', '--queue-url', url, ...asPolicy);
    const [statement] = (JSON.parse(attributes) as { Statement: readonly { Resource: string }[] })
      .Statement;
    assert.match(statement?.Resource ?? '', /^arn:aws:sqs:eu-west-1:\d{12}:mine$/);
    await terminateOne();
    await receivesTermination(url);

    const named = ['--queue', 'mine', '--role', 'drover-controller'];
    const removal = await world.drover('setup', 'aws', '--remove', ...named);
    await run('sh', ['-c', removal.stdout], { env: world.env });
    await run('sh', ['-c', removal.stdout], { env: world.env });
    assert.doesNotMatch(await aws('sqs', 'list-queues', '--output', 'text'), /\/mine/);
    const left = ['events', 'list-rules', '--name-prefix', 'mine', '--query', 'Rules'];
    assert.equal(await aws(...left, '--output', 'text'), '');
    const roles = ['iam', 'list-roles', '--query', "Roles[?RoleName=='drover-controller']"];
    assert.equal(await aws(...roles, '--output', 'text'), '');
  });

  it('gives a role that exists the trust that it prints', async () => {
    const role = ['--queue', 'mine', '--role', 'mine'];
    const trust = ['iam', 'get-role', '--role-name', 'mine', '--output', 'json', '--query'];
    const make = async (...more: readonly string[]): Promise<string> => {
      const { stdout } = await setup(...role, ...more);
      await run('sh', ['-c', stdout], { env: world.env });
      return aws(...trust, 'Role.AssumeRolePolicyDocument');
    };
    assert.match(await make(), /pods\.eks\.amazonaws\.com/);
    const issuer = 'https://oidc.eks.eu-west-1.amazonaws.com/id/ABC';
    assert.match(await make('--irsa-issuer', issuer), /sts:AssumeRoleWithWebIdentity/);
  });

  it('names what is missing where no region is configured', async () => {
    const { stdout } = await setup();
    const { AWS_REGION: _, AWS_DEFAULT_REGION: __, ...env } = world.env;
    const none = { ...env, AWS_CONFIG_FILE: '/dev/null' };
    await assert.rejects(run('sh', ['-c', stdout], { env: none }), (error: object) => {
      assert.match(String('stderr' in error && error.stderr), /No AWS region: export AWS_REGION/);
      return true;
    });
  });

  it('prints a template that CloudFormation deploys, and the queue gets notices', async () => {
    const { stdout } = await setup(
      ...['--format', 'cloudformation', '--queue', 'stacked', '--role', 'stacked'],
    );
    const named = ['--stack-name', 'drover'];
    const capable = ['--capabilities', 'CAPABILITY_NAMED_IAM'];
    await aws('cloudformation', 'create-stack', ...named, ...capable, '--template-body', stdout);
    await aws('cloudformation', 'wait', 'stack-create-complete', ...named);
    const outputs = await aws(
      ...['cloudformation', 'describe-stacks', ...named, '--output', 'text'],
      ...['--query', 'Stacks[0].Outputs[].OutputValue'],
    );
    const [url = ''] = outputs.split(/\s+/).filter((one) => one.endsWith('/stacked'));
    const policy = await aws('sqs', 'get-queue-attributes', '--queue-url', url, ...asPolicy);
    assert.match(policy, /"arn:aws:events:eu-west-1:\d{12}:rule\/stacked-lifecycle"/);
    await terminateOne();
    await receivesTermination(url);
    await aws('cloudformation', 'delete-stack', ...named);
    await aws('cloudformation', 'wait', 'stack-delete-complete', ...named);
    const gone = await world.aws('iam', 'get-role', '--role-name', 'stacked');
    assert.match(gone.stderr, /NoSuchEntity/);
  });

  it('prints Terraform text that `terraform fmt` takes as it is', async (t) => {
    const none = await missing('terraform', ['version']);
    if (none !== undefined) return t.skip(none);
    for (const more of [[], ['--queue', '9-lives', '--group-tag', 'team=blue', '--irsa-issuer']]) {
      const issuer = more.length === 0 ? [] : ['https://oidc.eks.eu-west-1.amazonaws.com/id/A'];
      const { stdout } = await setup('--format', 'terraform', ...more, ...issuer);
      const formatting = spawn('terraform', ['fmt', '-no-color', '-'], { env: world.env });
      formatting.stdin.end(stdout);
      assert.equal(await text(formatting.stdout), stdout);
    }
  });

  it('refuses names that a shell would read otherwise', async () => {
    const refused = await setup('--queue', 'a;b');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /--queue has characters that AWS does not allow: a;b/);
    const any = await world.drover('setup', 'aws', '--node-role', '*');
    assert.equal(any.code, 2);
    assert.match(any.stderr, /pass any role of the account.*name the nodes' role/);
    const none = await world.drover('setup', 'aws');
    assert.match(none.stderr, /--node-role is missing: .*name it/);
    const long = await setup('--queue', 'q'.repeat(55));
    assert.equal(long.code, 2);
    assert.match(long.stderr, /--queue takes at most 54 characters.*has 55/);
  });
});
