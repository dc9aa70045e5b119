// The transport of the AWS mapping over a world in the same process. Calls pass the network with
// its faults, in virtual time, and are reported for traces. Contains no operation but
// ReceiveMessage, which waits in the world.
import { type EpochMs, epochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import { type AwsAnswer, AwsRefusal, type AwsTransport } from '../../aws-cloud/index.ts';
import { AwsError } from '../../aws-wire/index.ts';
import type { CallFate, Network } from './network.ts';

/** One AWS call of the world: input and output named as in the service model. */
export type WorldAwsCall = (service: string, operation: string, input: JsonObject) => unknown;

/** Waits in world time until the queue has a message; `done` receives ReceiveMessage's output. */
export type WorldReceive = (input: JsonObject, done: (output: JsonObject) => void) => () => void;

/**
 * One call, for traces. `error`: the code that the caller received, including injected failures.
 */
export interface SentCall {
  readonly service: string;
  readonly operation: string;
  readonly input: JsonObject;
  readonly error?: string;
  /** For DeleteMessage: the body of the message. */
  readonly message?: string;
}

/** Injected failures as the service would report them. */
const injected: Readonly<Record<string, { readonly code: string; readonly httpStatus: number }>> = {
  Throttled: { code: 'Throttling', httpStatus: 400 },
  ServerError: { code: 'ServiceUnavailable', httpStatus: 503 },
};

const refusalOf = (fate: Exclude<CallFate<string>, { readonly kind: 'ok' }>): AwsRefusal => {
  if (fate.kind === 'lost') {
    return new AwsRefusal('answer lost', { codes: [], httpStatus: undefined });
  }
  const { code, httpStatus } = injected[fate.code] ?? { code: fate.code, httpStatus: 400 };
  return new AwsRefusal('injected', { codes: [code], httpStatus });
};

const refusalFrom = (error: AwsError): AwsRefusal =>
  new AwsRefusal(error.message, {
    codes: [error.code],
    // As over HTTP: an error without a status is a 400.
    httpStatus: error.httpStatus ?? 400,
    members: error.members as JsonObject,
    cause: error,
  });

const isRead = /^(?:Describe|List|Get|Receive)/;
const receiptOf = ({ ReceiptHandle }: JsonObject): string =>
  typeof ReceiptHandle === 'string' ? ReceiptHandle : '';

export interface WorldTransportOptions {
  readonly call: WorldAwsCall;
  readonly receive: WorldReceive;
  readonly network: Network;
  /** The world's time. */
  readonly now: () => EpochMs;
  readonly onCall?: (call: SentCall) => void;
}

export class WorldTransport implements AwsTransport {
  readonly #options: WorldTransportOptions;
  /** Bodies of received messages, by receipt handle; kept only while calls are traced. */
  readonly #bodies = new Map<string, string>();
  constructor(options: WorldTransportOptions) {
    this.#options = options;
  }

  async invoke(
    service: string,
    operation: string,
    input: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<AwsAnswer> {
    signal?.throwIfAborted();
    const { network, call } = this.#options;
    const fate = network.faults.cloudCall(operation);
    const isReceive = operation === 'ReceiveMessage';
    const told = (error?: string): void => this.#tell({ service, operation, input }, error);
    if (fate.kind === 'refused' || (fate.kind === 'lost' && isReceive)) {
      if (fate.kind === 'refused' && !isReceive) told(fate.code);
      await network.call(() => undefined, signal);
      throw refusalOf(fate);
    }
    if (isReceive) return { output: await this.#receive(input, signal) };
    try {
      const answer = await network.call(() => {
        const output = this.#answer(() => call(service, operation, input), told);
        if (!isRead.test(operation)) {
          network.faults.afterWrite({ verb: operation, resource: service, body: input });
        }
        return { output: isObject(output) ? output : {}, servedAt: this.#second() };
      }, signal);
      if (fate.kind === 'lost') throw refusalOf(fate);
      return answer;
    } catch (error) {
      throw error instanceof AwsError ? refusalFrom(error) : error;
    }
  }

  /** Whole seconds, as in a Date header. */
  #second(): EpochMs {
    return epochMs(Math.floor(this.#options.now() / 1000) * 1000);
  }

  #receive(input: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    const { network, receive } = this.#options;
    return new Promise((resolve, reject) => {
      let stop = (): void => {};
      const abort = (): void => {
        stop();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
      network.leg(() => {
        if (signal?.aborted) return;
        stop = receive(input, (output) =>
          network.leg(() => {
            signal?.removeEventListener('abort', abort);
            this.#remember(output);
            resolve(output);
          }),
        );
      });
    });
  }

  /** Reports the call when it takes effect, whether or not the answer arrives. */
  #answer(call: () => unknown, told: (error?: string) => void): unknown {
    try {
      const output = call();
      told();
      return output;
    } catch (error) {
      told(error instanceof AwsError ? error.code : String(error));
      throw error;
    }
  }

  #remember({ Messages }: JsonObject): void {
    if (this.#options.onCall === undefined || !Array.isArray(Messages)) return;
    for (const message of Messages.filter(isObject)) {
      if (typeof message.Body === 'string') this.#bodies.set(receiptOf(message), message.Body);
    }
  }

  #tell(call: Omit<SentCall, 'error' | 'message'>, error: string | undefined): void {
    const { onCall } = this.#options;
    if (onCall === undefined) return;
    const receipt = call.operation === 'DeleteMessage' ? receiptOf(call.input) : '';
    const message = this.#bodies.get(receipt);
    onCall({ ...call, ...defined({ error, message }) });
    if (error === undefined) this.#bodies.delete(receipt);
  }
}
