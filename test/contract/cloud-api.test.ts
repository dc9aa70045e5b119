// Runs the contract of the cloud port against a world in process and against the same world through
// the SDK over HTTP. It also runs against moto_server, an independent implementation, if it is
// installed (github.com/getmoto/moto).
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { DescribeImagesCommand, DescribeSubnetsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { CreateRoleCommand, IAMClient } from '@aws-sdk/client-iam';
import { CreateQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe } from 'vitest';
import { createAwsCloud } from '../../src/adapters/aws/index.ts';
import { objectOr } from '../../src/api/json.ts';
import { seedEmpty } from '../../src/main/demo.ts';
import { Driver } from '../../src/sim/driver.ts';
import { createInProcessPorts } from '../../src/sim/index.ts';
import { createWorld, type World } from '../../world/index.ts';
import { microsPerMs } from '../../world/kernel/index.ts';
import { peerProgram } from '../support/peers.ts';
import { type Cloud, cloudContract } from './cloud-api.ts';
import { steppedCloud } from './cloud-sides.ts';
import { accessKey, secretKey, startWireFront, type WireFront } from './wire-front.ts';

const trust = JSON.stringify({ Version: '2012-10-17', Statement: [] });
const roleName = 'node-role';
const startAt = Date.parse('2026-01-01T00:00:00Z') * microsPerMs;
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const newWorld = (): World => {
  const world = createWorld({ seed: 1, startAt });
  seedEmpty(world);
  world.aws.call('iam', 'CreateRole', { RoleName: roleName, AssumeRolePolicyDocument: trust });
  world.aws.call('sqs', 'CreateQueue', { QueueName: 'contract' });
  return world;
};

const first = (world: World, operation: string, member: string) =>
  objectOr((objectOr(world.aws.call('ec2', operation, {}))[member] as readonly unknown[])[0]);

const cloudOf = (world: World, cloud: Cloud['cloud'], queueUrl: string): Cloud => {
  const subnet = first(world, 'DescribeSubnets', 'Subnets');
  return {
    cloud,
    subnetId: String(subnet.SubnetId),
    vpcId: String(subnet.VpcId),
    imageId: String(first(world, 'DescribeImages', 'Images').ImageId),
    roleName,
    queueUrl,
    send: async (body) => {
      world.aws.call('sqs', 'SendMessage', { QueueUrl: queueUrl, MessageBody: body });
    },
    advance: (seconds) => new Driver(world.kernel, breathe).advance(seconds),
  };
};

describe('a world in process', () => {
  cloudContract(async () => {
    const world = newWorld();
    const user = { username: 'somebody', groups: [] };
    const identity = { user, userAgent: 'contract' };
    const { cloud } = createInProcessPorts(world, { component: 'contract', identity });
    const queueUrl = world.aws.queueUrl('contract') ?? '';
    return cloudOf(world, steppedCloud(world.kernel, cloud), queueUrl);
  });
});

const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey };

describe('a world over HTTP', () => {
  const world = newWorld();
  let front: WireFront;
  beforeAll(async () => {
    front = await startWireFront(world.aws.handlers);
  });
  afterAll(() => front.stop());
  cloudContract(async () => {
    const { endpoint } = front;
    const cloud = createAwsCloud({ endpoint, region: 'eu-west-1', credentials });
    const { pathname } = new URL(world.aws.queueUrl('contract') ?? '');
    return cloudOf(world, cloud, `${endpoint}${pathname}`);
  });
});

const motoServer = peerProgram('moto_server');
const noMoto = spawnSync(motoServer, ['--help'], { stdio: 'ignore' }).status !== 0;
if (noMoto) {
  process.stdout.write(
    'not run: moto_server is not installed: npm run peers:install moto_server\n',
  );
}

/** Resolves to the endpoint that it prints; rejects if it ends first. */
const endpointOf = (moto: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = '';
    const read = (chunk: Buffer): void => {
      said += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (found !== undefined) resolve(found);
    };
    moto.stdout?.on('data', read);
    moto.stderr?.on('data', read);
    moto.on('exit', (code) => reject(new Error(`moto_server ended with ${code}: ${said}`)));
  });

describe.skipIf(noMoto)('moto_server', () => {
  let moto: ChildProcess | undefined;
  let given: Cloud | undefined;
  // A busy machine imports its Python for more than a minute.
  beforeAll(async () => {
    moto = spawn(motoServer, ['-H', '127.0.0.1', '-p', '0']);
    const options = { endpoint: await endpointOf(moto), region: 'eu-west-1', credentials };
    const ec2 = new EC2Client(options);
    const { Subnets } = await ec2.send(new DescribeSubnetsCommand({}));
    const { Images } = await ec2.send(new DescribeImagesCommand({}));
    const document = { RoleName: roleName, AssumeRolePolicyDocument: trust };
    await new IAMClient(options).send(new CreateRoleCommand(document));
    const sqs = new SQSClient(options);
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'contract' }));
    given = {
      cloud: createAwsCloud(options),
      subnetId: Subnets?.[0]?.SubnetId ?? '',
      vpcId: Subnets?.[0]?.VpcId ?? '',
      imageId: Images?.[0]?.ImageId ?? '',
      roleName,
      queueUrl: QueueUrl ?? '',
      send: async (MessageBody) => {
        await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
      },
      // moto terminates and starts instances within the call.
      advance: async () => undefined,
    };
  }, 180_000);
  afterAll(() => {
    moto?.kill('SIGTERM');
  });
  cloudContract(
    async () => {
      if (given === undefined) throw new Error('moto_server did not start');
      return given;
    },
    new Set(['absence', 'hook-metadata', 'lifecycle-actions']),
  );
});
