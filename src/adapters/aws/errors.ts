// What an SDK call threw, as a CloudError: by the table of the ports. Never retries
// and never hides the service's own words, since they name the thing that was refused.
import { isObject, objectOr } from '../../api/json.ts';
import { CloudError, type CloudErrorCode, cloudErrorCodeOf, isAbsence } from '../../ports/index.ts';

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const statusOf = (error: object): number | undefined => {
  const metadata = '$metadata' in error ? objectOr(error.$metadata) : {};
  if (typeof metadata.httpStatusCode === 'number') return metadata.httpStatusCode;
  // An answer that could not be parsed carries only the response.
  const response = '$response' in error ? error.$response : undefined;
  return isObject(response) && typeof response.statusCode === 'number'
    ? response.statusCode
    : undefined;
};

/** The code for an error that an SDK client threw when it was asked for `operation`. */
export const cloudErrorCode = (operation: string, error: unknown): CloudErrorCode => {
  if (!(error instanceof Error)) return 'Unreachable';
  return cloudErrorCodeOf({
    operation,
    codes: [error.name, 'Code' in error ? stringOf(error.Code) : ''],
    message: error.message,
    httpStatus: statusOf(error),
  });
};

/** The SDK's words where neither the environment nor the profile names a region. */
const noRegion = 'Region is missing';
const regionRemedy =
  'no AWS region is named: set AWS_REGION, or `region` for the profile (AWS_PROFILE) in ~/.aws/config, or give --region';

/** `what` is the operation that was being asked for, e.g. `CompleteLifecycleAction`. */
export const cloudErrorFrom = (what: string, error: unknown): CloudError => {
  const said = error instanceof Error ? error.message || error.name : String(error);
  if (said === noRegion) {
    return new CloudError('InvalidRequest', `${what}: ${regionRemedy}`, { cause: error });
  }
  return new CloudError(cloudErrorCode(what, error), `${what}: ${said}`, { cause: error });
};

/** Undefined where the service says that the thing named does not exist. */
export const orAbsent = async <T>(answer: Promise<T>): Promise<T | undefined> => {
  try {
    return await answer;
  } catch (error) {
    const cause = error instanceof CloudError ? error.cause : undefined;
    if (cause instanceof Error && isAbsence(cause.name, cause.message)) return undefined;
    throw error;
  }
};
