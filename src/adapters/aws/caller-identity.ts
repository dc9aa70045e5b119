// STS' GetCallerIdentity, which needs no permission. STS answers in XML; only two members of the
// answer are read, by their tags.
import type { SSMClient } from '@aws-sdk/client-ssm';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { AwsRefusal } from '../../aws-cloud/index.ts';
import { sendSigned } from './signed-by-ssm.ts';

const member = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

/** Throws AwsRefusal, or the SDK's errors. */
export const askCallerIdentity = async (
  client: SSMClient,
  endpoint: string | undefined,
  http: { abortSignal?: AbortSignal },
): Promise<{ readonly output: JsonObject; readonly date: string | undefined }> => {
  const body = 'Action=GetCallerIdentity&Version=2011-06-15';
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const asked = { service: 'sts', headers, body, endpoint } as const;
  const { status, text, date } = await sendSigned(client, asked, http);
  if (status >= 300) {
    throw new AwsRefusal(member(text, 'Message') ?? `answered with status ${status}`, {
      codes: [member(text, 'Code') ?? ''],
      httpStatus: status,
    });
  }
  return { output: defined({ Account: member(text, 'Account'), Arn: member(text, 'Arn') }), date };
};
