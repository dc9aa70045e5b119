// How the mapping reaches AWS: one call, in one canonical form of values, or a refusal. What the
// answers mean stands in the mapping; what carries them (SDK, world in process) knows no noun.
import type { EpochMs } from '../api/brand.ts';
import type { JsonObject } from '../api/json.ts';
import type { AwsOperation, AwsService } from './operations.ts';

export interface AwsAnswer {
  /**
   * Members named as in the service model. Times are epoch milliseconds; what has no value is
   * absent.
   */
  readonly output: JsonObject;
  /** The service's own clock, to the second; absent where the answer does not say. */
  readonly servedAt?: EpochMs;
}

export interface AwsTransport {
  /**
   * Sends the call once. Throws AwsRefusal, or the signal's reason when the caller gives up.
   * `input` has the form of `output`.
   */
  invoke<Service extends AwsService>(
    service: Service,
    operation: AwsOperation<Service>,
    input: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<AwsAnswer>;
}

/** What AWS said against a call, or that it said nothing. Never leaves the mapping. */
export class AwsRefusal extends Error {
  override readonly name = 'AwsRefusal';
  /** Error codes as they came, the more telling first; an empty one says nothing. */
  readonly codes: readonly string[];
  /** Undefined: there was no answer. */
  readonly httpStatus: number | undefined;
  /** What the error says besides its message. */
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
