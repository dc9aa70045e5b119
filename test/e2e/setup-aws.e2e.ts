// What `drover setup aws` prints, run as it is: the commands in an account of the embedded world,
// twice, and notices in the queue that they made. The world's CloudFormation has no queues, so
// the template is only read.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const run = promisify(execFile);
const whyNot = await missing('aws', ['--version']);

describe('drover setup aws', {
  skip: skipWhen('stories of drover setup aws', whyNot),
  timeout: 180_000,
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

  it('makes a queue that gets the notices of a termination, and may run again', async () => {
    const { stdout } = await world.drover('setup', 'aws', '--queue', 'mine', '--adopt-only');
    await run('sh', ['-c', stdout], { env: world.env });
    const again = await run('sh', ['-c', stdout], { env: world.env });
    const url = /--queue-url (\S+)/.exec(again.stdout)?.[1] ?? '';
    assert.match(url, /\/mine$/);

    const attributes = await aws(
      ...['sqs', 'get-queue-attributes', '--queue-url', url, '--attribute-names', 'Policy'],
      ...['--query', 'Attributes.Policy', '--output', 'text'],
    );
    const [statement] = (JSON.parse(attributes) as { Statement: readonly { Resource: string }[] })
      .Statement;
    assert.match(statement?.Resource ?? '', /^arn:aws:sqs:eu-west-1:\d{12}:mine$/);

    const instance = await aws(
      ...['autoscaling', 'describe-auto-scaling-instances', '--output', 'text', '--query'],
      "AutoScalingInstances[?contains(AutoScalingGroupName, 'demo-ng')].InstanceId | [0]",
    );
    await aws(
      ...['autoscaling', 'terminate-instance-in-auto-scaling-group'],
      ...['--instance-id', instance, '--should-decrement-desired-capacity'],
    );
    await eventually('the queue has the lifecycle action', async () => {
      const received = await aws('sqs', 'receive-message', '--queue-url', url);
      return received.includes('EC2 Instance-terminate Lifecycle Action') ? true : undefined;
    });
  });

  it('prints the same resources for CloudFormation', async () => {
    const { stdout } = await world.drover('setup', 'aws', '--format', 'cloudformation');
    const { Resources } = JSON.parse(stdout) as { Resources: Readonly<Record<string, unknown>> };
    assert.deepEqual(Object.keys(Resources).sort(), [
      'DroverNoticesHealth',
      'DroverNoticesInstances',
      'DroverNoticesLifecycle',
      'Queue',
      'QueuePolicy',
      'Role',
    ]);
    assert.match(stdout, /"Fn::Sub": "arn:\$\{AWS::Partition\}:sqs:/);
  });

  it('refuses names that a shell would read otherwise', async () => {
    const refused = await world.drover('setup', 'aws', '--queue', 'a;b');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /--queue has characters that AWS does not allow: a;b/);
  });
});
