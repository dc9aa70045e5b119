// Sends a request to a service without a client of its own: with the SSM client's credentials,
// region, connection and signer, since a further client is too large for one operation. Interprets
// no answer.
import type { SSMClient } from '@aws-sdk/client-ssm';
import { defined } from '../../api/defined.ts';

export interface SignedRequest {
  /** As in the service's hostname, and in the signature. */
  readonly service: 'servicequotas' | 'sts';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Default: the service's own endpoint. */
  readonly endpoint: string | undefined;
}

export interface SignedAnswer {
  readonly status: number;
  readonly text: string;
  /** The Date header. */
  readonly date: string | undefined;
}

/** Throws the SDK's errors. */
export const sendSigned = async (
  { config }: SSMClient,
  { service, headers, body, endpoint }: SignedRequest,
  http: { abortSignal?: AbortSignal },
): Promise<SignedAnswer> => {
  const region = await config.region();
  const { url } = config.endpointProvider({
    Region: region,
    UseDualStack: await config.useDualstackEndpoint(),
    UseFIPS: await config.useFipsEndpoint(),
    ...defined({ Endpoint: endpoint }),
  });
  // In every partition, the services' hostnames differ only in the first part.
  const hostname = url.hostname.replace(/^ssm(?=[.-])/, service);
  const request = {
    method: 'POST',
    protocol: url.protocol,
    hostname,
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    path: '/',
    query: {},
    headers: { host: url.port === '' ? hostname : `${hostname}:${url.port}`, ...headers },
    body,
  };
  const scheme = {
    name: 'sigv4',
    signingName: service,
    signingRegion: region,
    properties: {},
  };
  const signer = await config.signer(scheme);
  const signed = await signer.sign(request);
  const { response } = await config.requestHandler.handle({ ...request, ...signed }, http);
  const text = config.utf8Encoder(await config.streamCollector(response.body));
  return { status: response.statusCode, text, date: response.headers.date };
};
