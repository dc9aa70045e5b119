// The SDK's clients, each imported at its first call (EC2's import alone is slower than a command
// should be). The SDK's retries are off: the callers retry.
import type { SSMClient } from '@aws-sdk/client-ssm';
import { defined } from '../../api/defined.ts';
import type { AwsOperation, AwsService } from '../../aws-cloud/index.ts';

export interface AwsOptions {
  /** Default: AWS_ENDPOINT_URL, else the services' own endpoints. */
  readonly endpoint?: string;
  /** Default: AWS_REGION, else the region of the profile (AWS_PROFILE) in ~/.aws/config. */
  readonly region?: string;
  /** Default: the SDK's usual chain (environment, profile, container, instance). */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly userAgent?: string;
}

const connectTimeoutMs = 5_000;
/** Longer than the longest poll of a queue, 20 s. */
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

/** Runs `load` at the first call; again only after a failure. */
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

/** Service Quotas and STS have no client of their own: see `signed-by-ssm.ts`. */
export type SdkService = Exclude<AwsService, 'service-quotas' | 'sts'>;

/** The parts of an SDK client that a call needs: a command per operation, and the client. */
export interface SdkOf<Service extends SdkService, Client = object> {
  readonly sdk: Readonly<Record<`${AwsOperation<Service>}Command`, new (input: never) => object>>;
  readonly client: Client & {
    send(command: never, options: { abortSignal?: AbortSignal }): Promise<object>;
  };
}

export type Clients = {
  readonly [Service in SdkService]: () => Promise<
    SdkOf<Service, Service extends 'ssm' ? SSMClient : object>
  >;
};

/** Does not compile if a service lacks an operation that the mapping uses. */
export const createClients = (options: AwsOptions): Clients => ({
  autoscaling: lazy(async () => {
    const sdk = await import('@aws-sdk/client-auto-scaling');
    return { sdk, client: new sdk.AutoScalingClient(settings(options)) };
  }),
  cloudformation: lazy(async () => {
    const sdk = await import('@aws-sdk/client-cloudformation');
    return { sdk, client: new sdk.CloudFormationClient(settings(options)) };
  }),
  ec2: lazy(async () => {
    const sdk = await import('@aws-sdk/client-ec2');
    return { sdk, client: new sdk.EC2Client(settings(options)) };
  }),
  eks: lazy(async () => {
    const sdk = await import('@aws-sdk/client-eks');
    return { sdk, client: new sdk.EKSClient(settings(options)) };
  }),
  elbv2: lazy(async () => {
    const sdk = await import('@aws-sdk/client-elastic-load-balancing-v2');
    return { sdk, client: new sdk.ElasticLoadBalancingV2Client(settings(options)) };
  }),
  iam: lazy(async () => {
    const sdk = await import('@aws-sdk/client-iam');
    return { sdk, client: new sdk.IAMClient(settings(options)) };
  }),
  logs: lazy(async () => {
    const sdk = await import('@aws-sdk/client-cloudwatch-logs');
    return { sdk, client: new sdk.CloudWatchLogsClient(settings(options)) };
  }),
  sqs: lazy(async () => {
    const sdk = await import('@aws-sdk/client-sqs');
    return { sdk, client: new sdk.SQSClient(settings(options)) };
  }),
  ssm: lazy(async () => {
    const sdk = await import('@aws-sdk/client-ssm');
    return { sdk, client: new sdk.SSMClient(settings(options)) };
  }),
});
