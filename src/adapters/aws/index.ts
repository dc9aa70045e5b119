// Public entry of the AWS adapter: the cloud's ports over the AWS SDK, with real endpoints or a
// world's. Only wiring: aws-cloud interprets the operations.
import { createCloudApi, createLogQueries, createProvisioning } from '../../aws-cloud/index.ts';
import type { Clock, CloudApi, LogQueries, ProvisioningApi } from '../../ports/index.ts';
import type { AwsOptions } from './clients.ts';
import { createAwsTransport } from './transport.ts';

export type { AwsOptions } from './clients.ts';

/** Imports and connects nothing before the first call. */
export const createAwsCloud = (options: AwsOptions): CloudApi =>
  createCloudApi(createAwsTransport(options));

export const createAwsProvisioning = (options: AwsOptions, clock: Clock): ProvisioningApi =>
  createProvisioning(createAwsTransport(options), clock);

export const createAwsLogQueries = (options: AwsOptions): LogQueries =>
  createLogQueries(createAwsTransport(options));
