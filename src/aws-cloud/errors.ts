// Maps the error codes of the AWS services to those of the CloudApi port: one table for every
// transport. Pure; knows no client.
import type { CloudErrorCode } from '../ports/index.ts';

/** Wire codes, with and without the suffixes in which the services differ. */
const codes: Readonly<Record<string, CloudErrorCode>> = {
  Throttling: 'Throttled',
  ThrottlingException: 'Throttled',
  ThrottledException: 'Throttled',
  RequestThrottled: 'Throttled',
  RequestThrottledException: 'Throttled',
  RequestLimitExceeded: 'Throttled',
  TooManyRequestsException: 'Throttled',
  EC2ThrottledException: 'Throttled',
  BandwidthLimitExceeded: 'Throttled',
  SlowDown: 'Throttled',
  // Auto Scaling is busy with this group: a later retry succeeds.
  ResourceContention: 'Throttled',
  ScalingActivityInProgress: 'Throttled',

  AccessDenied: 'AccessDenied',
  AccessDeniedException: 'AccessDenied',
  UnauthorizedOperation: 'AccessDenied',
  AuthFailure: 'AccessDenied',
  UnrecognizedClientException: 'AccessDenied',
  InvalidClientTokenId: 'AccessDenied',
  SignatureDoesNotMatch: 'AccessDenied',
  IncompleteSignature: 'AccessDenied',
  MissingAuthenticationToken: 'AccessDenied',
  ExpiredToken: 'AccessDenied',
  ExpiredTokenException: 'AccessDenied',
  RequestExpired: 'AccessDenied',
  OptInRequired: 'AccessDenied',
  CredentialsProviderError: 'AccessDenied',

  InternalError: 'ServerError',
  InternalFailure: 'ServerError',
  ServerException: 'ServerError',
  ServiceUnavailable: 'ServerError',
  ServiceUnavailableException: 'ServerError',

  NotImplemented: 'Unsupported',
  UnsupportedOperation: 'Unsupported',
  UnknownOperationException: 'Unsupported',
  InvalidAction: 'Unsupported',

  MissingRegion: 'InvalidRequest',
};

/** e.g. `ResourceContentionFault` of the model and `AWS.SimpleQueueService.X` of old SQS. */
const bareCode = (name: string): string => name.replace(/^.*\./, '').replace(/Fault$/, '');

/** Whether an error means that the resource does not exist, for callers to whom that is a value. */
export const isAbsence = (code: string, message: string): boolean =>
  /NotFound|NoSuchEntity/.test(code) ||
  /AutoScalingGroup name not found|No Lifecycle Hook found/.test(message);

const byStatus = (status: number): CloudErrorCode => {
  if (status === 429) return 'Throttled';
  if (status === 401 || status === 403) return 'AccessDenied';
  if (status === 501) return 'Unsupported';
  return status >= 500 || status < 400 ? 'ServerError' : 'InvalidRequest';
};

/** Lifecycle actions. If their group no longer exists, no hook waits, as after their completion. */
const aboutActions: ReadonlySet<string> = new Set([
  'CompleteLifecycleAction',
  'RecordLifecycleActionHeartbeat',
]);

interface Refused {
  /** Operation name in the service model. */
  readonly operation: string;
  /** Codes as received, the more specific first; an empty one carries no information. */
  readonly codes: readonly string[];
  readonly message: string;
  /** Undefined when there was no answer. */
  readonly httpStatus: number | undefined;
}

export const cloudErrorCodeOf = ({
  operation,
  codes: names,
  message,
  httpStatus,
}: Refused): CloudErrorCode => {
  if (/No active Lifecycle Action/i.test(message)) return 'NoActiveLifecycleAction';
  if (aboutActions.has(operation) && names.some((name) => isAbsence(name, message))) {
    return 'NoActiveLifecycleAction';
  }
  for (const name of names) {
    const code = bareCode(name);
    const known = Object.hasOwn(codes, code) ? codes[code] : undefined;
    if (known !== undefined) return known;
  }
  return httpStatus === undefined ? 'Unreachable' : byStatus(httpStatus);
};
