// How the mapping reaches AWS: one call with one canonical form of values, or a refusal. The
// mapping interprets answers; a transport (the SDK, or a world in the same process) knows no
// resources.

import type { AwsOperation, AwsService } from '../api/aws-operations.ts';
import type { EpochMs } from '../api/brand.ts';
import type { JsonObject } from '../api/json.ts';

export interface AwsAnswer {
  /**
   * Members named as in the service model. Times are epoch milliseconds; members without a value
   * are absent.
   */
  readonly output: JsonObject;
  /** The service's own clock, to the second; absent when the answer has none. */
  readonly servedAt?: EpochMs;
}

export interface AwsTransport {
  /**
   * Sends the call once. Throws AwsRefusal, or the signal's reason when the caller aborts. `input`
   * has the form of `output`.
   */
  invoke<Service extends AwsService>(
    service: Service,
    operation: AwsOperation<Service>,
    input: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<AwsAnswer>;
}

/** A refusal of AWS, or a missing answer. Never leaves the mapping. */
export class AwsRefusal extends Error {
  override readonly name = 'AwsRefusal';
  /** Error codes as received, the more specific first; an empty one carries no information. */
  readonly codes: readonly string[];
  /** Undefined when there was no answer. */
  readonly httpStatus: number | undefined;
  /** Members of the error besides its message. */
  readonly members: JsonObject;

  constructor(
    message: string,
    told: {
      readonly codes: readonly string[];
      readonly httpStatus: number | undefined;
      readonly members?: JsonObject;
      readonly cause?: unknown;
    },
  ) {
    super(message, told.cause === undefined ? {} : { cause: told.cause });
    this.codes = told.codes;
    this.httpStatus = told.httpStatus;
    this.members = told.members ?? {};
  }
}
