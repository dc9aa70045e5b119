// One call of the world's AWS services in virtual time: over the network with its faults, told to
// whoever traces, refusals as CloudErrors. Knows no operation.

import type { QueueMessage } from '../../api/cloud.ts';
import { defined } from '../../api/defined.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import { AwsError } from '../../aws-wire/index.ts';
import { CloudError, type CloudErrorCode, cloudErrorCodeOf, isAbsence } from '../../ports/index.ts';
import { objects, textOf } from './cloud-values.ts';
import type { Network } from './network.ts';

/** One AWS call of the world: input and output named as in the service model. */
export type WorldAwsCall = (service: string, operation: string, input: JsonObject) => unknown;

/** Waits in world time until the queue has something, or `waitSeconds` have passed. */
export type WorldReceive = (
  request: {
    readonly queueUrl: string;
    readonly waitSeconds: number;
    readonly visibilitySeconds: number;
  },
  done: (messages: readonly QueueMessage[]) => void,
) => () => void;

/** One call as it left, for traces. `error` = what the caller was told, injected failures too. */
export interface SentCall {
  readonly service: string;
  readonly operation: string;
  readonly input: JsonObject;
  readonly error?: string;
  /** Of DeleteMessage: the body of the message. */
  readonly message?: string;
}

export interface Options {
  readonly signal?: AbortSignal;
}

/** As the SDK adapter would see it on the wire: an error without a status is a 400. */
const codeOf = (operation: string, error: AwsError): CloudErrorCode => {
  const { code, message, httpStatus = 400 } = error;
  return cloudErrorCodeOf({ operation, codes: [code], message, httpStatus });
};

export class CloudCalls {
  readonly #call: WorldAwsCall;
  readonly #network: Network;
  readonly #onCall: ((call: SentCall) => void) | undefined;
  /** Bodies of messages in hand, by receipt: only kept while somebody traces. */
  readonly #bodies = new Map<string, string>();
  constructor(options: {
    readonly call: WorldAwsCall;
    readonly network: Network;
    readonly onCall?: (call: SentCall) => void;
  }) {
    this.#onCall = options.onCall;
    this.#call = options.call;
    this.#network = options.network;
  }

  /** Undefined where the thing named does not exist. */
  async maybe(
    service: string,
    operation: string,
    input: JsonObject,
    options: Options,
  ): Promise<JsonObject | undefined> {
    try {
      return await this.send(service, operation, input, options);
    } catch (error) {
      if (error instanceof CloudError && error.cause instanceof AwsError) {
        if (isAbsence(error.cause.code, error.cause.message)) return undefined;
      }
      throw error;
    }
  }

  /** Every page of a paged call. */
  async all<T>(
    service: string,
    operation: string,
    input: JsonObject,
    member: string,
    options: Options,
    convert: (item: JsonObject) => T,
  ): Promise<readonly T[]> {
    const items: T[] = [];
    let token: string | undefined;
    do {
      const page = token === undefined ? input : { ...input, NextToken: token };
      const output = await this.send(service, operation, page, options);
      items.push(...objects(output[member]).map(convert));
      token = typeof output.NextToken === 'string' ? output.NextToken : undefined;
    } while (token !== undefined);
    return items;
  }

  async fail(
    fate: { readonly kind: 'refused'; readonly code: string } | { readonly kind: 'lost' },
    operation: string,
    signal: AbortSignal | undefined,
  ): Promise<never> {
    await this.#network.call(() => undefined, signal);
    const code = fate.kind === 'lost' ? 'Unreachable' : (fate.code as CloudErrorCode);
    throw new CloudError(code, `${operation}: injected`);
  }

  async send(
    service: string,
    operation: string,
    input: JsonObject,
    { signal }: Options,
  ): Promise<JsonObject> {
    const { faults } = this.#network;
    const fate = faults.cloudCall(operation);
    const told = (error?: string): void => this.#tell({ service, operation, input }, error);
    if (fate.kind === 'refused') {
      told(fate.code);
      return this.fail(fate, operation, signal);
    }
    try {
      const output = await this.#network.call(() => {
        const answer = this.#answer(() => this.#call(service, operation, input), told);
        if (!/^(?:Describe|List|Get|Receive)/.test(operation)) {
          faults.afterWrite({ verb: operation, resource: service });
        }
        return answer;
      }, signal);
      if (fate.kind === 'lost') throw new CloudError('Unreachable', `${operation}: answer lost`);
      return isObject(output) ? output : {};
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      throw new CloudError(codeOf(operation, error), `${operation}: ${error.message}`, {
        cause: error,
      });
    }
  }

  /** Told at the moment it takes effect, whether or not the answer arrives. */
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

  remember(messages: readonly QueueMessage[]): void {
    if (this.#onCall === undefined) return;
    for (const { receiptHandle, body } of messages) this.#bodies.set(receiptHandle, body);
  }

  #tell(call: Omit<SentCall, 'error' | 'message'>, error: string | undefined): void {
    if (this.#onCall === undefined) return;
    const receipt = call.operation === 'DeleteMessage' ? textOf(call.input.ReceiptHandle) : '';
    const message = this.#bodies.get(receipt);
    this.#onCall({
      ...call,
      ...defined({ error, message }),
    });
    if (error === undefined) this.#bodies.delete(receipt);
  }
}
