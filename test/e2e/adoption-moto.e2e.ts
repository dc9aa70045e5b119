// `drover controller` with the Auto Scaling groups of moto_server (github.com/getmoto/moto), an
// implementation independent of the world. A group is adopted with four lines and its hooks are
// installed. After its NodeGroup is deleted, the group remains.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { howToInstall, peerProgram } from '../support/peers.ts';
import { drover } from '../support/program.ts';
import { stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const motoServer = peerProgram('moto_server');
const whyNot =
  howToInstall('moto_server', await missing(motoServer, ['--help'])) ??
  (await missing('kubectl', ['version', '--client'])) ??
  (await missing('aws', ['--version']));

const nodeGroup = `apiVersion: drover.dev/v1alpha1
kind: NodeGroup
metadata: {name: blue}
spec: {autoScalingGroupName: mine}
`;

/** The first match of `pattern` in the output of the process. */
const printed = (child: ChildProcess, pattern: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let told = '';
    const take = (chunk: Buffer): void => {
      told += chunk.toString();
      const found = pattern.exec(told)?.[0];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.on('exit', (code) => reject(new Error(`it ended with ${code}: ${told}`)));
  });

const story = async (world: ServedWorld, endpoint: string): Promise<void> => {
  const credentials = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  const env = { ...world.env, ...credentials, AWS_ENDPOINT_URL: endpoint };
  const aws = stepsOf('aws', (args) => world.awsAt(endpoint, credentials, ...args));
  const kubectl = stepsOf('kubectl', (args, input) =>
    input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
  );
  const image = await aws.ok('ec2 describe-images --query Images[0].ImageId --output text');
  const subnet = await aws.ok('ec2 describe-subnets --query Subnets[0].SubnetId --output text');
  await aws.ok(
    'ec2 create-launch-template --launch-template-name theirs --launch-template-data',
    JSON.stringify({ ImageId: image.trim(), InstanceType: 'm5.large' }),
  );
  await aws.ok(
    `autoscaling create-auto-scaling-group --auto-scaling-group-name mine --min-size 0 --max-size 3 --desired-capacity 2 --launch-template LaunchTemplateName=theirs,Version=1 --vpc-zone-identifier ${subnet.trim()}`,
  );
  const controller = spawn(
    process.execPath,
    [drover, 'controller', '--cloud', 'aws', '--no-leader-elect'],
    { env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = new Promise((resolve) => controller.on('close', resolve));
  try {
    await printed(controller, /starting/);
    await eventually('its definitions stand', async () => {
      const made = await world.kubectlInput(nodeGroup, 'apply', '-f', '-');
      return made.code === 0 ? true : undefined;
    });
    const hooks = (): Promise<string> =>
      aws.ok('autoscaling describe-lifecycle-hooks --auto-scaling-group-name mine --output text');
    await eventually('hooks are installed', async () => {
      const told = await hooks();
      return /Terminate-LC-Hook/.test(told) && /Launch-LC-Hook/.test(told) ? true : undefined;
    });
    const known = await kubectl.ok('get ng blue -o jsonpath={.status.adopted}');
    assert.match(known, /"instanceTypes":\["m5.large"\]/);
    assert.doesNotMatch(await kubectl.ok('get ng blue -o yaml'), /TerminationsNotSeen/);

    await kubectl.ok('delete ng blue --timeout=60s');
    const left = await aws.ok(
      'autoscaling describe-auto-scaling-groups --output json --query',
      'AutoScalingGroups[].[DesiredCapacity,length(Instances),length(Tags)]',
    );
    assert.deepEqual(JSON.parse(left), [[2, 2, 0]]);
  } finally {
    controller.kill('SIGTERM');
    await ended;
  }
};

describe('adoption of a group of moto_server', {
  skip: skipWhen('adoption of a group of moto_server', whyNot),
  timeout: 300_000,
}, () => {
  it('installs hooks, reads what the NodeGroup leaves out, and leaves the group on delete', async () => {
    const moto = spawn(motoServer, ['-H', '127.0.0.1', '-p', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise((resolve) => moto.on('close', resolve));
    try {
      const endpoint = await printed(moto, /http:\/\/127\.0\.0\.1:\d+/);
      await inWorld({ args: ['--no-controller', '--port', '0'], unjudged: true }, (world) =>
        story(world, endpoint),
      );
    } finally {
      moto.kill('SIGTERM');
      await ended;
    }
  });
});
