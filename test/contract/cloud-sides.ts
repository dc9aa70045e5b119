// The cloud's ports over each transport of the mapping, above the same handlers: in process, and
// through the SDK over HTTP. Records the requests of each.

import { createAwsCloud } from '../../src/adapters/aws/index.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { createCloudApi } from '../../src/aws-cloud/index.ts';
import { AwsError, type AwsHandlers } from '../../src/aws-wire/index.ts';
import type { CloudApi } from '../../src/ports/index.ts';
import { WorldTransport } from '../../src/sim/ports/aws-transport.ts';
import { Network, noFaults } from '../../src/sim/ports/network.ts';
import { Kernel, SeededRandom } from '../../world/kernel/index.ts';
import { accessKey, secretKey, startWireFront } from './wire-front.ts';

export interface Asked {
  readonly operation: string;
  readonly input: JsonObject;
}

export interface Side {
  readonly name: string;
  readonly cloud: CloudApi;
  readonly asked: () => readonly Asked[];
  readonly stop: () => Promise<void>;
}

const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits for `answer` and lets the world's events pass meanwhile. */
export const stepped = async <T>(kernel: Kernel, answer: Promise<T>): Promise<T> => {
  let isSettled = false;
  const settled = answer.finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  await breathe();
  while (!isSettled && kernel.nextAt() !== undefined) {
    kernel.step();
    await breathe();
  }
  return settled;
};

/** The port, whose calls let the events of `kernel` pass while they wait. */
export const steppedCloud = (kernel: Kernel, cloud: CloudApi): CloudApi =>
  new Proxy(cloud, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...args: readonly unknown[]) =>
        stepped(kernel, Promise.resolve(Reflect.apply(method, target, args)));
    },
  });

const inProcess = (handlers: AwsHandlers): Side => {
  const kernel = new Kernel({ seed: 1, startAt: 0 });
  const asked: Asked[] = [];
  const answer = (service: string, operation: string, input: JsonObject): unknown => {
    asked.push({ operation, input });
    const handler = handlers[service]?.[operation];
    if (handler === undefined) throw new AwsError({ code: 'NotImplemented', message: operation });
    return handler(input, {} as never);
  };
  const transport = new WorldTransport({
    call: answer,
    receive: (input, done) => {
      done(answer('sqs', 'ReceiveMessage', input) as JsonObject);
      return () => undefined;
    },
    network: new Network({ kernel, random: new SeededRandom(1), legMicros: 0, faults: noFaults }),
    now: () => 0 as never,
  });
  return {
    name: 'the world in process',
    cloud: steppedCloud(kernel, createCloudApi(transport)),
    asked: () => asked,
    stop: async () => undefined,
  };
};

const bySdk = async (handlers: AwsHandlers): Promise<Side> => {
  const front = await startWireFront(handlers);
  return {
    name: 'the SDK over HTTP',
    cloud: createAwsCloud({
      endpoint: front.endpoint,
      region: 'eu-west-1',
      credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    }),
    asked: () =>
      front.calls.map(({ operation, input }) => {
        // The SDK adds a token to calls that may be retried.
        const { ClientToken: _sdk, ...given } = input as JsonObject;
        return { operation, input: given };
      }),
    stop: () => front.stop(),
  };
};

/** One side per transport, over the same fixed answers. */
export const sidesOver = async (handlers: AwsHandlers): Promise<readonly Side[]> => [
  inProcess(handlers),
  await bySdk(handlers),
];
