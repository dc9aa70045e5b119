// Calls Service Quotas in JSON 1.1, signed by the SSM client.
import type { SSMClient } from '@aws-sdk/client-ssm';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { AwsRefusal } from '../../aws-cloud/index.ts';
import { sendSigned } from './signed-by-ssm.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Undefined when a proxy between Drover and AWS answered in another format. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const refused = (httpStatus: number, body: JsonObject): AwsRefusal => {
  // The code may have a prefix: `com.amazonaws...#AccessDeniedException`.
  const code = textOf(body.__type).replace(/^.*#/, '');
  const said = textOf(body.Message) || textOf(body.message);
  return new AwsRefusal(said || `answered with status ${httpStatus}`, {
    codes: [code],
    httpStatus,
  });
};

/** Throws AwsRefusal, or the SDK's errors. */
export const askServiceQuotas = async (
  client: SSMClient,
  {
    operation,
    input,
    endpoint,
  }: {
    readonly operation: string;
    readonly input: JsonObject;
    readonly endpoint: string | undefined;
  },
  http: { abortSignal?: AbortSignal },
): Promise<{ readonly output: JsonObject; readonly date: string | undefined }> => {
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `ServiceQuotasV20190624.${operation}`,
  };
  const body = JSON.stringify(input);
  const asked = { service: 'servicequotas', headers, body, endpoint } as const;
  const { status, text, date } = await sendSigned(client, asked, http);
  const output = objectOr(parsed(text));
  if (status >= 300) throw refused(status, output);
  return { output, date };
};
