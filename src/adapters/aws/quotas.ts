// The account's quotas and what counts against them. Service Quotas is called with the credentials,
// region and connection of the SSM client: both speak JSON 1.1, and one more client is not worth
// its size for one call.
import { defined } from '../../api/defined.ts';
import { isObject, objectOr } from '../../api/json.ts';
import { CloudError, type ProvisioningApi } from '../../ports/index.ts';
import { type AwsOptions, allPages, type Clients, call } from './clients.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Undefined: what stands between us and AWS answered in its own way. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What the service said against it, in the shape of the SDK's errors. */
const refused = (status: number, body: Readonly<Record<string, unknown>>): Error => {
  // `com.amazonaws...#AccessDeniedException`, or bare.
  const name = textOf(body.__type).replace(/^.*#/, '');
  const said = textOf(body.Message) || textOf(body.message) || `answered with status ${status}`;
  return Object.assign(new Error(said), { name, $metadata: { httpStatusCode: status } });
};

/** One call of Service Quotas. Throws as the SDK does. */
const ask = async (
  clients: Clients,
  { endpoint }: AwsOptions,
  { operation, input }: { readonly operation: string; readonly input: object },
  http: { abortSignal?: AbortSignal },
): Promise<Readonly<Record<string, unknown>>> => {
  const { client } = await clients.ssm();
  const { config } = client;
  const region = await config.region();
  const { url } = config.endpointProvider({
    Region: region,
    UseDualStack: await config.useDualstackEndpoint(),
    UseFIPS: await config.useFipsEndpoint(),
    ...defined({ Endpoint: endpoint }),
  });
  // Of the services' own names only the first part differs, in every partition.
  const hostname = url.hostname.replace(/^ssm(?=[.-])/, 'servicequotas');
  const body = JSON.stringify(input);
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
    body,
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
  const answer = objectOr(parsed(text));
  if (response.statusCode >= 300) throw refused(response.statusCode, answer);
  return answer;
};

/**
 * Instances on hosts and in blocks of their own are paid for otherwise and count against other
 * quotas.
 */
const isCounted = (lifecycle: string | undefined, tenancy: string | undefined): boolean =>
  tenancy !== 'host' && (lifecycle === undefined || lifecycle === 'spot');

export const quotaCalls = (
  clients: Clients,
  aws: AwsOptions,
): Pick<ProvisioningApi, 'serviceQuota' | 'countedInstances'> => ({
  serviceQuota: async ({ service, code }, options = {}) => {
    const operation = 'GetServiceQuota';
    const asked = { operation, input: { ServiceCode: service, QuotaCode: code } };
    try {
      const { Quota } = await call(operation, options, (http) => ask(clients, aws, asked, http));
      if (!isObject(Quota) || typeof Quota.Value !== 'number') return undefined;
      return { code, name: textOf(Quota.QuotaName), value: Quota.Value };
    } catch (error) {
      const cause = error instanceof CloudError ? error.cause : undefined;
      if (cause instanceof Error && cause.name === 'NoSuchResourceException') return undefined;
      throw error;
    }
  },
  countedInstances: async (options = {}) => {
    const { sdk, client } = await clients.ec2();
    const reservations = await allPages(async (NextToken) => {
      const command = new sdk.DescribeInstancesCommand({
        Filters: [{ Name: 'instance-state-name', Values: ['pending', 'running'] }],
        ...defined({ NextToken }),
      });
      const page = await call('DescribeInstances', options, (http) => client.send(command, http));
      return { items: page.Reservations ?? [], next: page.NextToken };
    });
    return reservations
      .flatMap(({ Instances }) => Instances ?? [])
      .filter(({ InstanceLifecycle, Placement }) =>
        isCounted(InstanceLifecycle, Placement?.Tenancy),
      )
      .map(({ InstanceType = '', InstanceLifecycle }) => ({
        instanceType: InstanceType,
        isSpot: InstanceLifecycle === 'spot',
      }));
  },
});
