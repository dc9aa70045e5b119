// Converts an error of an SDK call to the refusal that every transport throws. Never retries, and
// never hides the service's own message, which names the refused resource.
import { isObject, objectOr } from '../../api/json.ts';
import { AwsRefusal } from '../../aws-cloud/index.ts';
import { canonical } from './values.ts';

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const statusOf = (error: object): number | undefined => {
  const metadata = '$metadata' in error ? objectOr(error.$metadata) : {};
  if (typeof metadata.httpStatusCode === 'number') return metadata.httpStatusCode;
  // An unparseable answer carries only the response.
  const response = '$response' in error ? error.$response : undefined;
  return isObject(response) && typeof response.statusCode === 'number'
    ? response.statusCode
    : undefined;
};

/** The SDK's message when neither the environment nor the profile names a region. */
const noRegion = 'Region is missing';
const regionRemedy =
  'no AWS region is named: set AWS_REGION, or `region` for the profile (AWS_PROFILE) in ' +
  '~/.aws/config, or give --region';

export const refusalFrom = (error: unknown): AwsRefusal => {
  if (!(error instanceof Error)) {
    return new AwsRefusal(String(error), { codes: [], httpStatus: undefined, cause: error });
  }
  if (error.message === noRegion) {
    const told = { codes: ['MissingRegion'], httpStatus: undefined, cause: error };
    return new AwsRefusal(regionRemedy, told);
  }
  const httpStatus = statusOf(error);
  return new AwsRefusal(error.message || error.name, {
    codes: [error.name, 'Code' in error ? stringOf(error.Code) : ''],
    httpStatus,
    members: httpStatus === undefined ? {} : canonical(error),
    cause: error,
  });
};
