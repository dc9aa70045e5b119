// The error class that handlers throw and every protocol can render. Independent of HTTP and XML:
// the service model determines code, status and members.

export interface AwsErrorOptions {
  /** Wire code (`ResourceContention`) or the model's shape name (`ResourceContentionFault`). */
  readonly code: string;
  readonly message: string;
  /** Modelled members besides the message, such as `clusterName` of EKS errors. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** False for the service's own failures. Default: by the model, else true below 500. */
  readonly senderFault?: boolean;
  /** Default: the model's for this code, else 400. Clients retry 500, 502, 503 and 504. */
  readonly httpStatus?: number;
  readonly cause?: unknown;
}

export class AwsError extends Error {
  readonly code: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly senderFault: boolean | undefined;
  readonly httpStatus: number | undefined;

  constructor(options: AwsErrorOptions) {
    super(options.message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'AwsError';
    this.code = options.code;
    this.members = options.members ?? {};
    this.senderFault = options.senderFault;
    this.httpStatus = options.httpStatus;
  }
}

/**
 * For operations that AWS models and Drover's world does not implement. 501, because neither
 * botocore (legacy, standard, adaptive: 500, 502, 503, 504 and 429) nor SDK v3 (the same list) nor
 * aws-sdk-go retries it, so a script fails at once; a 4xx code would look like the caller's own
 * mistake.
 */
export function notImplemented(what: string): AwsError {
  return new AwsError({
    code: 'NotImplemented',
    message: `${what} is not implemented by Drover's world.`,
    httpStatus: 501,
    senderFault: false,
  });
}
