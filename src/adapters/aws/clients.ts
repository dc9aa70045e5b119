// The SDK's clients, each imported at its first call (EC2's alone takes longer than a command
// should), and the one way to call them. The SDK does not retry: the callers' loops do, once.
import { defined } from '../../api/defined.ts';
import { cloudErrorFrom } from './errors.ts';

export interface AwsOptions {
  /** Absent: AWS_ENDPOINT_URL or the services' own. */
  readonly endpoint?: string;
  /** Absent: AWS_REGION, else the region of the profile (AWS_PROFILE) in ~/.aws/config. */
  readonly region?: string;
  /** Absent: the SDK's usual chain (environment, profile, container, instance). */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly userAgent?: string;
}

const connectTimeoutMs = 5_000;
/** Above the 20 s of the longest poll of a queue. */
const requestTimeoutMs = 30_000;

const settings = (options: AwsOptions) => ({
  ...defined({ region: options.region }),
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: connectTimeoutMs,
    requestTimeout: requestTimeoutMs,
    throwOnRequestTimeout: true,
  },
  ...defined({
    endpoint: options.endpoint,
    credentials: options.credentials,
    customUserAgent: options.userAgent,
  }),
});

/** Runs `load` once, at the first call; again only when it failed. */
const lazy = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
};

export const createClients = (options: AwsOptions) => ({
  autoScaling: lazy(async () => {
    const sdk = await import('@aws-sdk/client-auto-scaling');
    return { sdk, client: new sdk.AutoScalingClient(settings(options)) };
  }),
  sqs: lazy(async () => {
    const sdk = await import('@aws-sdk/client-sqs');
    return { sdk, client: new sdk.SQSClient(settings(options)) };
  }),
  ec2: lazy(async () => {
    const sdk = await import('@aws-sdk/client-ec2');
    return { sdk, client: new sdk.EC2Client(settings(options)) };
  }),
  cloudFormation: lazy(async () => {
    const sdk = await import('@aws-sdk/client-cloudformation');
    return { sdk, client: new sdk.CloudFormationClient(settings(options)) };
  }),
  eks: lazy(async () => {
    const sdk = await import('@aws-sdk/client-eks');
    return { sdk, client: new sdk.EKSClient(settings(options)) };
  }),
  iam: lazy(async () => {
    const sdk = await import('@aws-sdk/client-iam');
    return { sdk, client: new sdk.IAMClient(settings(options)) };
  }),
  logs: lazy(async () => {
    const sdk = await import('@aws-sdk/client-cloudwatch-logs');
    return { sdk, client: new sdk.CloudWatchLogsClient(settings(options)) };
  }),
  ssm: lazy(async () => {
    const sdk = await import('@aws-sdk/client-ssm');
    return { sdk, client: new sdk.SSMClient(settings(options)) };
  }),
});
export type Clients = ReturnType<typeof createClients>;

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Awaits one SDK call. Throws CloudError, or the signal's reason when the caller gave up. */
export const call = async <T>(
  what: string,
  options: CallOptions,
  send: (http: { abortSignal?: AbortSignal }) => Promise<T>,
): Promise<T> => {
  const { signal } = options;
  signal?.throwIfAborted();
  try {
    return await send(signal === undefined ? {} : { abortSignal: signal });
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw cloudErrorFrom(what, error);
  }
};

/** Nobody has that many; a server that never stops handing out tokens must not hold us for ever. */
const maxPages = 10_000;

/** Every item of every page. `fetch` is given the token of the page, absent for the first. */
export const allPages = async <T>(
  fetch: (
    token: string | undefined,
  ) => Promise<{ readonly items: readonly T[]; readonly next: string | undefined }>,
): Promise<readonly T[]> => {
  const all: T[] = [];
  let token: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { items, next } = await fetch(token);
    for (const item of items) all.push(item);
    if (next === undefined || next === '' || next === token) return all;
    token = next;
  }
  return all;
};

export const batchesOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, batch) =>
    items.slice(batch * size, (batch + 1) * size),
  );

/** AWS' tag lists as a record; a tag without value counts as empty. */
export const tagsOf = (
  tags: readonly { readonly Key?: string | undefined; readonly Value?: string | undefined }[] = [],
): Readonly<Record<string, string>> =>
  Object.fromEntries(tags.map(({ Key = '', Value = '' }) => [Key, Value]));
