// All ports of one controller process over a world in the same process and time.

import type { World } from '../../../world/index.ts';
import { type Micros, microsPerMs } from '../../../world/kernel/index.ts';
import { type EpochMs, epochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { createCloudApi } from '../../aws-cloud/index.ts';
import type { AwsCallContext } from '../../aws-wire/index.ts';
import type { Clock, CloudApi, KubeApi, Random } from '../../ports/index.ts';
import { ServerClock } from '../../runtime/index.ts';
import { type SentCall, WorldTransport } from './aws-transport.ts';
import { SimClock } from './clock.ts';
import { type Identity, SimKubeApi } from './kube.ts';
import { Network, type NetworkFaults, noFaults } from './network.ts';

export interface InProcessPorts {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  /** The API server's time, as the process estimates it. */
  readonly clock: Clock;
  /** The machine's own clock, which may be skewed. */
  readonly ownClock: Clock;
  /** One random stream per purpose. */
  readonly random: (purpose: string) => Random;
  readonly network: Network;
}

const queueNameOf = (queueUrl: string): string => queueUrl.slice(queueUrl.lastIndexOf('/') + 1);

/** ReceiveMessage as a long poll in world time. */
const receiveOf = (
  { aws }: World,
  input: JsonObject,
  done: (output: JsonObject) => void,
): (() => void) =>
  aws.receiveWhenAvailable(queueNameOf(String(input.QueueUrl)), {
    waitSeconds: Number(input.WaitTimeSeconds),
    visibilitySeconds: Number(input.VisibilityTimeout),
    max: Number(input.MaxNumberOfMessages),
    onResult: (messages) => {
      const Messages = messages.map(({ message, receiptHandle }) => ({
        MessageId: message.id,
        ReceiptHandle: receiptHandle,
        Body: message.body,
        Attributes: {
          ApproximateReceiveCount: String(message.receiveCount),
          SentTimestamp: String(message.sentAt),
        },
      }));
      done(Messages.length === 0 ? {} : { Messages });
    },
  });

/** Probability that a write fails while `drover world inject api-errors` is on. */
const apiErrorRate = 0.2;

/** Faults that an operator turns on in a served world. */
const worldFaults = (world: World, random: Random): NetworkFaults => ({
  ...noFaults,
  kubeCall: ({ verb }) => {
    const writes = verb === 'create' || verb === 'patch' || verb === 'delete';
    if (!writes || !world.faults.active('api-errors')) return { kind: 'ok' };
    return random.next() < apiErrorRate ? { kind: 'refused', code: 'ServerError' } : { kind: 'ok' };
  },
});

/**
 * `component` names the process in the world's random streams. `legMicros`: one-way network time.
 */
export const createInProcessPorts = (
  world: World,
  options: {
    readonly component: string;
    readonly identity: Identity;
    /** Caller of AWS; default: the account's own user with the identity's user agent. */
    readonly awsCaller?: Partial<AwsCallContext>;
    readonly legMicros?: Micros;
    readonly faults?: NetworkFaults;
    readonly clockSkewMs?: number;
    readonly onCloudCall?: (call: SentCall) => void;
  },
): InProcessPorts => {
  const { kernel, kube, aws } = world;
  const random = (purpose: string): Random => kernel.random(`${options.component}.${purpose}`);
  const network = new Network({
    kernel,
    random: random('network'),
    legMicros: options.legMicros ?? 0,
    faults: options.faults ?? worldFaults(world, random('faults')),
  });
  const now = (): EpochMs => epochMs(Math.floor(kernel.now() / microsPerMs));
  const ownClock = new SimClock(kernel, {
    skewMs: options.clockSkewMs ?? 0,
    whenAwake: (run) => network.whenAwake(run),
  });
  const clock = new ServerClock(ownClock);
  const awsCaller = options.awsCaller ?? { userAgent: options.identity.userAgent };
  return {
    kube: new SimKubeApi({ kube, network, identity: options.identity, dates: clock, now }),
    cloud: createCloudApi(
      new WorldTransport({
        call: (service, operation, input) => aws.call(service, operation, input, awsCaller),
        receive: (input, done) => receiveOf(world, input, done),
        network,
        now,
        ...defined({ onCall: options.onCloudCall }),
      }),
    ),
    clock,
    ownClock,
    random,
    network,
  };
};
