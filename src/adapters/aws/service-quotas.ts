// Calls Service Quotas with the SSM client's credentials, region and connection: both use JSON 1.1,
// and a further client is too large for one operation.
import type { SSMClient } from '@aws-sdk/client-ssm';
import { defined } from '../../api/defined.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { AwsRefusal } from '../../aws-cloud/index.ts';

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
  // `com.amazonaws...#AccessDeniedException`, or bare.
  const code = textOf(body.__type).replace(/^.*#/, '');
  const said = textOf(body.Message) || textOf(body.message);
  return new AwsRefusal(said || `answered with status ${httpStatus}`, {
    codes: [code],
    httpStatus,
  });
};

/** Throws AwsRefusal, or the SDK's errors. */
export const askServiceQuotas = async (
  { config }: SSMClient,
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
  const region = await config.region();
  const { url } = config.endpointProvider({
    Region: region,
    UseDualStack: await config.useDualstackEndpoint(),
    UseFIPS: await config.useFipsEndpoint(),
    ...defined({ Endpoint: endpoint }),
  });
  // In every partition, the services' hostnames differ only in the first part.
  const hostname = url.hostname.replace(/^ssm(?=[.-])/, 'servicequotas');
  const request = {
    method: 'POST',
    protocol: url.protocol,
    hostname,
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    path: '/',
    query: {},
    headers: {
      host: url.port === '' ? hostname : `${hostname}:${url.port}`,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `ServiceQuotasV20190624.${operation}`,
    },
    body: JSON.stringify(input),
  };
  const scheme = {
    name: 'sigv4',
    signingName: 'servicequotas',
    signingRegion: region,
    properties: {},
  };
  const signer = await config.signer(scheme);
  const signed = await signer.sign(request);
  const { response } = await config.requestHandler.handle({ ...request, ...signed }, http);
  const text = config.utf8Encoder(await config.streamCollector(response.body));
  const output = objectOr(parsed(text));
  if (response.statusCode >= 300) throw refused(response.statusCode, output);
  return { output, date: response.headers.date };
};
