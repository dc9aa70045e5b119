// A world that behaves as moto's tests expect: everything has settled when a call is answered, and
// POST /moto-api/reset starts a new world. Only for that suite: no command of a user starts this
// mode.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpRequest, HttpResponse } from '../../../src/api/http.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { resourceTypes } from '../../../src/api/kube.ts';
import { createAwsDispatcher } from '../../../src/aws-wire/index.ts';
import { awsHandlers } from '../../../src/main/aws-front.ts';
import { seedEmpty } from '../../../src/main/demo.ts';
import { startEmbeddedControllers } from '../../../src/main/embedded.ts';
import type { Log } from '../../../src/ports/index.ts';
import { readRequest, writeResponse } from '../../../src/serve/message.ts';
import { plainFamily } from '../../../world/aws/ec2/amazon-linux.ts';
import { cliUser } from '../../../world/aws/index.ts';
import { createWorld } from '../../../world/index.ts';
import { microsPerMs, microsPerSecond, uuid } from '../../../world/kernel/index.ts';

/**
 * The secret key with which moto's decorators sign, the account that they assert, and the region of
 * most tests.
 */
const secretAccessKey = 'FOOBARSECRET';
const account = '123456789012';
const region = 'us-east-1';
/**
 * World time that passes with each call: launches, terminations and replacements settle within it.
 */
const settleSeconds = 75;
/** Time limit for a cluster or node group to settle, in seconds of world time. */
const longestSettleSeconds = 900;
const onTheirWay = /^(?:CREATING|UPDATING|DELETING)$/;
/** Time limit for the answer to a call, in seconds of world time. */
const longestCallSeconds = 600;

const testSubnets = ['subnet-12345ab', 'subnet-67890cd'];
const testRole = 'role_name';
const testKeyPair = 'eksKeypair';
const testImages = [
  'ami-12c6146b',
  'ami-03cf127a',
  'ami-12345678',
  'ami-1ea5b10a3d8867db4',
  'ami-pytest',
];

const silent: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silent,
};

const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class SettledWorld {
  readonly #stop = new AbortController();
  readonly #world = createWorld({
    seed: 1,
    startAt: Date.now() * microsPerMs,
    account,
    region,
  });
  readonly #dispatcher = createAwsDispatcher({
    handlers: awsHandlers(this.#world),
    authenticate: () => ({ secretAccessKey, principal: cliUser(account) }),
    now: () => Math.floor(this.#world.kernel.now() / microsPerMs),
    nextRequestId: () => uuid(this.#world.kernel.random('moto')),
    defaultRegion: region,
  });

  constructor() {
    seedEmpty(this.#world);
    // moto's tests name images, subnets, a role and a key pair that they do not create, so they
    // exist here.
    const images = this.#world.kernel.tables.open<JsonObject>('aws/ec2/images');
    const plain = [...images.values()].find((row) => row.family === plainFamily);
    for (const imageId of testImages) images.put(imageId, { ...plain, imageId });
    const subnets = testSubnets.map((subnetId) => ({ subnetId, isPublic: true }));
    this.#world.aws.ensureNetwork({ vpcId: 'vpc-0a1b2c3d', subnets });
    const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [] });
    this.#world.aws.call('iam', 'CreateRole', { RoleName: testRole, AssumeRolePolicyDocument });
    this.#world.aws.call('ec2', 'CreateKeyPair', { KeyName: testKeyPair });
    const { signal } = this.#stop;
    void startEmbeddedControllers({ world: this.#world, log: silent, signal }).catch(() => {});
  }

  async answer(request: HttpRequest): Promise<HttpResponse> {
    let isDone = false;
    const answered = this.#dispatcher.handle(request).finally(() => {
      isDone = true;
    });
    await this.#run(longestCallSeconds, () => isDone);
    const response = await answered;
    let passed = 0;
    do {
      await this.#run(settleSeconds, () => false);
      passed += settleSeconds;
    } while (passed < longestSettleSeconds && this.#states().some((one) => onTheirWay.test(one)));
    return response;
  }

  /** The states of the cluster and of its node groups. */
  #states(): readonly string[] {
    const { kube, aws } = this.#world;
    const groups = [...kube.readAll(resourceTypes.nodegroups)].map(({ status }) =>
      String(objectOr(status).state ?? 'CREATING'),
    );
    const clusters = aws.clusterNames().map((name) => {
      const answer = objectOr(aws.call('eks', 'DescribeCluster', { name }));
      return String(objectOr(answer.cluster).status);
    });
    return [...clusters, ...groups];
  }

  end(): void {
    this.#stop.abort();
  }

  async #run(seconds: number, isDone: () => boolean): Promise<void> {
    const { kernel } = this.#world;
    const end = kernel.now() + seconds * microsPerSecond;
    await breathe();
    while (!isDone()) {
      const next = kernel.nextAt();
      if (next === undefined || next > end) break;
      const callbacks = kernel.callbacks;
      kernel.step();
      if (kernel.callbacks !== callbacks) await breathe();
    }
    if (!isDone()) kernel.advanceTo(end);
  }
}

/** Serves until closed; handles one call after another. */
export const serveSettled = async (): Promise<{
  readonly url: string;
  readonly server: Server;
}> => {
  let world = new SettledWorld();
  let queue: Promise<unknown> = Promise.resolve();
  const server = createServer((message, reply) => {
    queue = queue.then(async () => {
      const read = await readRequest(message);
      if (read.kind !== 'ok') return;
      if (read.request.path === '/moto-api/reset') {
        world.end();
        world = new SettledWorld();
        reply.end('{}');
        return;
      }
      const response = await world.answer({ ...read.request, remoteAddress: '127.0.0.1' });
      writeResponse(reply, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
};
